/**
 * workerd is killed again and again under visitors: no more than the limit are inside or enter in a
 * minute, as the origin counts them; whoever is inside stays, whoever waits keeps the place.
 * `OWN_STORY=whole` plays it for minutes with 2,000 visitors, `OWN_STORY=calm` without a kill.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { OwnCrowd, mostInAMinute, mostInside } from "../harness/own-crowd.mjs";
import { OwnServer } from "../harness/own-server.mjs";
import { FREQUENT_CHECK_INS, room } from "../harness/rooms.mjs";

const STORIES = {
  short: { visitors: 60, limit: 20, arriveS: 12, kills: 6, lastS: 20 },
  whole: { visitors: 2_000, limit: 200, arriveS: 60, kills: 20, lastS: 300 },
  calm: { visitors: 2_000, limit: 200, arriveS: 60, kills: 0, lastS: 300 },
};
const story = STORIES[process.env.OWN_STORY ?? "short"];
const ALL = { timeout: 900_000 };
/** Those who look at another page so often, and see at once if they are thrown out. */
const BROWSERS = 5;
const shop = room({
  name: "shop",
  total_active_users: story.limit,
  ...FREQUENT_CHECK_INS,
  json_response_enabled: true,
});

test("kills let nobody in too early, and nobody out", ALL, async (t) => {
  const server = await OwnServer.make(t, { rooms: [shop] });
  await server.start();
  const arriveMs = (at) => (at / story.visitors) * story.arriveS * 1_000;
  const options = { count: story.visitors, arriveMs, browsers: BROWSERS };
  const crowd = new OwnCrowd([server], shop, options);
  const killed = killAtTimes(server);
  await crowd.play(Promise.all([killed, sleep(story.lastS * 1_000)]));

  const { told, all } = crowd;
  const kills = await killed;
  const visits = crowd.visits();
  const [inside, entered] = [mostInside(visits), mostInAMinute(visits)];
  t.diagnostic(`most inside ${inside}, in 60 s ${entered}; ${JSON.stringify(told)}`);
  t.diagnostic(`${visits.length} entered; ${inversions(all)} pairs in the other order`);
  assert.equal(kills, story.kills);
  assert.ok(inside <= story.limit, `${inside} inside`);
  assert.ok(entered <= story.limit, `${entered} entered in 60 s`);
  assert.ok(visits.length > story.limit / 2, `only ${visits.length} entered`);
  assert.equal(told.thrownOut, 0);
  const last = await placesOf(all.filter(({ waiting }) => waiting));
  assert.ok(last.length > 10, `only ${last.length} wait`);
  assert.deepEqual(last, [...last].sort((one, other) => one - other), "places in the line");
});

async function killAtTimes(server) {
  let kills = 0;
  for (let at = 0; at < story.kills; at += 1) {
    await sleep((Math.random() + 0.5) * ((story.lastS * 900) / story.kills));
    await server.killWorkerd();
    kills += 1;
  }
  return kills;
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
