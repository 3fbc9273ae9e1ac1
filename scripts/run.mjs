// Starts every npm script that needs tools: checks the machine, installs the pinned ones once, then
// runs the step. It uses nothing but Node 20 or newer; what it starts may use what it installs.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";

const ROOT = path.join(import.meta.dirname ?? "", "..");
const STEPS = ["start", "test", "bench", "build", "visitors", "screenshots"];
const NODE_MIN = [20, 11];
/** What wrangler and Miniflare ask for; the installed tools bring such a Node along. */
const TOOLS_NODE_MIN = [22, 12];
const WINDOWS = process.platform === "win32";

const [step, ...rest] = process.argv.slice(2);
if (!STEPS.includes(step)) stop(`usage: node scripts/run.mjs <${STEPS.join("|")}>`);
process.chdir(ROOT);
checkNode();
addToPath(path.join(os.homedir(), ".cargo", "bin"), "end");
checkRust();
if (step === "start") await checkPort();
install();
await run(step, rest);

function checkNode() {
  if (isOlder(process.versions.node, NODE_MIN)) {
    stop(
      `Node ${process.versions.node} is too old: install Node 20 or newer from https://nodejs.org`,
    );
  }
}

function checkRust() {
  if (!works("rustup", ["--version"])) {
    stop(
      "Rust is missing: install it with rustup from https://rustup.rs, then open a new terminal",
    );
  }
  // The first call in this folder makes rustup install the toolchain of rust-toolchain.toml.
  if (!works("cargo", ["--version"], "inherit")) {
    stop("cargo does not work here: see the message above, or run `rustup toolchain install`");
  }
  if (!WINDOWS && !works("cc", ["--version"])) {
    stop(
      "the linker `cc` is missing: on Debian or Ubuntu `sudo apt-get install build-essential`, " +
        "on macOS `xcode-select --install`",
    );
  }
}

async function checkPort() {
  const port = Number(process.env.PORT ?? 8787);
  const isFree = await new Promise((resolve) => {
    const probe = net.createServer().once("error", () => resolve(false));
    probe.listen(port, "localhost", () => probe.close(() => resolve(true)));
  });
  if (!isFree) {
    stop(
      `port ${port} is in use: end what runs there, or choose another with \`PORT=8790 npm start\``,
    );
  }
}

/** Installs what package-lock.json names, unless the last run installed exactly that. */
function install() {
  const stampFile = path.join("node_modules", ".installed-from");
  const wanted = createHash("sha256").update(fs.readFileSync("package-lock.json")).digest("hex");
  if (fs.existsSync(stampFile) && fs.readFileSync(stampFile, "utf8") === wanted) return;
  console.log("Installing the JavaScript tools (once, about 430 MB) ...");
  const npm = process.env.npm_execpath;
  const [command, first] = npm ? [process.execPath, [npm]] : ["npm", []];
  const { status } = spawnSync(command, [...first, "ci", "--loglevel=error"], { stdio: "inherit" });
  if (status !== 0) stop("npm ci failed: see the message above");
  fs.writeFileSync(stampFile, wanted);
}

async function run(name, parameters) {
  addToPath(path.resolve("node_modules", ".bin"), "front");
  addToPath(path.resolve("node_modules", "node", "bin"), "front");
  const { stdout } = spawnSync("node", ["--version"], { encoding: "utf8" });
  const version = stdout.trim().slice(1);
  if (isOlder(version, TOOLS_NODE_MIN)) {
    stop(
      `the tools need Node 22.12, found ${version}: install a newer one from https://nodejs.org`,
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

function works(command, parameters, stderr = "ignore") {
  return spawnSync(command, parameters, { stdio: ["ignore", "ignore", stderr] }).status === 0;
}

function addToPath(folder, end) {
  const parts = [process.env.PATH];
  if (end === "front") parts.unshift(folder);
  else parts.push(folder);
  process.env.PATH = parts.join(path.delimiter);
}

function isOlder(version, [major, minor]) {
  const [itsMajor, itsMinor] = version.split(".").map(Number);
  return itsMajor < major || (itsMajor === major && itsMinor < minor);
}

function stop(line) {
  console.error(`\n  ${line}\n`);
  process.exit(1);
}
