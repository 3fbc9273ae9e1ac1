// Starts every npm script that needs tools: checks the machine, installs the pinned tools once,
// then runs the step. It uses nothing but Node; the step may use what was installed.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";

import { checkNode } from "./node-version.mjs";
import { addToPath, bringRust, isOlder } from "./rust.mjs";
import { stop } from "./stop.mjs";

const ROOT = path.join(import.meta.dirname ?? "", "..");
const STEPS = [
  "start",
  "test",
  "bench",
  "profile",
  "build",
  "visitors",
  "screenshots",
  "keep-previous",
  "mutants",
  "nightly",
  "object-cpu",
  "soak",
  "deploy",
  "serve",
  "rehearse",
  "rotate-keys",
  "release",
];
/** The steps that need no Rust at once: some bring it where there is something to build. */
const STEPS_WITHOUT_RUST = ["deploy", "serve", "rehearse", "rotate-keys"];
/**
 * The first Node, by major and minor version, that runs TypeScript without a build. The installed
 * tools include such a Node.
 */
const TOOLS_NODE_MIN = [22, 18];

/** How much the tools take on disk, in MB; in a release folder there are fewer. */
const TOOLS_MB = { checkout: 600, release: 420 };

const [step, ...rest] = process.argv.slice(2);
if (!STEPS.includes(step)) stop(`usage: node scripts/run.mjs <${STEPS.join("|")}>`);
checkNode();
process.chdir(ROOT);
const asksForHelp = rest.some((word) => ["--help", "-h"].includes(word));
if (step === "start" && !asksForHelp) await checkPort();
if (!STEPS_WITHOUT_RUST.includes(step) && !asksForHelp) bringRust();
install();
await run(step, rest);

async function checkPort() {
  const { PORT } = await import("./port.mjs");
  const problem = await new Promise((resolve) => {
    const probe = net.createServer().once("error", ({ code }) => resolve(code));
    probe.listen(PORT, "localhost", () => probe.close(() => resolve(undefined)));
  });
  if (!problem) return;
  const why = problem === "EADDRINUSE" ? "is in use" : `cannot be opened (${problem})`;
  stop(`port ${PORT} ${why}: choose another with \`PORT=8790 npm start\`, or end what runs there`);
}

/** Installs what package-lock.json names, unless the last run installed exactly that. */
function install() {
  const stampFile = path.join("node_modules", ".installed-from");
  const wanted = createHash("sha256").update(fs.readFileSync("package-lock.json")).digest("hex");
  if (fs.existsSync(stampFile) && fs.readFileSync(stampFile, "utf8") === wanted) return;
  const size = fs.existsSync("Cargo.toml") ? TOOLS_MB.checkout : TOOLS_MB.release;
  console.log(`Installing the JavaScript tools (once, about ${size} MB on disk) ...`);
  const npm = process.env.npm_execpath;
  const [command, first] = npm ? [process.execPath, [npm]] : ["npm", []];
  const { status } = spawnSync(command, [...first, "ci", "--loglevel=error"], { stdio: "inherit" });
  if (status !== 0) {
    stop(
      "npm could not install the JavaScript tools: its message stands above. Is it for want of a " +
        "network? It is needed this once; then run this again",
    );
  }
  fs.writeFileSync(stampFile, wanted);
}

async function run(name, parameters) {
  addToPath(path.resolve("node_modules", ".bin"), "front");
  addToPath(path.resolve("node_modules", "node", "bin"), "front");
  const { stdout } = spawnSync("node", ["--version"], { encoding: "utf8" });
  const version = stdout.trim().slice(1);
  if (isOlder(version, TOOLS_NODE_MIN)) {
    stop(
      `the tools need Node ${TOOLS_NODE_MIN.join(".")}, found ${version}: npm was to install one ` +
        "for this folder (is `ignore-scripts` set?), or install a newer from https://nodejs.org",
    );
  }
  const child = spawn("node", [path.join("scripts", `${name}.mjs`), ...parameters], {
    stdio: "inherit",
  });
  // A terminal sends Ctrl-C to the child as well, which ends in its own time; wait for it.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("exit", (code) => process.exit(code ?? 1));
}
