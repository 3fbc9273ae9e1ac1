// Runs a command of the suite and keeps what it says.
import { spawn } from "node:child_process";
import os from "node:os";

/**
 * Runs a command; resolves with its exit code and its output, which is not shown. A `priority` is a
 * niceness, as `os.setPriority` takes it. A command that takes longer than `timeoutMs` is ended,
 * and has failed.
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
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk) => (output += chunk));
    }
    child.on("error", (error) => resolve({ code: 1, output: `${output}${error}\n` }));
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
