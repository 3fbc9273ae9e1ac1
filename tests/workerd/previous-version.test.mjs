/**
 * Objects may run the code of before for 300 s after a deployment, and data centers get the new
 * code at different moments. Meanwhile the limits hold, the line moves and nobody loses the place;
 * a rollback is the same the other way round.
 */

import { clusterTest } from "../harness/cluster-test.mjs";
import { PLACES, lineRoom, playLine } from "../harness/line.mjs";
import { previousEntry } from "../harness/previous.mjs";

const colos = { AMS: 1, NRT: 1 };
const before = { entry: previousEntry() };
/** The round of the story, of 12 s each, in which the objects get the code of the isolates. */
const ROUND_OF_300_S = 25;
/** So many later visitors may enter first: every place may come free in a restart. */
const overtaking = PLACES - 1;

/** Lets everything run the new code from a round on. */
const updateIn = (round, overrides) => (cluster) =>
  playLine(cluster, {
    overtaking,
    disturb: async (now) => {
      if (now === round) await cluster.restart({ overrides });
    },
  });

clusterTest(
  "objects of the version before serve new isolates for 300 s",
  { rooms: [lineRoom], colos, overrides: { hub: before } },
  updateIn(ROUND_OF_300_S, {}),
);

clusterTest(
  "isolates of the version before ask new objects",
  { rooms: [lineRoom], colos, overrides: { "ams-1": before } },
  updateIn(ROUND_OF_300_S, {}),
);

const everywhere = { hub: before, "ams-1": before, "nrt-1": before };
clusterTest(
  "what the version before stored is taken over",
  { rooms: [lineRoom], colos, overrides: everywhere },
  updateIn(4, {}),
);

clusterTest(
  "a rollback in the middle of the line",
  { rooms: [lineRoom], colos },
  updateIn(4, everywhere),
);
