/** Every isolate and object restarts in one instant, with copies present, absent and old. */

import { clusterTest } from "../harness/cluster-test.mjs";
import { PLACES, lineRoom, playLine } from "../harness/line.mjs";

// The copies of the platform outlive its process.
const options = {
  rooms: [lineRoom],
  colos: { AMS: 3, NRT: 3, IAD: 3 },
  platformCache: true,
};
const overtaking = PLACES - 1;
/**
 * Rounds of the story, 12 s apart: while it fills, at the longest line, and while places pass on.
 */
const ROUNDS = [1, 4, 8];

for (const copies of ["kept", "lost"]) {
  clusterTest(`everything restarts three times, copies ${copies}`, options, (cluster) =>
    playLine(cluster, {
      overtaking,
      disturb: async (round) => {
        if (ROUNDS.includes(round)) await cluster.restart({}, copies);
      },
    }),
  );
}

clusterTest("everything restarts twice, copies from a minute ago", options, (cluster) =>
  playLine(cluster, {
    overtaking,
    disturb: async (round) => {
      if (round === 1 || round === 6) await cluster.saveCopies(`copies-${round}`);
      if (round === 4) await cluster.restart({}, "copies-1");
      if (round === 10) await cluster.restart({}, "copies-6");
    },
  }),
);
