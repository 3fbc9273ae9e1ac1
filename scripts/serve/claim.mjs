// Sees to it that a folder is served once: two processes with the same data would count apart. A
// workerd whose command was killed is ended before another begins.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { stop } from "../stop.mjs";
import { END_WITHIN_MS, isOfFolder } from "./workerd.mjs";

/** The file's name in the folder: the processes that serve it. */
const RUNNING = "running.json";
/** A part of the command line of the command, and of the process that keeps its socket. */
const COMMAND = /\bserve\.mjs\b|\bserve\/supervise\.mjs\b/;
const POLL_MS = 50;

/** Takes the folder of `kept` for this process. */
export async function claim(kept) {
  const { command } = running(kept);
  if (isServing(command)) {
    stop(`${kept.folder} is served already, by process ${command}: end that one first`);
  }
  const left = leftBy(kept);
  if (left.length > 0) {
    console.log(`  Ending workerd ${left.join(", ")}, whose command was killed ...`);
    await Promise.all(left.map(endProcess));
  }
  kept.write(RUNNING, { command: process.pid });
}

/** Gives the folder back: nothing serves it any more. */
export function release(kept) {
  fs.rmSync(kept.file(RUNNING), { force: true });
}

/** Notes which processes of workerd serve the folder. */
export function noteWorkerds(kept, workerds) {
  try {
    kept.write(RUNNING, { command: process.pid, workerds });
  } catch (error) {
    // A full disk must not end what still serves those inside.
    console.error(`${RUNNING} cannot be written: ${error.message}`);
  }
}

/** Ends the process with a sentence if the folder is being served. */
export function mustRest(kept) {
  const isHeld = isServing(running(kept).command) || leftBy(kept).length > 0;
  if (isHeld) stop(`${kept.folder} is being served: end that first`);
}

/** The processes of workerd that still run of those that were noted last. */
function leftBy(kept) {
  const { workerds = [] } = running(kept);
  return workerds.filter((pid) => isOfFolder(commandOf(pid), kept.folder));
}

function running(kept) {
  try {
    return JSON.parse(fs.readFileSync(kept.file(RUNNING), "utf8"));
  } catch {
    // None serves it, or what was written was cut off: then its command never went on.
    return {};
  }
}

function isServing(pid) {
  return pid !== undefined && pid !== process.pid && COMMAND.test(commandOf(pid));
}

/** The command line of a process, "" if there is none. */
function commandOf(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    if (fs.existsSync("/proc/self")) return "";
    return spawnSync("ps", ["-o", "command=", "-p", pid], { encoding: "utf8" }).stdout ?? "";
  }
}

async function endProcess(pid) {
  const deadline = Date.now() + END_WITHIN_MS;
  send(pid, "SIGTERM");
  while (commandOf(pid) && Date.now() < deadline) await sleep(POLL_MS);
  send(pid, "SIGKILL");
  while (commandOf(pid)) await sleep(POLL_MS);
}

function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
