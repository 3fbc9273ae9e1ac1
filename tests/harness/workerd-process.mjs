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
const [STATE, PARENT, USER, KERNEL] = [0, 1, 11, 12];
/** The states of a thread that runs, or waits for a processor or for a disk. */
const BUSY = ["R", "D"];

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

/** True if a thread of a process has something to do, even if no processor is free for it. */
export function isBusy(pid) {
  return threadsOf(pid).some((id) => BUSY.includes(statOf(`${pid}/task/${id}`)?.fields[STATE]));
}

/** The CPU time that a process has used, in milliseconds; NaN where that is not told. */
export function cpuMs(pid) {
  const { fields } = statOf(pid) ?? {};
  return fields ? (Number(fields[USER]) + Number(fields[KERNEL])) * TICK_MS : NaN;
}

/** The same in nanoseconds, thread by thread; NaN where the kernel does not count so finely. */
export function cpuNs(pid) {
  const ofThread = (id) => Number(read(pid, `task/${id}/schedstat`).split(" ")[0]);
  return threadsOf(pid).reduce((sum, id) => sum + ofThread(id), 0) || NaN;
}

/** The memory that a process has in RAM, in bytes; NaN where that is not told. */
export function residentBytes(pid) {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(read(pid, "status")) ?? [];
  return Number(kib ?? NaN) * KIB;
}

function threadsOf(pid) {
  try {
    return pid ? fs.readdirSync(`/proc/${pid}/task`) : [];
  } catch {
    return [];
  }
}

/** Reads `stat` of a process, or of a thread. */
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
