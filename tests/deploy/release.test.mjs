/**
 * The release folder of `npm run release`: it deploys by itself where there is no Rust, and is what
 * Cloudflare's deploy button needs.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";

import { Deployer, FIRST } from "../harness/deployer.mjs";
import { read as document } from "../harness/documents.mjs";
import { OwnServer } from "../harness/own-server.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

/** Longer than any takes on a slow machine: a hanging command still ends the run. */
const ALL = { timeout: 600_000 };
const NAME = "waiting-room";
let root;

before(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), "release-"));
  const parameters = ["scripts/release.mjs", "--no-build", "--folder", root];
  const { status, stderr } = spawnSync(process.execPath, parameters, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
});
after(() => fs.rmSync(root, { recursive: true, force: true }));

test("it has what it needs, pinned, and nothing of Rust or of secrets", ALL, () => {
  const { devDependencies, scripts } = JSON.parse(read("package.json"));
  const { packages } = JSON.parse(read("package-lock.json"));
  const whole = JSON.parse(fs.readFileSync(path.join(ROOT, "package-lock.json"), "utf8")).packages;
  assert.deepEqual(Object.keys(devDependencies), ["wrangler"]);
  for (const [name, { version, integrity }] of Object.entries(packages).slice(1)) {
    assert.deepEqual([version, integrity], [whole[name].version, whole[name].integrity], name);
  }
  assert.ok(packages["node_modules/wrangler"] && !packages["node_modules/playwright-core"]);
  for (const command of Object.values(scripts)) {
    const [, file, step] = command.split(" ");
    assert.ok(fs.existsSync(path.join(root, file)), command);
    if (file.endsWith("run.mjs")) assert.ok(fs.existsSync(path.join(root, `scripts/${step}.mjs`)));
  }
  assert.doesNotMatch(read("wrangler.toml"), /\[build\]|wrangler-build/);
  assert.match(read("wrangler.toml"), /^\[observability\]$/m);
  for (const name of ["Cargo.toml", ".dev.vars", "production"]) {
    assert.ok(!fs.existsSync(path.join(root, name)), name);
  }
  // The button fills in what is no comment.
  assert.match(read(".dev.vars.example"), /^(?:#.*\n|\n)+$/);
});

test("the tools take as much of the disk as is told", ALL, () => {
  const text = read("scripts/run.mjs");
  const [, ...told] = /TOOLS_MB = \{ checkout: (\d+), release: (\d+) \}/.exec(text);
  for (const [at, folder] of [ROOT, root].entries()) {
    const { packages } = JSON.parse(fs.readFileSync(path.join(folder, "package-lock.json")));
    const size = Math.round(megabytesOf(Object.keys(packages)));
    const isNear = Math.abs(size - told[at]) < told[at] / 10;
    assert.ok(isNear, `${size} MB, and ${told[at]} are told`);
  }
});

test("its manual leads to nothing that is missing, and the origin lock is there", () => {
  const all = fs.readdirSync(root, { recursive: true });
  const pages = all.filter((name) => name.endsWith(".md") && !name.includes("node_modules"));
  const links = pages.flatMap((page) =>
    document(page, read(page)).links.map((link) => [page, link.split("#")[0]]),
  );
  const relative = links.filter(([, link]) => link !== "" && !/^https?:/.test(link));
  const isDead = ([page, link]) => !fs.existsSync(path.join(root, path.dirname(page), link));
  assert.ok(relative.length > 100, `only ${relative.length} links`);
  assert.deepEqual(relative.filter(isDead), []);
  for (const [, file] of read("docs/origin-lock.md").matchAll(/`(examples\/[\w/.-]+)`/g)) {
    assert.ok(fs.existsSync(path.join(root, file)), file);
  }
});

test("it deploys where there is no Rust", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  deployer.account.addShop();
  const { code, said } = await deployer.deploy(FIRST, { root: installed(), vars: { PATH: "" } });
  assert.equal(code, 0, said);
  assert.ok(said.includes("The room is live."), said);
  const again = await deployer.deploy([], { root, vars: { PATH: "" } });
  assert.ok(again.said.includes("nothing was uploaded"), again.said);
});

test("it serves on its owner's machine where there is no Rust", ALL, async (context) => {
  const server = await OwnServer.make(context, { root: installed() });
  await server.start({}, { PATH: "" });
  const { headers } = await server.send("own", { host: "shop.example" });
  assert.equal(headers["x-origin"], "1");
  assert.match(headers["set-cookie"][0], /^__cfwaitingroom=/);
  for (const [, file] of read("docs/own-machines.md").matchAll(/`(examples\/[\w/.-]+)`/g)) {
    assert.ok(fs.existsSync(path.join(root, file)), file);
  }
});

test("rooms of rooms.json are deployed, each host with a whole route", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  const { account } = deployer;
  const zone = account.addShop();
  const rooms = path.join(installed(), "rooms.json");
  const shipped = fs.readFileSync(rooms);
  context.after(() => fs.writeFileSync(rooms, shipped));
  const [demo] = JSON.parse(shipped);
  const places = { host: "shop.example", path: "/Sale", cookie_suffix: "shop" };
  const additional_routes = [{ host: "www.shop.example", path: "/" }];
  const own = { ...demo, ...places, id: "c".repeat(32), additional_routes };
  fs.writeFileSync(rooms, JSON.stringify([demo, own]));
  const host = ["--host", "shop.example"];
  const wrong = await deployer.deploy(host, { root });
  assert.ok(wrong.said.includes(`must be that of shop.example: ${zone.id}`), wrong.said);

  fs.writeFileSync(rooms, JSON.stringify([demo, { ...own, zone_id: zone.id }]));
  const both = await deployer.deploy(FIRST, { root });
  assert.ok(both.said.includes("write their limits there"), both.said);
  const { code, said } = await deployer.deploy(host, { root });
  assert.equal(code, 0, said);
  const patterns = account.routes.map(({ pattern }) => pattern);
  assert.deepEqual(patterns, ["shop.example/*", "www.shop.example/*"]);
  assert.deepEqual(deployer.json("rooms.json").map(({ id }) => id), [own.id]);
});

test("Cloudflare's own build deploys it and asks nothing", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  const { account } = deployer;
  const vars = { PATH: "", WORKERS_CI: "1", CLOUDFLARE_ACCOUNT_ID: account.accounts[0].id };
  const { code, said } = await deployer.run("deploy", [], { root: installed(), vars });
  assert.equal(code, 0, said);
  const [{ metadata }] = account.workers.get(NAME).versions;
  const text = (name) => metadata.bindings.find((one) => one.name === name)?.text;
  assert.deepEqual([text("ZONES"), text("TICKET_KEYS")], ["", undefined]);
  assert.deepEqual([account.routes, account.domains], [[], []]);
  assert.ok(!fs.existsSync(deployer.file("")));
});

/** The size of these packages as they are installed in this checkout; links count once. */
function megabytesOf(packages) {
  const isWhole = (name) => /^node_modules\/(?!.*node_modules)/.test(name);
  const folders = packages.filter(isWhole).map((name) => path.join(ROOT, name));
  const options = { recursive: true, withFileTypes: true };
  const files = folders.filter(fs.existsSync).flatMap((one) => fs.readdirSync(one, options));
  const sizes = new Map();
  for (const file of files.filter((one) => one.isFile())) {
    const { ino, size } = fs.statSync(path.join(file.parentPath, file.name));
    sizes.set(ino, size);
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0) / 1e6;
}

/** Gives the release the tools of this checkout, which are the same, instead of `npm ci`. */
function installed() {
  const tools = path.join(root, "node_modules");
  if (!fs.existsSync(tools)) fs.symlinkSync(path.join(ROOT, "node_modules"), tools);
  return root;
}

function read(name) {
  return fs.readFileSync(path.join(root, name), "utf8");
}
