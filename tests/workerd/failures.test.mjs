/** Calls to objects fail, lose answers or take long, in the middle of a queue, and recover. */

import { clusterTest } from "../harness/cluster-test.mjs";
import { ROOM_CLASSES } from "../harness/deployment.mjs";
import { PLACES, lineRoom, playLine } from "../harness/line.mjs";

const options = { rooms: [lineRoom], colos: { AMS: 2, NRT: 2 } };
/** Real time, well below the time after which an isolate takes a late answer for none. */
const SLOW_MS = 100;

for (const className of ROOM_CLASSES) {
  const unreachable = { className, fail: "before" };
  const answerLost = { className, fail: "after" };
  const slow = { className, delayMs: SLOW_MS };

  // 12 s each, less than the 20 s after which a silent data center is left out: no place is lost.
  // But an aggregator that hears no isolate tells the global one that nobody waits.
  const overtaking = className === "DataCenterAggregator" ? Infinity : PLACES - 1;
  const faults = { 3: [unreachable], 5: [answerLost], 8: [slow] };
  clusterTest(
    `${className} fails, loses its answers, answers slowly, 12 s each`,
    options,
    (cluster) =>
      playLine(cluster, {
        overtaking,
        disturb: (round) => cluster.breakCalls(...(faults[round] ?? [])),
      }),
  );

  // A minute: the line is forgotten and found again, so only the limit and the tickets hold.
  for (const [what, fault] of Object.entries({ unreachable, answerLost })) {
    clusterTest(`${className} for a minute: ${what}`, options, (cluster) =>
      playLine(cluster, {
        overtaking: Infinity,
        disturb: async (round) => {
          if (round === 3) await cluster.breakCalls(fault);
          if (round === 8) await cluster.breakCalls();
        },
      }),
    );
  }
}
