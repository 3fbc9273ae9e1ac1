// Runs the pinned wrangler of node_modules, and says what to do about its errors.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { stop } from "../stop.mjs";

const ROOT = path.join(import.meta.dirname, "..", "..");
/** wrangler's program, to be run by this Node. */
export const WRANGLER = path.join(ROOT, "node_modules", "wrangler", "bin", "wrangler.js");

/** What Cloudflare's codes mean for an owner. */
const REMEDIES = [
  [10_000, "the token may not do this: docs/deploy.md lists its permissions"],
  [10_020, "the route belongs to another Worker: remove it there, in the zone's Workers Routes"],
  [10_021, "Cloudflare does not run this code: its message above says where"],
  [10_027, "the Worker is larger than this plan allows: 3 MB on Workers Free, 10 MB on Paid"],
  [10_037, "the account has as many Workers as its plan allows: delete one, or change the plan"],
  [10_097, "Durable Objects need SQLite classes on this plan: take wrangler.toml as it was"],
  [10_013, "an error inside Cloudflare: run the command again, it goes on where it ended"],
];

export function wranglerEnvironment(account) {
  return {
    ...process.env,
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_HIDE_BANNER: "true",
    ...(account && { CLOUDFLARE_ACCOUNT_ID: account }),
  };
}

export function checkWrangler() {
  if (fs.existsSync(WRANGLER)) return;
  stop("wrangler is not installed: run `npm ci` in this folder");
}

/**
 * Runs wrangler and returns what it said; ends the process with a remedy if it failed. `input` is
 * what it reads, so that no secret is ever a parameter that other users of the machine can see.
 * `onFailure` is called before the end.
 */
export async function wrangler(account, parameters, { input = "", shows = true, onFailure } = {}) {
  const { code, output } = await run(account, parameters, input, shows);
  if (code === 0) return output;
  // Whatever cannot be asked now is as it was.
  await onFailure?.().catch(() => {});
  if (!shows) process.stdout.write(output);
  const codes = [...output.matchAll(/\[code: (\d+)\]/g)].map(([, number]) => Number(number));
  const [, remedy] = REMEDIES.find(([number]) => codes.includes(number)) ?? [];
  stop(
    `wrangler ${parameters[0]} failed: ${remedy ?? "its message stands above"}. Run the same ` +
      "command again then: it goes on where it ended",
  );
}

function run(account, parameters, input, shows) {
  const child = spawn(process.execPath, [WRANGLER, ...parameters], {
    cwd: ROOT,
    env: wranglerEnvironment(account),
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.end(input);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      if (shows) process.stdout.write(text);
    });
  }
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, output })));
}
