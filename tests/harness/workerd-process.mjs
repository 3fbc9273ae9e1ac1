/**
 * What the workerd that this process started uses: CPU time and memory, as Linux tells them. Where
 * there is no `/proc` nothing is known.
 */

import { spawnSync } from "node:child_process";
import fs from "node:fs";

const KIB = 1_024;
/** The unit of CPU time in `/proc`, in milliseconds; 10 on every usual Linux. */
const TICK_MS = 1_000 / (Number(spawnSync("getconf", ["CLK_TCK"]).stdout) || 100);
/** The fields of `stat` from the state on: the parent, and the ticks in user and kernel mode. */
const [PARENT, USER, KERNEL] = [1, 11, 12];
/** The states of a thread that runs, waits for a processor or for a disk, or is stopped. */
const BUSY = [..."RDT"].map((letter) => letter.charCodeAt(0));
/** More than the id, the name and the state of a thread take in `stat`. */
const STAT_BYTES = 64;
/** The character behind the name, in front of the state. */
const NAME_ENDS = ")".charCodeAt(0);

/** The process id of the workerd that this process started last; `undefined` if there is none. */
export function workerdPid() {
  if (!fs.existsSync("/proc/self/stat")) return undefined;
  const isOurs = (pid) => {
    const { name, fields } = statOf(pid) ?? {};
    return name === "workerd" && Number(fields[PARENT]) === process.pid;
  };
  const pids = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter(isOurs).sort((one, other) => one - other).at(-1);
}

/**
 * The threads of a process, to be looked at thousands of times: their files in `/proc` stay open,
 * and are opened anew when a thread has begun or ended.
 */
export class Threads {
  #folder;
  #files = [];
  /** How many entries the folder had when they were opened. */
  #entries;
  #line = Buffer.alloc(STAT_BYTES);

  /** @param {number | undefined} pid */
  constructor(pid) {
    this.#folder = `/proc/${pid}/task`;
  }

  /** True if one has something to do, even if no processor is free for it. */
  areBusy() {
    const entries = fs.statSync(this.#folder, { throwIfNoEntry: false })?.nlink;
    if (entries !== this.#entries) this.#open(entries);
    try {
      return this.#files.some((file) => BUSY.includes(this.#stateOf(file)));
    } catch {
      // One has ended, and another may have begun.
      this.#entries = undefined;
      return true;
    }
  }

  /** Closes the files. */
  close() {
    for (const file of this.#files.splice(0)) fs.closeSync(file);
    this.#entries = undefined;
  }

  #open(entries) {
    this.close();
    this.#entries = entries;
    for (const id of namesIn(this.#folder)) {
      try {
        this.#files.push(fs.openSync(`${this.#folder}/${id}/stat`));
      } catch {
        this.#entries = undefined;
      }
    }
  }

  #stateOf(file) {
    const length = fs.readSync(file, this.#line, 0, STAT_BYTES, 0);
    return this.#line[this.#line.lastIndexOf(NAME_ENDS, length - 1) + 2];
  }
}

/** The CPU time that a process has used, in milliseconds; NaN where that is not told. */
export function cpuMs(pid) {
  const { fields } = statOf(pid) ?? {};
  return fields ? (Number(fields[USER]) + Number(fields[KERNEL])) * TICK_MS : NaN;
}

/** The same in nanoseconds, thread by thread; NaN where the kernel does not count so finely. */
export function cpuNs(pid) {
  const ofThread = (id) => Number(read(pid, `task/${id}/schedstat`).split(" ")[0]);
  const threads = pid ? namesIn(`/proc/${pid}/task`) : [];
  return threads.reduce((sum, id) => sum + ofThread(id), 0) || NaN;
}

/** The memory that a process has in RAM, in bytes; NaN where that is not told. */
export function residentBytes(pid) {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(read(pid, "status")) ?? [];
  return Number(kib ?? NaN) * KIB;
}

function namesIn(folder) {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

/** Reads `stat` of a process. */
function statOf(pid) {
  const text = read(pid, "stat");
  if (!text) return undefined;
  // The name stands in parentheses and may hold any character.
  const [from, to] = [text.indexOf("("), text.lastIndexOf(")")];
  return { name: text.slice(from + 1, to), fields: text.slice(to + 2).split(" ") };
}

function read(pid, file) {
  try {
    return fs.readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
