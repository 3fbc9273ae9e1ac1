/**
 * Time in the tests: a clock inside workerd that a test moves forward, so that minutes of the
 * Worker's time pass in milliseconds. One that was stopped goes on by nothing else, however slow
 * the machine is. It preloads `clock.c` and writes what that reads; the Worker is the unchanged
 * one.
 */

import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { builtPreload, preloadMissing } from "./preload.mjs";

/** The library of `clock.c`. */
const CLOCK = "clock";
/** The size of each number in the file of a clock. */
const NUMBER_BYTES = 8;

/** Says why the clock cannot be moved on this machine; `undefined` if it can. */
export function clockMissing() {
  return preloadMissing(CLOCK);
}

/**
 * The clock of one cluster. Its time is the machine's time, or the moment at which it was stopped,
 * plus what `jump` added.
 */
export class Clock {
  #file;
  #offsetMs = 0;
  #stoppedAt;

  /** @param {string} folder where its file is kept; it must be there as long as the cluster */
  constructor(folder) {
    const missing = clockMissing();
    if (missing) throw new Error(missing);
    this.path = path.join(folder, "clock");
    this.#file = fs.openSync(this.path, "w+");
    this.#write();
  }

  /** Stops it for good: from now on only `jump` moves it. */
  stop() {
    this.#stoppedAt ??= Date.now();
    this.#write();
  }

  /** True if only `jump` moves it. */
  get stopped() {
    return this.#stoppedAt !== undefined;
  }

  /** The variables with which the process whose clock is moved must be started. */
  get environment() {
    const preload = { LD_PRELOAD: builtPreload(CLOCK) };
    return { ...preload, TEST_CLOCK_FILE: this.path, TEST_CLOCK_DATE_ONLY: "" };
  }

  /** The time inside workerd, in milliseconds since the Unix epoch. */
  now() {
    return (this.#stoppedAt ?? Date.now()) + this.#offsetMs;
  }

  /**
   * Moves the time inside workerd forward by `ms` at once. Sleeping timers notice it at the next
   * event.
   */
  jump(ms) {
    if (!(ms >= 0)) throw new RangeError(`the clock never goes back: ${ms} ms`);
    this.#offsetMs += Math.round(ms);
    this.#write();
  }

  /** Closes the file of the clock. */
  close() {
    fs.closeSync(this.#file);
  }

  #write() {
    const bytes = Buffer.alloc(2 * NUMBER_BYTES);
    const put = os.endianness() === "LE" ? "writeBigInt64LE" : "writeBigInt64BE";
    const offsetMs = (this.stopped ? 0 : ownOffsetMs()) + this.#offsetMs;
    bytes[put](BigInt(offsetMs));
    bytes[put](BigInt(this.#stoppedAt ?? 0), NUMBER_BYTES);
    fs.writeSync(this.#file, bytes, 0, bytes.length, 0);
  }
}

/** How far the clock of this process has itself been moved. @see at.mjs */
function ownOffsetMs() {
  const file = process.env.TEST_CLOCK_FILE;
  if (!file) return 0;
  const read = os.endianness() === "LE" ? "readBigInt64LE" : "readBigInt64BE";
  return Number(fs.readFileSync(file)[read]());
}
