/** Sessions expire and the next in line enter, in order, in one data center and over several. */

import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { lineRoom, playLine } from "../harness/line.mjs";

const rooms = [lineRoom];

clusterTestBothWays("the next in line enter in order", { rooms, colos: { AMS: 1 } }, (cluster) =>
  playLine(cluster, { overtaking: 0 }),
);

const spread = { AMS: 3, NRT: 3, IAD: 3 };
clusterTest(
  "the next in line enter in order over three data centers",
  { rooms, colos: spread },
  (cluster) => playLine(cluster, { overtaking: 0 }),
);
