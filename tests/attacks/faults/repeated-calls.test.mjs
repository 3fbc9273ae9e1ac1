/** Calls to objects arrive twice, overtake each other, or hang: no place is given twice or lost. */

import { clusterTest } from "../../harness/cluster-test.mjs";
import { ROOM_CLASSES } from "../../harness/deployment.mjs";
import { chance } from "../../harness/fault-seed.mjs";
import { PLACES, lineRoom, playLine } from "../../harness/line.mjs";

const options = { rooms: [lineRoom], colos: { AMS: 2, NRT: 2 } };
const overtaking = PLACES - 1;
/** Longer than between two calls of one caller, so that the later may arrive first. */
const JITTER_MS = 2_500;
const HANGS_MS = 10_000;
const ofAll = (fault) => ROOM_CLASSES.map((className) => ({ className, ...fault }));

clusterTest("every call arrives twice", options, async (cluster) => {
  await cluster.breakCalls(...ofAll({ fail: "twice" }));
  await playLine(cluster, { overtaking });
});

// A call that hangs takes real time, for nobody moves the clock while a visit waits for it.
for (const [what, share, fault] of [
  ["calls arrive twice and overtake each other", 0.4, { fail: "twice", jitterMs: JITTER_MS }],
  ["calls hang for 10 s", 0.08, { delayMs: HANGS_MS }],
]) {
  clusterTest(`${what}, at random moments`, options, (cluster) => {
    const happens = chance(share);
    return playLine(cluster, {
      overtaking: Infinity,
      disturb: () => cluster.breakCalls(...ofAll(fault).filter(happens)),
    });
  });
}
