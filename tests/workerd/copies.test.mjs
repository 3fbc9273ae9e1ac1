/**
 * The Cache API copies of what objects hold: seldom written, small, and believed only by the object
 * they name.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { ROOM_CLASSES } from "../harness/deployment.mjs";
import { mostInside } from "../harness/measure.mjs";
import { objectName, room } from "../harness/rooms.mjs";

const SESSION_MS = 60_000;
const WRITE_GAP_MS = 2_000;
/** Two readings of the clock lie between a decision and the write that the test sees. */
const CLOCK_STEP_MS = 20;
/**
 * A hundred visitors inside and two hundred in line fit well; a copy may grow with the room, not
 * with time.
 */
const BYTES_MAX = 64 * 1_024;

const busy = room({ name: "busy", total_active_users: 100 });
const empty = room({ name: "empty", total_active_users: 2 });
const taken = room({ name: "taken", total_active_users: 2 });

const AMS_NRT = { AMS: 2, NRT: 1 };
clusterTest(
  "copies are written seldom, by every object, and stay small",
  { rooms: [busy], colos: AMS_NRT, platformCache: true },
  async (cluster) => {
    const crowd = new Crowd(cluster, { count: 300, host: busy.host, browseMs: 3_000 });
    await crowd.arrive();
    await crowd.wait(20_000);

    const writes = await cluster.writes();
    for (const key of [
      ...["AMS", "NRT"].flatMap((colo) => [
        stateKey("DataCenterCounter", busy, colo),
        stateKey("DataCenterAggregator", busy, colo),
        `/view/${colo}/${busy.id}`,
      ]),
      stateKey("GlobalAggregator", busy),
    ]) {
      const write = writes[keyEndingWith(writes, key)];
      assert.ok(write, `no copy ends with ${key}: ${Object.keys(writes).join(" ")}`);
      assert.ok(write.bytes > 0 && write.bytes <= BYTES_MAX, `${key}: ${write.bytes} bytes`);
      if (!key.startsWith("/state/")) continue;
      const gaps = write.at.slice(1).map((at, index) => at - write.at[index]);
      assert.ok(Math.min(...gaps) >= WRITE_GAP_MS - CLOCK_STEP_MS, `${key}: ${gaps} ms apart`);
    }
  },
);

clusterTest(
  "an object at rest writes no copy",
  { rooms: [busy], colos: AMS_NRT, platformCache: true },
  async (cluster) => {
    const crowd = new Crowd(cluster, { count: 20, host: busy.host });
    await crowd.arrive();
    await cluster.advance(3 * SESSION_MS, 2_000);
    const before = countOf(await cluster.writes());
    await cluster.advance(30_000);
    assert.equal(countOf(await cluster.writes()), before);
  },
);

clusterTest(
  "a copy that names another object is refused",
  { rooms: [taken, empty], platformCache: true },
  async (cluster) => {
    const crowd = new Crowd(cluster, { count: 4, host: taken.host });
    await crowd.arrive();
    await crowd.wait(4_000);
    assert.equal(crowd.inside.length, 2);

    const writes = await cluster.writes();
    for (const className of ROOM_CLASSES) {
      const key = keyEndingWith(writes, stateKey(className, taken, "AMS"));
      await cluster.putCopy(key.replace(taken.id, empty.id), await cluster.copy(key));
    }
    const newcomers = new Crowd(cluster, { count: 2, host: empty.host });
    await newcomers.arrive();
    assert.equal(newcomers.inside.length, 2, "an empty room believed the state of a full one");
  },
);

const far = { rooms: [busy], platformCache: true, colos: { AMS: 1, NRT: 1 } };
clusterTest("a copy from another data center gives no place twice", far, async (cluster) => {
  const crowd = new Crowd(cluster, { count: 160, host: busy.host });
  const near = crowd.visitors.filter((_, at) => at % 2 === 0);
  for (const visitor of near.slice(0, 40)) await crowd.arriveOne(visitor);
  await cluster.advance(2_500);

  const writes = await cluster.writes();
  for (const className of ["DataCenterCounter", "DataCenterAggregator"]) {
    const key = keyEndingWith(writes, stateKey(className, busy, "AMS"));
    await cluster.putCopy(key.replace("AMS", "NRT"), await cluster.copy(key));
    await cluster.killObjects(className);
  }
  await crowd.arrive();
  await crowd.wait(20_000);
  const most = mostInside(await cluster.arrivals(), SESSION_MS);
  assert.ok(most <= 100, `${most} inside`);
  // The counter held half of the 60 free slots when it was killed; they count as used.
  assert.ok(most >= 65, `only ${most} entered`);
});

const DAMAGE = ["", "{", "null", "[]", '{"v":999}', "\u0000".repeat(100), "x".repeat(100_000)];
const small = { rooms: [taken], platformCache: true };
clusterTest("a damaged copy is as good as none", small, async (cluster) => {
  const crowd = new Crowd(cluster, { count: 4, host: taken.host, browseMs: 5_000 });
  await crowd.arrive();
  for (const text of DAMAGE) {
    await crowd.wait(4_000);
    for (const key of Object.keys(await cluster.writes())) await cluster.putCopy(key, text);
    await cluster.restart();
    await crowd.wait(8_000);
    assert.equal(crowd.inside.length, 2, `after a copy of ${JSON.stringify(text.slice(0, 20))}`);
    assert.equal(crowd.waiting.length, 2);
  }
});

function stateKey(className, room, colo) {
  return `/state/${className}/${objectName[className](room, colo)}`;
}

function keyEndingWith(writes, end) {
  return Object.keys(writes).find((key) => decodeURIComponent(key).endsWith(end));
}

function countOf(writes) {
  return Object.values(writes).reduce((sum, { count }) => sum + count, 0);
}
