/**
 * Imitates a machine with nothing installed: empty home folders of Rust, Cargo, npm and the user, a
 * PATH of chosen programs, and copies of the checkout. Settings that lead to the package registries
 * stay, since a user's machine has them too.
 */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { ROOT } from "./worker-modules.mjs";

/** Settings of npm that name a registry or the way to it. */
const REGISTRY_LINES = /^(?:(?:@[^:]+:)?registry|\/\/.*|.*proxy|ca|cafile) *=/;
/** Variables that an npm script or a Rust build around this test has set, or that point home. */
const LEFT_OUT = /^(?:npm_|RUSTUP_TOOLCHAIN|CARGO|RUSTFLAGS|XDG_|NODE_|INIT_CWD|CI$)/;
/** The variables among them that lead to a registry, and stay. */
const KEPT = /^(?:npm_config_.*(?:registry|proxy)|CARGO_(?:HTTP|NET|REG|SOURCE)|NODE_EXTRA_CA)/i;

/** Makes a folder for this test alone, which is removed at its end. */
export function testFolder(context) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "bare-machine-"));
  context.after(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Makes the environment of such a machine, with its home folders below `folder`. */
export function bareEnvironment(folder) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !LEFT_OUT.test(name) || KEPT.test(name),
  );
  const home = (name) => {
    const below = path.join(folder, name);
    fs.mkdirSync(below, { recursive: true });
    return below;
  };
  const env = {
    ...Object.fromEntries(kept),
    PATH: pathOfTheMachine(),
    HOME: home("home"),
    RUSTUP_HOME: home("rustup"),
    CARGO_HOME: home("cargo"),
    npm_config_cache: home("npm-cache"),
    RUSTUP_AUTO_INSTALL: "0",
    WRANGLER_SEND_METRICS: "false",
  };
  keepRegistries(env);
  return env;
}

/**
 * Copies the whole checkout to `to`, with what is not committed yet, and without anything built or
 * installed.
 */
export function copyCheckout(to) {
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { stdout } = spawnSync("git", list, { cwd: ROOT, encoding: "utf8" });
  for (const name of stdout.split("\0").filter(Boolean)) {
    const from = path.join(ROOT, name);
    if (!fs.existsSync(from)) continue;
    fs.mkdirSync(path.dirname(path.join(to, name)), { recursive: true });
    fs.copyFileSync(from, path.join(to, name));
  }
  return to;
}

/**
 * Makes a PATH with nothing but these programs, given by name as an absolute path or as the text of
 * a shell script.
 */
export function pathOf(folder, programs) {
  fs.mkdirSync(folder, { recursive: true });
  for (const [name, program] of Object.entries(programs)) {
    const file = path.join(folder, name);
    if (path.isAbsolute(program)) fs.symlinkSync(program, file);
    else fs.writeFileSync(file, `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  }
  return folder;
}

/** Returns the path of a program of this machine. */
export function programAt(name, searched = pathOfTheMachine()) {
  const places = searched.split(path.delimiter).map((folder) => path.join(folder, name));
  const found = places.find((file) => fs.existsSync(file));
  if (!found) throw new Error(`${name} is nowhere in ${searched}`);
  return found;
}

/** The PATH without the folders that npm and our own scripts add for the checkout's tools. */
function pathOfTheMachine() {
  const rustup = process.env.RUSTUP_HOME ?? path.join(os.homedir(), ".rustup");
  const isOfCheckout = (folder) =>
    folder.includes("node_modules") || folder.startsWith(path.join(rustup, "toolchains"));
  const folders = process.env.PATH.split(path.delimiter);
  return folders.filter((folder) => !isOfCheckout(folder)).join(path.delimiter);
}

function keepRegistries(env) {
  const ofUser = path.join(os.homedir(), ".npmrc");
  if (fs.existsSync(ofUser)) {
    const lines = fs.readFileSync(ofUser, "utf8").split("\n");
    const kept = lines.filter((line) => REGISTRY_LINES.test(line));
    fs.writeFileSync(path.join(env.HOME, ".npmrc"), `${kept.join("\n")}\n`);
  }
  const cargo = process.env.CARGO_HOME ?? path.join(os.homedir(), ".cargo");
  for (const name of ["config.toml", "credentials.toml"]) {
    const file = path.join(cargo, name);
    if (fs.existsSync(file)) fs.copyFileSync(file, path.join(env.CARGO_HOME, name));
  }
}
