/**
 * Calls to objects fail, lose their answers or take long, in the middle of a queue, and then work
 * again.
 */

import { clusterTest } from "../harness/cluster-test.mjs";
import { PLACES, lineRoom, playLine } from "../harness/line.mjs";

const options = { rooms: [lineRoom], colos: { AMS: 2, NRT: 2 } };
const CLASSES = ["DataCenterCounter", "DataCenterAggregator", "GlobalAggregator"];
/** Real time: an object call of the product gives up after seconds. */
const SLOW_MS = 100;

check("one minute without an answer from any", { fail: "before" });
check("one minute in which each answer of any is lost", { fail: "after" });
check("one minute in which any answers slowly", { delayMs: SLOW_MS });

function check(what, fault) {
  for (const className of CLASSES) {
    clusterTest(`${what} ${className}`, options, (cluster) =>
      playLine(cluster, {
        overtaking: PLACES - 1,
        disturb: async (moment) => {
          if (moment === 3) await cluster.breakCalls({ className, ...fault });
          if (moment === 8) await cluster.breakCalls();
        },
      }),
    );
  }
}
