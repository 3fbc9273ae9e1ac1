/**
 * The memory of objects is taken away in the middle of a queue: never too many inside, no place
 * lost.
 */

import { clusterTest } from "../harness/cluster-test.mjs";
import { PLACES, lineRoom, playLine } from "../harness/line.mjs";

const options = { rooms: [lineRoom], colos: { AMS: 2, NRT: 2 } };
const overtaking = PLACES - 1;

for (const className of ["DataCenterCounter", "DataCenterAggregator", "GlobalAggregator"]) {
  clusterTest(`each ${className} is killed every 12 s`, options, (cluster) =>
    playLine(cluster, { overtaking, disturb: () => cluster.killObjects(className) }),
  );
}

clusterTest("every object is killed every 24 s and the Cache API emptied", options, (cluster) =>
  playLine(cluster, {
    overtaking,
    disturb: async (round) => {
      if (round % 2 === 0) return;
      await cluster.loseCopies();
      await cluster.killObjects();
    },
  }),
);
