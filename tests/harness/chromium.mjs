/**
 * A real Chromium, found on this machine and driven without its background traffic. It knows
 * nothing of waiting rooms and downloads no browser.
 */

import { spawnSync } from "node:child_process";

import { chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const HINT = "no Chromium (Debian: apt-get install chromium; or set CHROMIUM to its path)";
/** Tests open pages of this machine alone; Chromium's own errands would fail, or find a network. */
const FLAGS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** Chromium's sandbox refuses to work for the superuser, as whom CI and containers often run. */
const SANDBOX = process.getuid?.() !== 0;

let found;

/** Why no Chromium can be started here, or `undefined` if one can. */
export function chromiumMissing() {
  found ??= [process.env.CHROMIUM, ...NAMES].find(
    (name) => name && spawnSync(name, ["--version"]).status === 0,
  );
  return found ? undefined : HINT;
}

/** A headless browser with an empty profile. Its contexts share no cookie. */
export async function launchChromium(flags = []) {
  const missing = chromiumMissing();
  if (missing) throw new Error(missing);
  // playwright looks in no PATH.
  const executablePath = found.includes("/") ? found : pathOf(found);
  return chromium.launch({ executablePath, args: [...FLAGS, ...flags], chromiumSandbox: SANDBOX });
}

function pathOf(name) {
  return spawnSync("which", [name], { encoding: "utf8" }).stdout.trim();
}
