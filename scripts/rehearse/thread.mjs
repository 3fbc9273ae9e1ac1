// A thread that plays one plan in the simulator's module, or only checks it, and posts the answer.
import path from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { pathToFileURL } from "node:url";

import { ROOT } from "../modules.mjs";

/** How often it tells how far it is, in milliseconds at least. */
const TELL_EVERY_MS = 100;

const glue = path.join(ROOT, "build", "rehearsal", "rehearsal.js");
const { initSync, check, rehearse } = await import(pathToFileURL(glue).href);
initSync({ module: workerData.bytes });

let toldAt = 0;
const progress = {
  tell(part) {
    const now = Date.now();
    if (now - toldAt < TELL_EVERY_MS && part < 1) return;
    toldAt = now;
    parentPort.postMessage({ part });
  },
};
parentPort.postMessage(answer());

function answer() {
  const { plan, onlyCheck } = workerData;
  let expected;
  try {
    expected = check(plan);
  } catch (error) {
    return { wrong: error.message };
  }
  return onlyCheck ? { expected } : { outcome: rehearse(plan, progress) };
}
