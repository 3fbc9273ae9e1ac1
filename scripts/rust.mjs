// Makes sure that this checkout can be built: checks rustup and the linker, and installs the
// toolchain of rust-toolchain.toml and the libraries of Cargo.lock. `npm` comes here by run.mjs,
// wrangler by wrangler-build.mjs. It uses nothing but Node.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { stop } from "./stop.mjs";

const WINDOWS = process.platform === "win32";
/** The first rustup, by major and minor version, that reads a file named rust-toolchain.toml. */
const RUSTUP_MIN = [1, 24];
/** The C program with which the linker is tried. */
const SMALLEST_PROGRAM = "int main(void) { return 0; }\n";
const LINKER_FROM =
  "on Debian or Ubuntu by `sudo apt-get install build-essential`, on Fedora by " +
  "`sudo dnf install gcc`, on macOS by `xcode-select --install`";

/** Installs what is missing, with a line for each; ends the process where that cannot be done. */
export function bringRust() {
  const wanted = wantedToolchain();
  const cargoHome = process.env.CARGO_HOME ?? path.join(os.homedir(), ".cargo");
  addToPath(path.join(cargoHome, "bin"), "end");
  checkRustup(wanted);
  const missing = missingParts(wanted);
  if (missing.names.length > 0) install(wanted, missing);
  usePinned(wanted);
  checkLinker();
  fetchLibraries(wanted);
}

/** Adds `folder` to the PATH: before all others if `end` is "front", otherwise behind them. */
export function addToPath(folder, end) {
  const parts = [process.env.PATH];
  if (end === "front") parts.unshift(folder);
  else parts.push(folder);
  process.env.PATH = parts.join(path.delimiter);
}

/** True if `version`, like "1.24.0", is older than this major and minor version. */
export function isOlder(version, [major, minor]) {
  const [itsMajor, itsMinor] = version.split(".").map(Number);
  return itsMajor < major || (itsMajor === major && itsMinor < minor);
}

/**
 * Reads what rust-toolchain.toml names. Node has no reader of TOML, and these few lines need none.
 */
function wantedToolchain() {
  const text = fs.readFileSync("rust-toolchain.toml", "utf8");
  const value = (name) => new RegExp(`^${name} *= *(.+)$`, "m").exec(text)?.[1] ?? "";
  const texts = (name) => [...value(name).matchAll(/"([^"]+)"/g)].map(([, one]) => one);
  const [channel] = texts("channel");
  return { channel, components: texts("components"), targets: texts("targets") };
}

function checkRustup({ channel }) {
  const { status, stdout } = ask("rustup", "--version");
  if (status !== 0) {
    stop(
      "Rust is missing: install it with rustup from https://rustup.rs, then open a new terminal",
    );
  }
  const [, version] = /^rustup (\d+\.\d+)/.exec(stdout) ?? [];
  if (version && isOlder(version, RUSTUP_MIN)) {
    stop(
      `rustup ${version} is too old for Rust ${channel}: run \`rustup self update\`, or get the ` +
        `present one from https://rustup.rs (${RUSTUP_MIN.join(".")} or newer)`,
    );
  }
}

/** Finds what of the toolchain is missing: all of it, or some components and targets. */
function missingParts({ channel, components, targets }) {
  const { status, stdout } = ask("rustup", "component", "list", "--installed", toolchain(channel));
  if (status !== 0) return { names: [`Rust ${channel}`], isWhole: true, components, targets };
  const installed = stdout.split(/\r?\n/);
  // A component that depends on the machine is listed with its name: `clippy-x86_64-...`.
  const isThere = (name) => installed.some((one) => one === name || one.startsWith(`${name}-`));
  const missing = {
    components: components.filter((name) => !isThere(name)),
    targets: targets.filter((name) => !installed.includes(`rust-std-${name}`)),
  };
  return { ...missing, names: [...missing.components, ...missing.targets], isWhole: false };
}

function install(wanted, { names, isWhole, components, targets }) {
  console.log(`Installing ${names.join(", ")} with rustup (once) ...`);
  // To a toolchain that is there, only what is missing is added.
  const add = (what, parts) =>
    parts.length === 0 || show("rustup", what, "add", toolchain(wanted.channel), ...parts);
  const isDone =
    (!isWhole || installWhole(wanted)) && add("component", components) && add("target", targets);
  if (isDone && missingParts(wanted).names.length === 0) return;
  stop(
    `rustup could not install ${names.join(", ")}: its message stands above. Is it for want of ` +
      "a network? It is needed this once, or a mirror in RUSTUP_DIST_SERVER; then run this again",
  );
}

function installWhole({ channel }) {
  const options = ["--profile", "minimal", "--no-self-update"];
  return show("rustup", "toolchain", "install", channel, ...options);
}

/** Puts the pinned cargo first in the PATH: another one there would build with another Rust. */
function usePinned({ channel }) {
  const { stdout } = ask("rustup", "which", toolchain(channel), "cargo");
  addToPath(path.dirname(stdout.trim()), "front");
  process.env.RUSTUP_TOOLCHAIN = channel;
}

/**
 * Lets the C compiler link a program. One without the files of the C library can be found, but
 * would fail minutes later.
 */
function checkLinker() {
  // On Windows Rust finds Microsoft's linker by itself.
  if (WINDOWS) return;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "waiting-room-linker-"));
  const parameters = ["-x", "c", "-", "-o", path.join(folder, "program")];
  const linked = spawnSync("cc", parameters, { input: SMALLEST_PROGRAM, encoding: "utf8" });
  fs.rmSync(folder, { recursive: true, force: true });
  // A status is there whenever it ran; an `error` may only say that it did not read its input.
  if (linked.status === null) stop(`a C compiler is missing (\`cc\`): install one ${LINKER_FROM}`);
  if (linked.status === 0) return;
  const [why] = linked.stderr.trim().split("\n");
  stop(`the C compiler \`cc\` links no program (${why}): install it whole, ${LINKER_FROM}`);
}

/** Fetches all libraries at once, so that no build stops halfway for want of a network. */
function fetchLibraries({ targets }) {
  const [, host] = /^host: (\S+)/m.exec(ask("rustc", "-vV").stdout) ?? [];
  const platforms = [...targets, host].flatMap((name) => ["--target", name]);
  const fetch = ["fetch", "--locked", ...platforms];
  if (ask("cargo", ...fetch, "--offline").status === 0) return;
  console.log("Fetching the Rust libraries (once) ...");
  if (show("cargo", ...fetch, "--quiet")) return;
  stop(
    "cargo could not fetch the Rust libraries of Cargo.lock: its message stands above. Is it for " +
      "want of a network? It is needed this once; then run this again",
  );
}

function toolchain(channel) {
  return `--toolchain=${channel}`;
}

/** Runs a command that installs nothing, and returns its status and output. */
function ask(command, ...parameters) {
  const env = { ...process.env, RUSTUP_AUTO_INSTALL: "0" };
  const { status, stdout } = spawnSync(command, parameters, { encoding: "utf8", env });
  return { status, stdout: stdout ?? "" };
}

/** Runs a command and shows its progress; true if it succeeded. */
function show(command, ...parameters) {
  return spawnSync(command, parameters, { stdio: ["ignore", "ignore", "inherit"] }).status === 0;
}
