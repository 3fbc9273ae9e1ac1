// Runs a command of the suite and keeps what it says.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";

const STAT = "/proc/self/stat";
/** The fields of `stat` behind the name: what ended children used, in user and kernel mode. */
const [ENDED_USER, ENDED_KERNEL] = [13, 14];
/** The ticks of a second in `stat`; 100 on every usual Linux. */
const TICKS = 100;

/** The CPU time of the ended commands that was told, in seconds. */
let toldCpuSeconds = 0;

/**
 * Runs a command; resolves with its exit code, its output, which is not shown, and the CPU time of
 * all its processes in seconds (NaN where no `/proc` tells it). A `priority` is a niceness, as
 * `os.setPriority` takes it. A command that takes longer than `timeoutMs` is ended, and has failed.
 */
export function runCommand([program, ...parameters], environment = {}, priority = 0, timeoutMs) {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMs,
      env: { ...process.env, CARGO_TERM_COLOR: "never", ...environment },
    });
    if (priority !== 0 && child.pid !== undefined) os.setPriority(child.pid, priority);
    let output = "";
    let cpuSeconds = NaN;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk) => (output += chunk));
    }
    child.on("exit", () => (cpuSeconds = cpuSecondsSinceLast()));
    child.on("error", (error) => resolve({ code: 1, output: `${output}${error}\n`, cpuSeconds }));
    child.on("close", (code) => resolve({ code: code ?? 1, output, cpuSeconds }));
  });
}

/** What the commands used that ended since the last call: mostly one, which has just ended. */
function cpuSecondsSinceLast() {
  if (!fs.existsSync(STAT)) return NaN;
  const text = fs.readFileSync(STAT, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const all = (Number(fields[ENDED_USER]) + Number(fields[ENDED_KERNEL])) / TICKS;
  const since = all - toldCpuSeconds;
  toldCpuSeconds = all;
  return since;
}
