/**
 * What the first command says on a machine that lacks something: one sentence at the end that names
 * it and what to do, and no stack trace. Nothing is installed here; tests/bare does that.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";

import {
  bareEnvironment,
  copyCheckout,
  pathOf,
  programAt,
  testFolder,
} from "../harness/bare-machine.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const TIMEOUT_MS = 120_000;
/** Nobody listens there, so a way to the network that leads through it ends at once. */
const NOWHERE = "http://127.0.0.1:9";
const NO_NETWORK = {
  RUSTUP_DIST_SERVER: NOWHERE,
  HTTPS_PROXY: NOWHERE,
  https_proxy: NOWHERE,
  CARGO_HTTP_PROXY: NOWHERE,
  CARGO_NET_RETRY: "0",
  npm_config_registry: NOWHERE,
  npm_config_https_proxy: NOWHERE,
  npm_config_fetch_retries: "0",
};
/** Takes from Node what its first versions lack. */
const OLDER_NODE = 'import util from "node:util"; delete util.parseEnv;';

check("with a Node that is too old", "is too old: install Node 20.12, 22 or newer", {
  vars: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(OLDER_NODE)}` },
});
check("without rustup", "Rust is missing: install it with rustup from https://rustup.rs", {
  programs: {},
});
check("with a rustup that reads no rust-toolchain.toml", "rustup 1.20 is too old for Rust 1", {
  programs: { rustup: 'echo "rustup 1.20.2 (13979c968 2019-10-16)"' },
});
check("with a rustup of no known version", "rustup could not install clippy", {
  programs: { rustup: "echo rustup next" },
});
check("with nothing of Rust and no network", "rustup could not install Rust 1.", {
  programs: { rustup: programAt("rustup") },
  vars: NO_NETWORK,
});
check("without a C compiler", "a C compiler is missing (`cc`): install one on Debian", {
  programs: { rustup: programAt("rustup") },
  vars: ownRust(),
});
check("with a C compiler alone", "links no program (cannot find Scrt1.o): install it whole", {
  programs: { rustup: programAt("rustup"), cc: "echo cannot find Scrt1.o >&2; exit 1" },
  vars: ownRust(),
});
check("with Rust, without its libraries and a network", "cargo could not fetch the Rust libr", {
  vars: { ...ownRust(), ...NO_NETWORK },
});
check("with Rust, without the JavaScript tools and a network", "npm could not install the Java", {
  vars: { ...ownRust(), ...ownLibraries(), ...NO_NETWORK },
});
check("with a port that is no number", '1 to 65535, but is "abc": PORT=8790 npm start', {
  vars: { PORT: "abc" },
});
check("with a port beyond all ports", "PORT must be a whole number from 1 to 65535", {
  vars: { PORT: "65536" },
});

test("npm start on a port in use", { timeout: TIMEOUT_MS }, async (context) => {
  const server = net.createServer();
  context.after(() => server.close());
  await new Promise((listening) => server.listen(0, "localhost", listening));
  const { port } = server.address();
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, ["scripts/run.mjs", "start"], { cwd: ROOT, env });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.equal(code, 1);
  assert.equal(lastLine(said).startsWith(`port ${port} is in use: choose another`), true, said);
});

test("another cargo in the PATH builds nothing", { timeout: TIMEOUT_MS }, (context) => {
  const folder = testFolder(context);
  const other = pathOf(path.join(folder, "bin"), { cargo: "echo cargo 1.0.0", rustc: "exit 1" });
  const script = `
    import { spawnSync } from "node:child_process";
    import { bringRust } from ${JSON.stringify(path.join(ROOT, "scripts", "rust.mjs"))};
    bringRust();
    process.stdout.write(spawnSync("cargo", ["--version"], { encoding: "utf8" }).stdout);`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...process.env, PATH: `${other}${path.delimiter}${process.env.PATH}` },
  });
  const [, wanted] = /^channel = "(.+)"$/m.exec(
    fs.readFileSync(path.join(ROOT, "rust-toolchain.toml"), "utf8"),
  );
  assert.ok(lastLine(stdout).startsWith(`cargo ${wanted} `), `${stdout}${stderr}`);
});

/** `npm start` ends with a line that begins with `sentence`, and installs nothing. */
function check(name, sentence, { programs, vars }) {
  test(`npm start ${name}`, { timeout: TIMEOUT_MS }, (context) => {
    const folder = testFolder(context);
    const checkout = copyCheckout(path.join(folder, "checkout"));
    const env = bareEnvironment(folder);
    if (programs) env.PATH = pathOf(path.join(folder, "bin"), programs);
    const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/run.mjs", "start"], {
      cwd: checkout,
      encoding: "utf8",
      env: { ...env, ...vars },
    });
    assert.equal(status, 1, `${stdout}${stderr}`);
    assert.ok(lastLine(stderr).includes(sentence), `${stdout}${stderr}`);
    assert.doesNotMatch(stderr, /^ +at .*\.m?js:\d+/m, "a stack trace of ours");
    assert.ok(!fs.existsSync(path.join(checkout, "target")), "something was built");
  });
}

function lastLine(text) {
  return text.trimEnd().split("\n").at(-1).trim();
}

/** The Rust that this test itself was started with. */
function ownRust() {
  return { RUSTUP_HOME: process.env.RUSTUP_HOME ?? path.join(os.homedir(), ".rustup") };
}

function ownLibraries() {
  return { CARGO_HOME: process.env.CARGO_HOME ?? path.join(os.homedir(), ".cargo") };
}
