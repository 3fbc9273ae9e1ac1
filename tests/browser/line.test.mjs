/**
 * Five people with five browsers before a room for two: the whole product as a visitor meets it.
 * The clock is moved only while at most one waits: browsers know nothing of it and would come late.
 */

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { PHONE, browserTest } from "../harness/browser-test.mjs";
import { mostInside, orderOfEntry } from "../harness/measure.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";

const PLACES = 2;
const SESSION_MS = 60_000;
/** Between the first two, so that their places become free one after the other. */
const APART_MS = 8_000;
/** Order is promised among those who joined at least a second apart. */
const JOIN_EVERY_MS = 1_100;
/** How far a wait may be from what was told in whole minutes: half a session. */
const HONEST_MS = SESSION_MS / 2;
const MINUTE_MS = 60_000;
/** Two check-ins of somebody who has just come, and how often the title is read meanwhile. */
const LOOKS_MS = 20_000;
const POLL_MS = 500;

const tickets = localRoom({ name: "tickets", total_active_users: PLACES, ...FREQUENT_CHECK_INS });
const options = { rooms: [tickets], colos: { AMS: 2, FRA: 1 } };

browserTest("five browsers enter one by one, in the order they came", options, async (arena) => {
  const { cluster } = arena;
  const visitors = [];
  for (const colo of ["AMS", "FRA", "AMS", "FRA", "AMS"]) {
    const name = `visitor-${visitors.length + 1}`;
    visitors.push(await arena.visitor({ room: tickets, name, colo, context: PHONE }));
  }
  const [first, second, ...others] = visitors;

  await first.come();
  await cluster.advance(APART_MS);
  await second.come();
  assert.ok(first.inside && second.inside, "the first two did not enter at once");
  await cluster.advance(SESSION_MS - 2 * APART_MS);

  const told = [];
  for (const visitor of others) {
    await visitor.come();
    assert.ok(!visitor.inside, `${visitor.name} entered a full room`);
    // The next visitor does not wait for this time: a place may come free before it is shown.
    told.push(shownMinutes(visitor));
    await sleep(JOIN_EVERY_MS);
  }
  for (const [at, minutes] of (await Promise.all(told)).entries()) {
    others[at].shownMs = minutes * MINUTE_MS;
  }
  const [third, fourth, fifth] = others;
  assert.ok(third.shownMs <= fourth.shownMs && fourth.shownMs <= fifth.shownMs);

  await entersFirst(third, [fourth, fifth]);
  await entersFirst(fourth, [fifth]);
  const nextPlaceAt = (await third.enters()) + SESSION_MS;
  await cluster.advanceTo(nextPlaceAt);
  await entersFirst(fifth, []);

  const arrivals = await cluster.arrivals();
  assert.deepEqual(
    orderOfEntry(arrivals),
    visitors.map(({ name }) => name),
  );
  assert.ok(mostInside(arrivals, SESSION_MS) <= PLACES, "too many inside");
  for (const { name, views, shownMs } of others) {
    const waitedMs = views.at(-1).at - views[0].at;
    // The page tells the nearest minute, and one for all that is less.
    const honest = waitedMs > shownMs - MINUTE_MS - HONEST_MS && waitedMs < shownMs + HONEST_MS;
    assert.ok(honest, `${name} was told ${shownMs} ms and waited ${waitedMs} ms`);
  }
  assert.deepEqual(
    visitors.flatMap(({ complaints }) => complaints),
    [],
  );
});

/** The next place is for `visitor`, who takes it without anybody's help. */
async function entersFirst(visitor, behind) {
  const somebodyEntered = () => [visitor, ...behind].some(({ inside }) => inside);
  await visitor.until(somebodyEntered, "nobody entered");
  for (const other of behind) {
    assert.ok(!other.inside, `${other.name} overtook ${visitor.name}: ${other.story()}`);
  }
  await visitor.keepScreenshot(`line-${visitor.name}-inside`);
}

/** What the title promises after two check-ins at most, because visitors have entered lately. */
async function shownMinutes(visitor) {
  const end = Date.now() + LOOKS_MS;
  let title, minutes;
  do {
    await sleep(POLL_MS);
    title = await visitor.title();
    const told = /^(?:About (\d+) minutes?|Less than a minute) – You are in line$/;
    const found = told.exec(title);
    minutes = found && (found[1] ?? 1);
  } while (!minutes && Date.now() < end);
  assert.ok(minutes, `the title is "${title}"`);
  await visitor.keepScreenshot(`line-${visitor.name}-waits`);
  return Number(minutes);
}
