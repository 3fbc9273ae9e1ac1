/**
 * Time in the tests: a clock inside workerd that a test moves forward, so that minutes of the
 * Worker's time pass in milliseconds. One that was stopped goes on by nothing else, however slow
 * the machine is. It builds the preload of `clock.c` and writes what that reads; the Worker is the
 * unchanged one.
 */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const SOURCE = path.join(import.meta.dirname, "clock.c");
const BUILD = path.join(import.meta.dirname, "..", "..", "build");
/** The size of each number in the file of a clock. */
const NUMBER_BYTES = 8;
const COMPILERS = [process.env.CC, "cc", "gcc", "clang"].filter(Boolean);

/** Says why the clock cannot be moved on this machine; `undefined` if it can. */
export function clockMissing() {
  if (process.platform !== "linux") return "the test clock is a preload for Linux";
  return builtShim() ? undefined : `no C compiler (tried ${COMPILERS.join(", ")})`;
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
    return { LD_PRELOAD: builtShim(), TEST_CLOCK_FILE: this.path, TEST_CLOCK_DATE_ONLY: "" };
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

let shim;

/**
 * Returns the path of the compiled preload, which is built once for each version of its source;
 * `undefined` without a C compiler.
 */
function builtShim() {
  if (shim !== undefined) return shim ?? undefined;
  const version = createHash("sha256").update(fs.readFileSync(SOURCE)).digest("hex").slice(0, 16);
  const target = path.join(BUILD, `test-clock-${version}.so`);
  shim = fs.existsSync(target) ? target : compile(target);
  return shim ?? undefined;
}

function compile(target) {
  fs.mkdirSync(BUILD, { recursive: true });
  const fresh = `${target}.${process.pid}`;
  for (const compiler of COMPILERS) {
    const flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", fresh, SOURCE];
    const run = spawnSync(compiler, flags, { encoding: "utf8" });
    if (run.error?.code === "ENOENT") continue;
    if (run.status !== 0) throw new Error(`${compiler} cannot build ${SOURCE}:\n${run.stderr}`);
    // Test files may run side by side: the last one replaces an identical file.
    fs.renameSync(fresh, target);
    return target;
  }
  return null;
}
