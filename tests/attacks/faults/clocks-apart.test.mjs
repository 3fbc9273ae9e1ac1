/** The isolates of one data center have another time than the others: by seconds or an hour. */

import assert from "node:assert/strict";

import { clusterTest } from "../../harness/cluster-test.mjs";
import { Crowd } from "../../harness/crowd.mjs";
import { PLACES, lineRoom, playLine } from "../../harness/line.mjs";
import { mostEnteredInAMinute, mostInside } from "../../harness/measure.mjs";

const SESSION_MS = 60_000;
/**
 * Long enough for six visitors one after the other: whoever enters where the clock is an hour ahead
 * keeps a place for as long.
 */
const STORY_MS = 600_000;
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
    clusterTest(title, options, limitsHold);
  }
}

/** The limits hold, and where the clock is right everybody gets in. */
async function limitsHold(cluster) {
  const { host } = lineRoom;
  const crowd = new Crowd(cluster, { count: 12, host });
  await crowd.arrive();
  await crowd.wait(STORY_MS);
  const arrivals = await cluster.arrivals();
  const most = mostInside(arrivals, SESSION_MS);
  assert.ok(most <= PLACES, `${most} inside`);
  const entered = mostEnteredInAMinute(arrivals, SESSION_MS);
  assert.ok(entered <= PLACES, `${entered} in one minute`);
  const right = crowd.visitors.filter(({ colo }) => colo === "AMS");
  const late = right.filter((visitor) => !arrivals.some((one) => one.visitor === visitor.name));
  assert.deepEqual(late.map(({ name }) => name), [], "never entered");
}
