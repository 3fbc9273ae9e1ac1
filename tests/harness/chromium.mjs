/**
 * Finds a real Chromium on this machine, and starts it without its background traffic. It downloads
 * no browser.
 */

import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

// An import of what is CommonJS would first search all of it for the names that it exports.
const { chromium } = createRequire(import.meta.url)("playwright-core");

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const HINT = "no Chromium (Debian: apt-get install chromium; or set CHROMIUM to its path)";
/** Switches off what Chromium loads by itself: tests open pages of this machine alone. */
const FLAGS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** Whether Chromium uses its sandbox. It cannot for the superuser, as whom CI often runs. */
const SANDBOX = process.getuid?.() !== 0;

let found;

/** Says why no Chromium can be started here; `undefined` if one can. */
export function chromiumMissing() {
  found ??= [process.env.CHROMIUM, ...NAMES].find(
    (name) => name && spawnSync(name, ["--version"]).status === 0,
  );
  return found ? undefined : HINT;
}

/**
 * Starts a headless browser with an empty profile. Its contexts share no cookie.
 *
 * @param {string[]} [flags] of Chromium
 * @param {string[]} [ignoreDefaultArgs] flags of playwright's that it is to go without
 * @param {object} [variables] of the environment, beside those of this process
 */
export async function launchChromium(flags = [], ignoreDefaultArgs = [], variables = {}) {
  const missing = chromiumMissing();
  if (missing) throw new Error(missing);
  // playwright does not search the PATH.
  const executablePath = found.includes("/") ? found : pathOf(found);
  const args = [...FLAGS, ...flags];
  const env = { ...process.env, ...variables };
  return chromium.launch({
    executablePath, args, chromiumSandbox: SANDBOX, ignoreDefaultArgs, env,
  });
}

function pathOf(name) {
  return spawnSync("which", [name], { encoding: "utf8" }).stdout.trim();
}
