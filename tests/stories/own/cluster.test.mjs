/**
 * A cluster of three under load, to which one thing happens: the limits hold at every instant as
 * the origin counts them, those inside notice nothing, those who wait enter again. `CLUSTER_STORY`
 * names one of them.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Bucket, bucketMissing } from "../../harness/bucket.mjs";
import { OwnCrowd, longestPause, mostInAMinute, mostInside } from "../../harness/own-crowd.mjs";
import { OwnServer } from "../../harness/own-server.mjs";
import { FREQUENT_CHECK_INS, room } from "../../harness/rooms.mjs";

const LIMIT = 20;
const BROWSERS = 5;
const COUNT = 130;
/** They come so that a place gets free every 3 s from the first minute on, and a line stands. */
const FULL_AFTER_MS = 60_000;
const HAPPENS_AT_MS = 75_000;
const shop = room({ name: "shop", total_active_users: LIMIT, ...FREQUENT_CHECK_INS });

/** What happens, and how long it is watched after that, in seconds. */
const STORIES = {
  nothing: [async () => {}, 60],
  kill: [async ({ server }) => process.kill(server.workerds()[1], "SIGKILL"), 110],
  "stop each": [stopEach, 150],
  "slow bucket": [({ bucket }) => breaks(bucket, "slowMs", 2_000), 110],
  "bucket fails": [({ bucket }) => breaks(bucket, "fails", true), 110],
  "bucket gone": [bucketGone, 130],
  "machine pauses": [machinePauses, 110],
  "instance hangs": [async ({ server }) => process.kill(server.workerds()[1], "SIGSTOP"), 110],
};
const wanted = process.env.CLUSTER_STORY;
const ALL = { timeout: 400_000, skip: await bucketMissing(), concurrency: 4 };

test("cluster", ALL, async (t) => {
  const chosen = Object.entries(STORIES).filter(([name]) => !wanted || name === wanted);
  await Promise.all(chosen.map(([name, story]) => t.test(name, (each) => play(each, ...story))));
});

async function play(t, happens, watchedS) {
  const bucket = await Bucket.start(t);
  const server = await OwnServer.make(t, { rooms: [shop] });
  await server.start({ ...bucket.flags, instances: "2" }, bucket.credentials);
  const other = await server.another(t);
  const flags = { port: String(other.port), instances: "1" };
  await other.start(flags, { ...bucket.credentials, DATA_CENTER: "TWO" });
  const arriveMs = (at) => (at < LIMIT ? at * 3_000 : FULL_AFTER_MS + (at - LIMIT) * 150);
  const options = { count: COUNT, arriveMs, browsers: BROWSERS };
  const crowd = new OwnCrowd([server, server, other], shop, options);
  let from = 0;
  const plot = async () => {
    await sleep(HAPPENS_AT_MS);
    from = Date.now();
    await happens({ server, other, bucket });
    await sleep(from + watchedS * 1_000 - Date.now());
  };
  await crowd.play(plot());
  const visits = crowd.visits();
  const [inside, entered] = [mostInside(visits), mostInAMinute(visits)];
  const pauseS = longestPause(visits, from) / 1_000;
  const first = visits.map(([at]) => Math.round((at - from) / 1_000)).sort((a, b) => a - b);
  // The longest pause is mostly that of a session later: who entered together, leaves together.
  const again = first.find((at) => at >= 0);
  t.diagnostic(`most inside ${inside}, in 60 s ${entered}, pause ${pauseS} s, first ${again} s`);
  t.diagnostic(`${JSON.stringify(crowd.told)} ${[...crowd.problems].join("; ")}`);
  t.diagnostic(`entries at ${first.join(" ")}`);
  if (process.env.CLUSTER_SAID) t.diagnostic(`${server.said} OTHER ${other.said}`);
  assert.ok(inside <= LIMIT, `${inside} inside`);
  assert.ok(entered <= LIMIT, `${entered} entered in 60 s`);
  assert.equal(crowd.told.thrownOut, 0);
  assert.equal(crowd.told.pages, 0, "pages of an error");
}

async function stopEach({ server, other }) {
  for (const pid of [...server.workerds(), ...other.workerds()]) {
    process.kill(pid, "SIGTERM");
    await sleep(20_000);
  }
}

async function breaks(bucket, how, value) {
  const before = bucket[how];
  bucket[how] = value;
  await sleep(30_000);
  bucket[how] = before;
}

async function machinePauses({ other }) {
  other.signalAll("SIGSTOP");
  await sleep(40_000);
  other.signalAll("SIGCONT");
}

async function bucketGone({ bucket }) {
  bucket.stop();
  await sleep(35_000);
  bucket.goOn();
}
