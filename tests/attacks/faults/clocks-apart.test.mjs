/** The isolates of one data center have another time than the others: by seconds or an hour. */

import assert from "node:assert/strict";

import { clusterTest } from "../../harness/cluster-test.mjs";
import { Crowd } from "../../harness/crowd.mjs";
import { PLACES, lineRoom, playLine } from "../../harness/line.mjs";
import { mostEnteredInAMinute, mostInside } from "../../harness/measure.mjs";

const SESSION_MS = 60_000;
/** All twelve enter in four sessions, or somewhat more: places are free when that is known. */
const STORY_MS = 300_000;
const SKEWS_S = [5, -60, 3_600];

for (const skewS of SKEWS_S) {
  const vars = { CLOCK_SKEW_MS: String(skewS * 1_000) };
  const options = {
    rooms: [lineRoom],
    colos: { AMS: 2, NRT: 2 },
    overrides: { "nrt-1": { vars }, "nrt-2": { vars } },
  };
  const title = `the clocks of one data center are ${skewS} s ahead`;
  if (Math.abs(skewS) < 60) {
    // A visitor may enter before those who came within as many seconds.
    clusterTest(title, options, (cluster) => playLine(cluster, { overtaking: PLACES - 1 }));
  } else {
    // An hour ahead, whoever enters keeps a place for as long: only the limits hold there.
    const placesAreLost = Math.abs(skewS) > 60;
    clusterTest(title, options, (cluster) => limitsHold(cluster, placesAreLost));
  }
}

/** The limits hold, and unless places are lost everybody gets in where the clock is right. */
async function limitsHold(cluster, placesAreLost) {
  const { host } = lineRoom;
  const crowd = new Crowd(cluster, { count: 12, host });
  await crowd.arrive();
  await crowd.wait(STORY_MS);
  const arrivals = await cluster.arrivals();
  const most = mostInside(arrivals, SESSION_MS);
  assert.ok(most <= PLACES, `${most} inside`);
  const entered = mostEnteredInAMinute(arrivals, SESSION_MS);
  assert.ok(entered <= PLACES, `${entered} in one minute`);
  if (placesAreLost) return;
  const right = crowd.visitors.filter(({ colo }) => colo === "AMS");
  const late = right.filter((visitor) => !arrivals.some((one) => one.visitor === visitor.name));
  assert.deepEqual(late.map(({ name }) => name), [], "never entered");
}
