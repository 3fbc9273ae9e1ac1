/**
 * workerd is killed again and again under visitors: no more than the limit are inside or enter in a
 * minute, as the origin counts them; whoever is inside stays, whoever waits keeps the place.
 * `OWN_STORY=whole` plays it for minutes with 2,000 visitors, `OWN_STORY=calm` without a kill.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { OwnServer } from "../harness/own-server.mjs";
import { FREQUENT_CHECK_INS, room } from "../harness/rooms.mjs";
import { QUEUE_MARK, Visitor } from "../harness/visitor.mjs";

const STORIES = {
  short: { visitors: 60, limit: 20, arriveS: 12, kills: 6, lastS: 20 },
  whole: { visitors: 2_000, limit: 200, arriveS: 60, kills: 20, lastS: 300 },
  calm: { visitors: 2_000, limit: 200, arriveS: 60, kills: 0, lastS: 300 },
};
const story = STORIES[process.env.OWN_STORY ?? "short"];
const ALL = { timeout: 900_000 };
const MINUTE_MS = 60_000;
const TICK_MS = 50;
/** After an error somebody tries again. */
const AGAIN_MS = 1_000;
/** Those who look at another page so often, and see at once if they are thrown out. */
const BROWSERS = 5;
const BROWSE_MS = 1_000;
const shop = room({
  name: "shop",
  total_active_users: story.limit,
  ...FREQUENT_CHECK_INS,
  json_response_enabled: true,
});

test("kills let nobody in too early, and nobody out", ALL, async (t) => {
  const server = await OwnServer.make(t, { rooms: [shop] });
  await server.start();
  const crowd = arrivals(server);
  const told = { errors: 0, held: 0, thrownOut: 0, kills: 0 };
  const kills = killAtTimes(server, told);
  const end = Date.now() + story.lastS * 1_000;
  while (Date.now() < end) {
    for (const one of crowd) if (!one.busy && one.dueAt <= Date.now()) one.busy = visit(one, told);
    await sleep(TICK_MS);
  }
  await Promise.all([kills, ...crowd.map(({ busy }) => busy)]);

  const visits = [...server.origin.visits().values()].map((all) => all.map(({ at }) => at));
  const [inside, entered] = [mostInside(visits), mostInAMinute(visits)];
  t.diagnostic(`most inside ${inside}, in 60 s ${entered}; ${JSON.stringify(told)}`);
  t.diagnostic(`${visits.length} entered; ${inversions(crowd)} pairs in the other order`);
  assert.equal(told.kills, story.kills);
  assert.ok(inside <= story.limit, `${inside} inside`);
  assert.ok(entered <= story.limit, `${entered} entered in 60 s`);
  assert.ok(visits.length > story.limit / 2, `only ${visits.length} entered`);
  assert.equal(told.thrownOut, 0);
  const last = await placesOf(crowd.filter(({ waiting }) => waiting));
  assert.ok(last.length > 10, `only ${last.length} wait`);
  assert.deepEqual(last, [...last].sort((one, other) => one - other), "places in the line");
});

function arrivals(server) {
  const began = Date.now();
  return Array.from({ length: story.visitors }, (_, at) => {
    const browseMs = at < BROWSERS ? BROWSE_MS : undefined;
    const one = new Visitor(server, { name: `visitor ${at}`, host: shop.host, browseMs });
    one.dueAt = began + (at / story.visitors) * story.arriveS * 1_000;
    return one;
  });
}

async function visit(one, told) {
  try {
    const { body } = await one.visit();
    // The page without a decision has no mark: whoever is inside stays so, and tries again.
    const isHeld = one.waiting && !body.includes(QUEUE_MARK);
    if (isHeld) told.held += 1;
    else one.joinedAt ??= Date.now();
    if (one.inside) one.enteredAt ??= Date.now();
    else if (one.enteredAt && !isHeld) told.thrownOut += 1;
    if (!one.inside && !one.waiting) one.dueAt = Date.now() + AGAIN_MS;
  } catch {
    told.errors += 1;
    one.dueAt = Date.now() + AGAIN_MS;
  } finally {
    one.busy = undefined;
  }
}

async function killAtTimes(server, told) {
  for (let at = 0; at < story.kills; at += 1) {
    await sleep((Math.random() + 0.5) * ((story.lastS * 900) / story.kills));
    await server.killWorkerd();
    told.kills += 1;
  }
}

/** The most who were inside at a time: each from the first visit to a minute after the last. */
function mostInside(visits) {
  const steps = visits.flatMap((all) => [[all[0], 1], [all.at(-1) + MINUTE_MS, -1]]);
  steps.sort(([one, up], [other, down]) => one - other || up - down);
  let [now, most] = [0, 0];
  for (const [, step] of steps) {
    now += step;
    most = Math.max(most, now);
  }
  return most;
}

function mostInAMinute(visits) {
  const entries = visits.map(([first]) => first).sort((one, other) => one - other);
  const inMinuteFrom = (from) => entries.filter((at) => at >= from && at < from + MINUTE_MS).length;
  return Math.max(...entries.map(inMinuteFrom));
}

/** In how many pairs the one who came later entered earlier, though both had to wait or not. */
function inversions(crowd) {
  const entered = crowd.filter(({ enteredAt }) => enteredAt !== undefined);
  const before = (one, other) => one.joinedAt < other.joinedAt && one.enteredAt > other.enteredAt;
  return entered.reduce((sum, one) => sum + entered.filter((two) => before(one, two)).length, 0);
}

/** How many people are ahead of each of those who wait, in the order in which they came. */
async function placesOf(waiting) {
  const places = [];
  for (const one of waiting) {
    const { body } = await one.visit({ headers: { accept: "application/json" } });
    places.push(JSON.parse(body).cfWaitingRoom?.peopleAhead ?? 0);
  }
  return places;
}
