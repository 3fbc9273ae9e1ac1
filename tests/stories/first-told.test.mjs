/**
 * The first time told is true: eight visitors join the line of rooms for 2, 20, 200 and 2,000, and
 * the time that each is told first is compared with the time that it takes. The table is printed.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";

const MINUTE_S = 60;
/** In how many steps a room fills, and how long that lasts: its places come free likewise. */
const FILLING_STEPS = 20;
const FILLING_MS = 40_000;
/** How far apart the eight come. */
const APART_MS = 1_500;
const EIGHT = 8;
/** One in how many places of the room waits before them. */
const WAIT_BEFORE = 4;
/** In a rush all come within this time, and so many times the places of the room. */
const RUSH_MS = 3_000;
const RUSH_TIMES = 2.5;
const STEP_MS = 500;
const PATIENCE_MS = 10 * 60_000;
/** Whoever is off by no more than one admission interval in seconds was told well enough. */
const INTERVAL_S = 20;

for (const places of [2, 20, 200, 2_000]) {
  const fields = { total_active_users: places, json_response_enabled: true, show_position: true };
  const shop = room({ name: `told-${places}`, ...fields });
  const options = { rooms: [shop], colos: { AMS: 2, FRA: 1 } };
  const crowdOf = (cluster, label, count) =>
    new Crowd(cluster, { label, count: Math.floor(count), host: shop.host });

  clusterTest(`what eight are told before a full room for ${places}`, options, async (cluster) => {
    const inside = crowdOf(cluster, "inside", places);
    await arriveWithin(cluster, inside, FILLING_MS);
    const line = crowdOf(cluster, "before", places / WAIT_BEFORE);
    await line.arrive();
    judge(places, await ask(cluster, shop, line, APART_MS));
  });

  clusterTest(`what eight are told in a rush for ${places}`, options, async (cluster) => {
    const line = crowdOf(cluster, "before", places * RUSH_TIMES - EIGHT);
    await arriveWithin(cluster, line, RUSH_MS);
    judge(places, await ask(cluster, shop, line, RUSH_MS / EIGHT));
  });
}

async function arriveWithin(cluster, crowd, ms) {
  const { visitors } = crowd;
  for (let step = 0; step < FILLING_STEPS; step += 1) {
    const share = (at) => Math.floor((visitors.length * at) / FILLING_STEPS);
    const coming = visitors.slice(share(step), share(step + 1));
    await Promise.all(coming.map((visitor) => crowd.arriveOne(visitor)));
    await crowd.wait(ms / FILLING_STEPS);
  }
}

/** Lets the eight come one after the other, behind `line`, until all have entered. */
async function ask(cluster, shop, line, apartMs) {
  const { clock } = cluster;
  const asked = Array.from({ length: EIGHT }, (_, at) => new Asked(cluster, shop, at));
  const end = clock.now() + PATIENCE_MS;
  for (let coming = [...asked], nextAt = clock.now(); clock.now() < end;) {
    if (coming.length > 0 && clock.now() >= nextAt) {
      await coming.shift().come();
      nextAt = clock.now() + apartMs;
    }
    for (const one of asked) if (one.visitor.dueAt <= clock.now()) await one.come();
    if (asked.every(({ waitedS }) => waitedS !== undefined)) break;
    await line.wait(Math.min(STEP_MS, apartMs));
  }
  return asked;
}

/** One of the eight: what it was told, and when it entered. */
class Asked {
  /** What it was told: [{ afterS, minutes, ahead }]; `minutes` is `undefined` while not known. */
  told = [];

  constructor(cluster, { host }, at) {
    const { colo } = cluster.isolates[at % cluster.isolates.length];
    this.visitor = new Visitor(cluster, { name: `asked-${at + 1}`, host, colo });
    this.clock = cluster.clock;
  }

  async come() {
    this.cameAt ??= this.clock.now();
    const { kind, body } = await this.visitor.visit({ headers: { accept: "application/json" } });
    const afterS = (this.clock.now() - this.cameAt) / 1_000;
    if (kind === "origin") {
      this.visitor.dueAt = undefined;
      this.waitedS ??= afterS;
      return;
    }
    const { waitTimeKnown, waitTime, peopleAhead: ahead } = JSON.parse(body).cfWaitingRoom;
    this.told.push({ afterS, minutes: waitTimeKnown ? waitTime : undefined, ahead });
  }

  /** The first time that was told. */
  get first() {
    return this.told.find(({ minutes }) => minutes !== undefined);
  }

  /** By how many seconds the first time told missed: "3 minutes" is from 2.5 to 3.5. */
  get missedS() {
    if (!this.first) return 0;
    const leftS = this.waitedS - this.first.afterS;
    const { minutes } = this.first;
    const tooLongS = minutes === 1 ? 0 : (minutes - 0.5) * MINUTE_S - leftS;
    return Math.max(0, leftS - (minutes + 0.5) * MINUTE_S, tooLongS);
  }
}

function judge(places, asked) {
  console.log(`a room for ${places}: told at first, told next, real`);
  for (const { visitor, told, first, waitedS, missedS } of asked) {
    const text = ({ afterS, minutes, ahead }) =>
      `${minutes ?? "-"} min, ${ahead ?? "-"} ahead, after ${afterS.toFixed(0)} s`;
    const next = first && told[told.indexOf(first) + 1];
    console.log(
      `  ${visitor.name}: ${first ? text(first) : "nothing"}; ${next ? text(next) : "entered"};` +
        ` ${waitedS?.toFixed(0)} s, missed by ${missedS.toFixed(0)} s`,
    );
  }
  assert.ok(asked.every(({ waitedS }) => waitedS !== undefined), "somebody never entered");
  const errors = asked.map(({ missedS, waitedS }) => missedS / Math.max(waitedS, 1));
  errors.sort((one, other) => one - other);
  assert.ok(errors[EIGHT / 2] <= 0.15, `median ${errors}`);
  for (const { visitor, first, told, missedS, waitedS } of asked) {
    const enough = Math.max(0.3 * waitedS, INTERVAL_S);
    assert.ok(missedS <= enough, `${visitor.name} missed by ${missedS} of ${waitedS} s`);
    const next = first && told[told.indexOf(first) + 1];
    const doubles = missedS > 0 && next?.minutes >= 2 * first?.minutes;
    assert.ok(!doubles, `${visitor.name}: ${JSON.stringify(told)}`);
  }
}
