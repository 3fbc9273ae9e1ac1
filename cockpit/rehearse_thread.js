// Asks the simulator's thread: plays a plan with its limits beside each other, in this browser.
import { playBy, played, take } from "../scripts/rehearse/lanes.mjs";
import { searched } from "../scripts/rehearse/search.mjs";
import { variantsOf } from "../scripts/rehearse/variants.mjs";

const SCRIPT = "/_waiting-room/rehearsal.js";
const NOT_FOUND = 404;
/** The page's policy lets a thread begin by this one alone, and this one makes one address. */
const addresses = globalThis.trustedTypes?.createPolicy("rehearsal", {
  createScriptURL: () => SCRIPT,
});

/** A rehearsal that its owner has ended. */
export class Cancelled extends Error {}

/** A plan of which more than `playedMax` visitors would be played. */
export class TooMany extends Error {}

/** Whether this deployment brings the simulator. Where nothing answers, playing will tell. */
export async function isThere() {
  const answer = await fetch(SCRIPT, { method: "HEAD" }).catch(() => undefined);
  return answer?.status !== NOT_FOUND;
}

/**
 * Plays a plan with its limits, and with more where it takes no long time; then it searches, if
 * that is asked for.
 *
 * @param {object} plan
 * @param {object} options
 * @param {number} options.playedMax so many visitors are played at most
 * @param {number} [options.findMinutes] searches limits with which 95 of 100 wait at most so long
 * @param {AbortSignal} options.signal ends it
 * @param {(part: number) => void} options.onProgress hears which part of all is done, 0 to 1
 * @param {(tried: number) => void} options.onTried hears how many limits the search has tried
 * @returns {Promise<object>} `{ plan, plays, found, tookS, report }`, with the report as a page
 * @throws {PlanError} if the plan is not understood, {TooMany}, {Cancelled} once it was ended
 */
export async function rehearse(plan, { playedMax, findMinutes, signal, onProgress, onTried }) {
  const ask = (question, onPart) => answered(question, { signal, onPart });
  const { played: few } = await ask({ plan, onlyCheck: true });
  if (few > playedMax) throw new TooMany();
  const variants = variantsOf(plan, {}, few);
  const began = Date.now();
  const threads = navigator.hardwareConcurrency ?? 1;
  const outcomes = await playBy(ask, variants, { threads, onProgress });
  const plays = variants.map((one, at) => played(one, outcomes[at]));
  const play = (plans) => playBy(ask, plans, { threads });
  const found = findMinutes ? await searched(plan, findMinutes, play, onTried) : undefined;
  const tookS = (Date.now() - began) / 1_000;
  const rehearsal = { plan, plays, found, tookS };
  return { ...rehearsal, report: await ask({ rehearsal }) };
}

/** Asks a thread of its own, which ends with its answer. */
function answered(question, { signal, onPart }) {
  return new Promise((onAnswer, onFailure) => {
    const thread = new Worker(addresses ? addresses.createScriptURL("") : SCRIPT, {
      type: "module",
    });
    const ended = (settle) => (value) => {
      thread.terminate();
      signal.removeEventListener("abort", cancel);
      settle(value);
    };
    const [resolve, reject] = [ended(onAnswer), ended(onFailure)];
    const fail = (why) => reject(new Error(`The simulator does not run here: ${why}`));
    function cancel() {
      reject(new Cancelled());
    }
    signal.addEventListener("abort", cancel);
    thread.onerror = ({ message }) => fail(message ?? "its file did not come. Press it again.");
    thread.onmessage = ({ data }) => {
      if (data.failed) fail(data.failed);
      else if (data.report) resolve(data.report);
      else take(data, { resolve, reject, onPart });
    };
    if (signal.aborted) cancel();
    else thread.postMessage(question);
  });
}
