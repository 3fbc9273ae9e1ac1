/**
 * A deploy that would take the site down does not happen: rooms and variables that the Worker would
 * refuse are never uploaded, and a room whose line would be lost is asked for first.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";

import { Deployer, FIRST } from "../harness/deployer.mjs";
import { send } from "../harness/http.mjs";
import { ORIGIN_SAYS } from "../harness/uploaded-worker.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

/** Longer than any takes on a slow machine: a hanging command still ends the run. */
const ALL = { timeout: 600_000 };
const SECOND_HOST = { additional_routes: [{ host: "www.shop.example", path: "/" }] };
const WITHOUT_SUFFIX = "/0/cookie_suffix: is required when there are additional_routes (1107)";
let release;

before(() => {
  release = fs.mkdtempSync(path.join(os.tmpdir(), "refused-"));
  const parameters = ["scripts/release.mjs", "--no-build", "--folder", release];
  const { status, stderr } = spawnSync(process.execPath, parameters, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  fs.symlinkSync(path.join(ROOT, "node_modules"), path.join(release, "node_modules"));
});
after(() => fs.rmSync(release, { recursive: true, force: true }));

test("a second host without a cookie_suffix, in a checkout", ALL, async (context) => {
  await secondHost(await live(context, ROOT), ROOT);
});

test("what a release folder would take down", ALL, async (context) => {
  // Each deploy takes seconds of a processor, so all start from one live site.
  const deployer = await live(context, release);
  await context.test("a second host without a cookie_suffix, in a release folder", ALL, () =>
    secondHost(deployer, release),
  );
  await context.test("a secret and variables that the Worker would refuse", ALL, (part) =>
    secretAndVariables(deployer, part),
  );
  await context.test("a deployed room that would go is asked for first", ALL, (part) =>
    roomThatGoes(deployer, part),
  );
});

async function secondHost(deployer, root) {
  const [room] = deployer.json("rooms.json");
  write(deployer, "rooms.json", [{ ...room, ...SECOND_HOST }]);
  const said = await refused(deployer, [], { root, vars: { PATH: "" } });
  assert.ok(said.includes(`rooms.json: ${WITHOUT_SUFFIX}`), said);
  assert.ok(said.includes(deployer.file("rooms.json")), said);

  write(deployer, "rooms.json", [{ ...room, ...SECOND_HOST, cookie_suffix: "shop" }]);
  const mended = await deployer.deploy([], { root });
  assert.equal(mended.code, 0, mended.said);
  assert.equal((await visit(deployer, "www.shop.example")).body, ORIGIN_SAYS);
}

async function secretAndVariables(deployer, context) {
  const secrets = deployer.json("secrets.json");
  write(deployer, "secrets.json", { ...secrets, TICKET_KEYS: "hush" });
  const said = await refused(deployer, [], { root: release });
  assert.match(said, /TICKET_KEYS: key 1 is not 32 bytes/);
  assert.ok(!said.includes("hush"), "secrets are in no log");
  write(deployer, "secrets.json", secrets);
  const file = path.join(release, "wrangler.toml");
  const shipped = fs.readFileSync(file, "utf8");
  context.after(() => fs.writeFileSync(file, shipped));
  const changed = shipped.replace('ORIGIN_URL = ""', 'ORIGIN_URL = "shop"');
  fs.writeFileSync(file, changed.replace('ON_FAILURE = "hold"', 'ON_FAILURE = "Pass"'));
  assert.match(await refused(deployer, [], { root: release }), /ORIGIN_URL: must be an address/);
  // What holds up no visit is told, and deployed.
  fs.writeFileSync(file, shipped.replace('ON_FAILURE = "hold"', 'ON_FAILURE = "Pass"'));
  const told = await deployer.deploy([], { root: release });
  assert.equal(told.code, 0, told.said);
  assert.match(told.said, /Beware: ON_FAILURE: must be hold or pass/);
}

async function roomThatGoes(deployer, context) {
  const file = path.join(release, "rooms.json");
  const shipped = fs.readFileSync(file, "utf8");
  context.after(() => fs.writeFileSync(file, shipped));
  const [made] = deployer.json("rooms.json");
  const own = { ...made, name: "shop", id: "c".repeat(32) };
  fs.writeFileSync(file, JSON.stringify([own]));
  const question = `Deploy without "shop-example" (id ${made.id})?`;
  assert.ok((await refused(deployer, [], { root: release }, "add --yes")).includes(question));
  const no = { root: release, answers: [["Deploy without", "n"]] };
  await refused(deployer, [], no, "nothing was changed");
  assert.deepEqual(deployer.json("rooms.json"), [made]);
  // Under the same id its line goes on, so there is nothing to ask.
  fs.writeFileSync(file, JSON.stringify([{ ...own, id: made.id }]));
  const same = await deployer.deploy([], { root: release });
  assert.equal(same.code, 0, same.said);
  fs.writeFileSync(file, JSON.stringify([own]));
  const agreed = await deployer.deploy(["--yes"], { root: release });
  assert.equal(agreed.code, 0, agreed.said);
  assert.deepEqual(deployer.json("rooms.json").map(({ id }) => id), [own.id]);
}

test("Cloudflare's own build refuses a wrong rooms.json, too", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  const { account } = deployer;
  const file = path.join(release, "rooms.json");
  const shipped = fs.readFileSync(file, "utf8");
  context.after(() => fs.writeFileSync(file, shipped));
  fs.writeFileSync(file, JSON.stringify([{ ...JSON.parse(shipped)[0], total_active_users: 0 }]));
  const vars = { PATH: "", WORKERS_CI: "1", CLOUDFLARE_ACCOUNT_ID: account.accounts[0].id };
  const { code, said } = await deployer.run("deploy", [], { root: release, vars });
  assert.equal(code, 1, said);
  assert.match(said, /rooms\.json: \/0\/total_active_users: must be/);
  assert.equal(account.workers.size, 0);
});

test("where workerd does not run, only a flag deploys what was not tried", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  deployer.account.addShop();
  const vars = { MINIFLARE_WORKERD_PATH: "/bin/false" };
  const { code, said } = await deployer.deploy(FIRST, { root: release, vars });
  assert.equal(code, 1, said);
  assert.match(said, /could not be tried on this machine .*--untried/s);
  assert.deepEqual(deployer.account.changes, []);
  const untried = await deployer.deploy([...FIRST, "--untried"], { root: release, vars });
  assert.equal(untried.code, 0, untried.said);
});

/** Deploys once from this folder, and returns what is live then. */
async function live(context, root) {
  const deployer = await Deployer.start(context);
  deployer.account.addShop();
  const { code, said } = await deployer.deploy(FIRST, { root });
  assert.equal(code, 0, said);
  return deployer;
}

/** Runs a deploy that must end before anything is uploaded; returns what it said. */
async function refused(deployer, parameters, options, sentence = "nothing was uploaded") {
  const { account } = deployer;
  account.changes = [];
  const { code, said } = await deployer.deploy(parameters, options);
  assert.equal(code, 1, said);
  assert.ok(said.includes(sentence), said);
  assert.deepEqual(account.changes, [], said);
  assert.equal((await visit(deployer, "shop.example")).body, ORIGIN_SAYS, "the site is down");
  assert.ok(!fs.existsSync(deployer.file("bundle")), "the bundle is left");
  return said;
}

function visit({ edge: { address } }, host) {
  return send({ port: Number(new URL(address).port), host, path: "/" });
}

function write(deployer, name, value) {
  fs.writeFileSync(deployer.file(name), JSON.stringify(value));
}
