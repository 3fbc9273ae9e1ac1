/**
 * When workerd has done all that it can do without another request or a later time: none of its
 * threads runs or waits for a processor. That is so on a slow machine as well as on a fast one.
 */

import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";

import { Threads } from "./workerd-process.mjs";

/**
 * How often in a row workerd must be found at rest. Between two looks this process serves what
 * waits for it: servers of the test may be about to answer.
 */
const LOOKS = 3;
/** The real time before it looks again at a process that is busy, in milliseconds. */
const LOOK_MS = 1;
/** After so much real time, in milliseconds, something never rests, and the test fails. */
const PATIENCE_MS = 120_000;

/** The rest of one process. */
export class Rest {
  #threads;

  /** @param {number | undefined} pid */
  constructor(pid) {
    this.#threads = new Threads(pid);
  }

  /** Waits until workerd is at rest. */
  async comes() {
    const end = Date.now() + PATIENCE_MS;
    for (let looks = 0; looks < LOOKS; ) {
      const busy = this.#threads.areBusy();
      looks = busy ? 0 : looks + 1;
      await (busy ? sleep(LOOK_MS) : turn());
      if (Date.now() > end) throw new Error(`workerd does not rest for ${PATIENCE_MS} ms`);
    }
  }

  /** Ends the looking. */
  close() {
    this.#threads.close();
  }
}
