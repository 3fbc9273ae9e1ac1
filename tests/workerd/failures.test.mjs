/** Calls to objects fail, lose their answers or take long, in the middle of a queue, and recover. */

import { clusterTest } from "../harness/cluster-test.mjs";
import { PLACES, lineRoom, playLine } from "../harness/line.mjs";

const options = { rooms: [lineRoom], colos: { AMS: 2, NRT: 2 } };
const CLASSES = ["DataCenterCounter", "DataCenterAggregator", "GlobalAggregator"];
/** Real time, well below the time after which an isolate takes a late answer for none. */
const SLOW_MS = 100;

for (const className of CLASSES) {
  shortFault(`calls of ${className} fail`, { className, fail: "before" });
  shortFault(`answers of ${className} are lost`, { className, fail: "after" });
  shortFault(`${className} answers slowly`, { className, delayMs: SLOW_MS });
  longFault(`calls of ${className} fail`, { className, fail: "before" });
  longFault(`answers of ${className} are lost`, { className, fail: "after" });
}

/** Three times 12 s: less than the 20 s after which a silent data center is left out. */
function shortFault(what, fault) {
  clusterTest(`${what} for 12 s, three times`, options, (cluster) =>
    playLine(cluster, {
      overtaking: PLACES - 1,
      disturb: (moment) => cluster.breakCalls(...([3, 5, 8].includes(moment) ? [fault] : [])),
    }),
  );
}

/** A minute: the line is forgotten and found again, so only the limit and the tickets hold. */
function longFault(what, fault) {
  clusterTest(`${what} for a minute`, options, (cluster) =>
    playLine(cluster, {
      overtaking: Infinity,
      disturb: async (moment) => {
        if (moment === 3) await cluster.breakCalls(fault);
        if (moment === 8) await cluster.breakCalls();
      },
    }),
  );
}
