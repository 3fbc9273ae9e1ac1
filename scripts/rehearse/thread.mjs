// A thread of Node that plays one plan in the simulator's module, or only checks it, and posts the
// answer.
import path from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { pathToFileURL } from "node:url";

import { ROOT } from "../modules.mjs";
import { answerTo } from "./answerer.mjs";

const glue = path.join(ROOT, "build", "rehearsal", "rehearsal.js");
const { initSync, ...simulator } = await import(pathToFileURL(glue).href);
initSync({ module: workerData.bytes });
const post = (message) => parentPort.postMessage(message);
post(answerTo(workerData, simulator, post));
