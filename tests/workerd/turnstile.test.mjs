/**
 * Turnstile and the infinite queue as visitors, bots, apps and the origin meet them, against a
 * siteverify of our own: who is challenged, what a token is worth, and what nobody can tell.
 */

import assert from "node:assert/strict";
import { after } from "node:test";

import { ROOMS, call } from "../harness/api.mjs";
import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { join } from "../harness/invitation.mjs";
import { room } from "../harness/rooms.mjs";
import { asking, startSiteverify } from "../harness/siteverify.mjs";
import { Visitor, look, visitorInside } from "../harness/visitor.mjs";

const PARAMETER = "cf_wr_turnstile";
const WIDGET = /<div class="cf-turnstile" data-sitekey="0x4AAAAAAATESTS" data-action="(\w+)"/;
const POLICY = "https://challenges.cloudflare.com";
const TOLD_MS = 10_000;
const FIRST_PAGE_MS = 7_000;
/** A time as pages tell it: an hour has other words than minutes, and one has no plural. */
const DURATION = /\d+ (?:hours?|minutes?)(?: \d+ minutes?)?/g;

const gated = room({
  name: "gated",
  total_active_users: 1,
  session_duration: 30,
  json_response_enabled: true,
  turnstile_mode: "visible_managed",
  turnstile_action: "infinite_queue",
  show_position: true,
});
const telling = room({ ...gated, ...named("telling"), show_infinite_queue: true });
const refusing = room({ ...telling, ...named("refusing"), turnstile_when_silent: "refuse" });
const paused = room({ ...gated, ...named("paused"), queue_all: true });
const counted = room({ name: "counted", total_active_users: 1, session_duration: 30 });
const rooms = [gated, telling, refusing, paused, counted];

const siteverify = await startSiteverify();
after(() => siteverify.stop());
const { outside, vars: keys } = asking(siteverify);

/** A test in front of siteverify, which knows nothing of the tests before. */
function turnstileTest(name, { vars, ...options }, body, kind = clusterTest) {
  kind(name, { rooms, outside, ...options, vars: { ...keys, ...vars } }, (cluster) => {
    siteverify.forget();
    return body(cluster);
  });
}

/** Somebody is inside, and everybody knows it. */
async function occupy(cluster, ...shops) {
  for (const shop of shops) await visitorInside(cluster, shop);
  await cluster.advance(3_000);
}

turnstileTest("a challenge comes before the place and not before entry", {}, async (cluster) => {
  const [person] = visitors(cluster, gated, "person");
  await occupy(cluster, gated);
  const page = await person.visit();
  assert.equal(page.status, 200);
  assert.deepEqual([page.headers["set-cookie"], page.headers.refresh], [undefined, undefined]);
  assert.equal(WIDGET.exec(page.body)?.[1], gated.id);
  assert.match(page.body, /One quick check/);
  assert.match(page.body, /<noscript><p>This check needs JavaScript/);
  assert.ok(page.headers["content-security-policy"].includes(POLICY));
  const before = await cluster.allCalls(gated);

  const passed = await redeem(person, siteverify.token(gated.host, gated.id));
  assert.equal(passed.status, 303);
  assert.equal(passed.headers.location, `http://${gated.host}/`);
  assert.match(passed.headers["set-cookie"][0], /^__cfwaitingroom=/);
  assert.match(passed.headers["cache-control"], /no-store/);
  const queued = await person.visit();
  assert.equal(queued.kind, "queue");
  assert.doesNotMatch(queued.body, /cf-turnstile"/);
  assert.ok(!queued.headers["content-security-policy"].includes(POLICY));
  await cluster.advance(FIRST_PAGE_MS);
  assert.match((await person.visit()).body, /Your place is kept/);
  await cluster.advance(3_000);
  assert.ok((await cluster.allCalls(gated)) > before, "the person is in nobody's census");
  assert.equal(siteverify.questions.length, 1);
}, clusterTestBothWays);

turnstileTest("no token reaches the origin, and the address stays", {}, async (cluster) => {
  const [guest] = visitors(cluster, gated, "guest");
  const query = "?b=%20+&&=&%zz=1&a=1&a=2";
  const path = (token) => `//deep/x${query}&${PARAMETER}=${token}`;
  // Whoever can enter does so with the answer to the token.
  const first = await guest.visit({ path: path(siteverify.token(gated.host, gated.id)) });
  assert.deepEqual([first.status, first.headers.location], [
    303,
    `http://${gated.host}//deep/x${query}`,
  ]);
  assert.equal((await guest.visit({ path: `//deep/x${query}` })).kind, "origin");
  // Inside, a token is for nothing, and costs nothing.
  const asked = siteverify.questions.length;
  const inside = await guest.visit({ path: path("anything") });
  assert.deepEqual([inside.status, inside.headers["set-cookie"]], [303, undefined]);
  assert.equal(siteverify.questions.length, asked);
  assert.equal((await guest.visit({ path: path("head"), method: "HEAD" })).status, 303);
  // What sends something is passed on, and only its address is cleaned.
  const posted = await guest.visit({ path: path("t"), method: "POST", body: "order" });
  assert.deepEqual([posted.kind, JSON.parse(posted.body).body], ["origin", "order"]);
  const crossed = { origin: "https://a.example", "access-control-request-method": "POST" };
  await guest.visit({ path: path("t"), method: "OPTIONS", headers: crossed });
  for (const { path: seen } of await cluster.arrivals()) {
    assert.ok(!seen.includes(PARAMETER), seen);
    assert.equal(seen, `//deep/x${query}`);
  }
  assert.ok((await cluster.arrivals()).length >= 3);
}, clusterTestBothWays);

const twoIsolates = { colos: { AMS: 2 } };

turnstileTest("a token counts here alone, and once", twoIsolates, async (cluster) => {
  await occupy(cluster, telling);
  const good = siteverify.token(telling.host, telling.id);
  const check = async (token, want, why, isolate = "ams-1") => {
    const [visitor] = visitors(cluster, telling, why);
    await redeem(visitor, token, { isolate });
    assert.equal(await isInLine(visitor), want, why);
  };
  await check(good, true, "a good one");
  // A browser may have sent it again: it is no proof, and nothing against the person.
  for (const isolate of ["ams-1", "ams-2"]) {
    const [visitor] = visitors(cluster, telling, "a second use");
    await redeem(visitor, good, { isolate });
    assert.match((await visitor.visit({ isolate })).body, /cf-turnstile"/, isolate);
  }
  await check("", false, "an empty one");
  await check(siteverify.token("evil.example", telling.id), false, "another host");
  await check(siteverify.token(telling.host, counted.id), false, "another room");
  await check("1.made.up", false, "an invented one");
  const asked = siteverify.questions.length;
  await check("a".repeat(2_049), false, "one that is too long");
  await check("a%0d%0ab", false, "one with characters that no token has");
  assert.equal(siteverify.questions.length, asked);
  const keys = siteverify.questions.map(({ idempotency_key: key }) => key);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(siteverify.questions.filter(({ response }) => response === good).length, 2);
});

turnstileTest("silence of siteverify is worth what the room says", {}, async (cluster) => {
  await occupy(cluster, telling, refusing);
  for (const fault of ["internal-error", "broken", "invalid-input-secret", "silence"]) {
    siteverify.fault = fault;
    for (const [shop, want] of [[telling, true], [refusing, false]]) {
      const [visitor] = visitors(cluster, shop, "person");
      await redeem(visitor, siteverify.token(shop.host, shop.id));
      assert.equal(await isInLine(visitor), want, `${fault} in ${shop.name}`);
    }
  }
  // The second attempt brings the key of the first: that is no second use.
  const keys = siteverify.questions.map(({ idempotency_key: key }) => key);
  assert.equal(new Set(keys).size, keys.length / 2);
});

turnstileTest("a token replaces no place, and no link brings one", {}, async (cluster) => {
  await occupy(cluster, gated);
  const [person, victim] = visitors(cluster, gated, "person", "victim");
  await redeem(person, siteverify.token(gated.host, gated.id));
  const place = person.cookie("__cfwaitingroom");
  const asked = siteverify.questions.length;
  for (const token of ["", siteverify.token(gated.host, gated.id)]) {
    const answer = await redeem(person, token);
    assert.deepEqual([answer.status, answer.headers["set-cookie"]], [303, undefined]);
  }
  assert.equal(person.cookie("__cfwaitingroom"), place);
  assert.equal(siteverify.questions.length, asked);
  for (const site of ["cross-site", "same-site", "none"]) {
    const headers = { "sec-fetch-site": site };
    const answer = await redeem(victim, "", { headers });
    assert.deepEqual([answer.status, answer.headers["set-cookie"]], [303, undefined], site);
  }
  const own = await redeem(victim, "", { headers: { "sec-fetch-site": "same-origin" } });
  assert.equal(own.headers["set-cookie"].length, 1);
});

const emptied = room({
  ...gated,
  ...named("emptied"),
  session_duration: 5,
  total_active_users: 3,
  new_users_per_minute: 3,
});
const small = { rooms: [emptied] };
turnstileTest("an emptied room opens again to those challenged", small, async (cluster) => {
  for (let guest = 0; guest < 3; guest += 1) await visitorInside(cluster, emptied);
  const emptyAt = cluster.clock.now() + 5 * 60_000;
  let seen;
  while (seen !== "origin" && cluster.clock.now() < emptyAt + 30_000) {
    await cluster.advance(5_000, 500);
    seen = (await look(cluster, "ams-1", { host: emptied.host })).kind;
  }
  assert.equal(seen, "origin", "no session is left, and nobody enters");
});

turnstileTest("the infinite queue looks like the line and calls nobody", {}, async (cluster) => {
  await occupy(cluster, gated);
  const [person, bot] = visitors(cluster, gated, "person", "bot");
  const answers = [
    await redeem(person, siteverify.token(gated.host, gated.id)),
    await redeem(bot, ""),
  ];
  assertAlike(answers);
  assertAlike([await person.visit(), await bot.visit()]);
  await cluster.advance(FIRST_PAGE_MS);
  // The first visit after a while brings news for those after it: let that be nobody's of the two.
  await look(cluster, "ams-1", { host: gated.host });
  await settled(cluster);
  assertAlike([await person.visit(), await bot.visit()]);
  // Too early, both get the page as it was, without a cookie.
  await cluster.advance(2_000);
  const early = [await person.visit(), await bot.visit()];
  assertAlike(early);
  assert.equal(early[1].headers["set-cookie"], undefined);
  await cluster.advance(25_000);
  const json = { headers: { accept: "application/json" } };
  const told = [await person.visit(json), await bot.visit(json)];
  assertAlike(told);
  const { cfWaitingRoom } = JSON.parse(told[1].body);
  assert.deepEqual([cfWaitingRoom.infiniteQueue, cfWaitingRoom.turnstile], [false, ""]);
  const uses = [await join(person, "a.b.c"), await join(bot, "a.b.c")];
  assert.deepEqual(uses[1], uses[0]);
  assert.equal(uses[1].status, 404);

  // Whatever is called between two visits is called by the room itself, and not for the bot.
  await settled(cluster);
  let shown = Infinity;
  for (let check = 0; check < 40; check += 1) {
    const before = await cluster.allCalls(gated);
    const page = await bot.visit();
    await settled(cluster);
    assert.equal(await cluster.allCalls(gated), before, "a bot called an object");
    assert.equal(page.kind, "queue");
    const minutes = minutesTold(page.body);
    assert.ok(minutes >= 1 && minutes <= shown, `${minutes} after ${shown}`);
    shown = minutes;
    await cluster.advance(page.refreshS * 1_000, 5_000);
  }
});

turnstileTest("bots without a cookie take no place and delay nobody", {}, async (cluster) => {
  await occupy(cluster, gated);
  const [person] = visitors(cluster, gated, "person");
  await redeem(person, siteverify.token(gated.host, gated.id));
  const before = await knownWaitTime(cluster, person);
  const calls = await cluster.allCalls(gated);
  for (let bot = 0; bot < 200; bot += 1) {
    const { headers } = await look(cluster, "ams-1", { host: gated.host });
    assert.equal(headers["set-cookie"], undefined);
  }
  assert.ok((await cluster.allCalls(gated)) - calls < 20, "each bot called an object");
  await cluster.advance(FIRST_PAGE_MS);
  const later = await knownWaitTime(cluster, person);
  assert.ok(later <= before + 1, `${later} minutes after ${before}`);
});

turnstileTest("counting alone changes nobody's place", {}, async (cluster) => {
  await occupy(cluster, counted);
  const [person, robot] = visitors(cluster, counted, "person", "robot");
  const page = await person.visit();
  assert.equal(page.kind, "queue");
  assert.match(page.body, WIDGET);
  assert.match(page.body, /data-appearance="interaction-only"/);
  assert.doesNotMatch(page.body, /<noscript>/);
  const place = () => person.cookie("__cfwaitingroom");
  const before = place();
  const passed = await redeem(person, siteverify.token(counted.host, counted.id));
  assert.equal(passed.status, 303);
  assert.notEqual(place(), before, "the challenge is not over");
  assert.doesNotMatch((await person.visit()).body, /cf-turnstile"/);
  await robot.visit();
  await redeem(robot, "");
  const failed = await robot.visit();
  assert.equal(failed.kind, "queue");
  assert.doesNotMatch(failed.body, /cf-turnstile"/);
  // Somebody who answers nothing keeps the widget and is counted once.
  const [silent] = visitors(cluster, counted, "silent");
  for (let check = 0; check < 3; check += 1) {
    assert.match((await silent.visit()).body, WIDGET);
    await cluster.advanceTo(silent.dueAt);
  }
  await cluster.advance(TOLD_MS);
  await person.visit();
  await cluster.advance(TOLD_MS);
  assert.deepEqual(cluster.log.facts, {
    turnstileChallenges: 3,
    turnstileSuccesses: 1,
    turnstileFailures: 1,
    turnstileUnverified: 0,
    infiniteQueueRequests: 0,
  });
  // The owner's history says the same.
  const { result } = await call(cluster, "GET", `${ROOMS}/${counted.id}/history`);
  const sum = (name) =>
    result.rows.reduce((total, row) => total + row[result.columns.indexOf(name)], 0);
  const columns = ["challenges_shown", "challenges_solved", "challenges_failed"];
  assert.deepEqual(columns.map(sum), [3, 1, 1]);
});

turnstileTest("the gate stands before a pause, and its owner may tell", {}, async (cluster) => {
  const [person] = visitors(cluster, paused, "person");
  const page = await person.visit();
  assert.deepEqual([page.headers["set-cookie"], WIDGET.test(page.body)], [undefined, true]);
  await redeem(person, siteverify.token(paused.host, paused.id));
  assert.match((await person.visit()).body, /Entry is paused/);
  const [bot] = visitors(cluster, telling, "bot");
  await occupy(cluster, telling);
  await redeem(bot, "");
  assert.equal(await isInLine(bot), false);
});

turnstileTest("an app gets the widget in its JSON", {}, async (cluster) => {
  await occupy(cluster, gated);
  const headers = { accept: "application/json" };
  const { body } = await look(cluster, "ams-1", { host: gated.host, headers });
  const { cfWaitingRoom } = JSON.parse(body);
  assert.match(cfWaitingRoom.turnstile, WIDGET);
  assert.equal(cfWaitingRoom.refreshIntervalSeconds, 0, "an app asks again with the result");
});

for (const missing of ["TURNSTILE_SITE_KEY", "TURNSTILE_SECRET"]) {
  const vars = { [missing]: "" };
  turnstileTest(`without ${missing} nobody is challenged`, { vars }, async (cluster) => {
    await visitors(cluster, gated, "guest")[0].visit();
    const [person] = visitors(cluster, gated, "person");
    const page = await person.visit();
    assert.equal(page.kind, "queue");
    assert.equal(page.headers["set-cookie"].length, 1);
    assert.doesNotMatch(page.body, /cf-turnstile"/);
  });
}

/** What tells a room from another with the same settings. */
function named(name) {
  const { id, host } = room({ name });
  return { name, id, host };
}

function visitors(cluster, { host }, ...names) {
  return names.map((name) => new Visitor(cluster, { name, host }));
}

/** Waits for what a visit left to do. */
function settled(cluster) {
  return cluster.rests();
}

/** The widget's page comes again with this token. */
function redeem(visitor, token, request = {}) {
  return visitor.visit({ ...request, path: `/?${PARAMETER}=${token}` });
}

/** True for a place in the line; in rooms that tell. */
async function isInLine(visitor) {
  const { kind, body } = await visitor.visit({ headers: { accept: "application/json" } });
  assert.equal(kind, "queue");
  return !JSON.parse(body).cfWaitingRoom.infiniteQueue;
}

/** The minutes that somebody in line is told. */
async function knownWaitTime(cluster, visitor) {
  for (let visits = 0; visits < 4; visits += 1) {
    const { body } = await visitor.visit({ headers: { accept: "application/json" } });
    const { waitTime, waitTimeKnown } = JSON.parse(body).cfWaitingRoom;
    if (waitTimeKnown) return waitTime;
    // The place is looked for at first, until the census has counted everybody.
    await cluster.advance(FIRST_PAGE_MS);
  }
  assert.fail("no time is told");
}

/** The minutes that a page tells, which has an hour in words of its own. */
function minutesTold(body) {
  const [, hours = 0, minutes = 0] =
    /About (?:(\d+) hours?)? ?(?:(\d+) minutes?)?</.exec(body) ?? assert.fail("no time is told");
  return Number(hours) * 60 + Number(minutes);
}

/** The same but for numbers, times and what is sealed. */
function assertAlike([one, other]) {
  assert.equal(one.status, other.status);
  const shape = ({ headers: { date, ...headers }, body }) => {
    const sealed = (text) =>
      String(text)
        .replace(/=[\w-]{131};/, "=sealed;")
        .replace(DURATION, "a while")
        .replace(/\b[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}\b/g, "a reference")
        .replace(/\d+/g, "0");
    const told = Object.entries(headers).map(([name, value]) => [name, sealed(value)]);
    return { headers: Object.fromEntries(told), body: sealed(body) };
  };
  assert.deepEqual(shape(one), shape(other));
  const lengths = [one, other].map(({ headers }) => headers["set-cookie"]?.[0].length);
  assert.equal(lengths[0], lengths[1]);
}
