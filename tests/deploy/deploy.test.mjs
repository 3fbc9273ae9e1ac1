/**
 * `npm run deploy` with the real wrangler against a stand-in for Cloudflare's API that runs what
 * was uploaded: from nothing to a live room, once more, and back to nothing.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";

import { Deployer, FIRST } from "../harness/deployer.mjs";
import { send } from "../harness/http.mjs";
import { ORIGIN_SAYS } from "../harness/uploaded-worker.mjs";

/** Longer than any takes on a slow machine: a hanging command still ends the run. */
const ALL = { timeout: 600_000 };
const NAME = "waiting-room";
/** The steps of the long test, in their order. */
const STEPS = {
  "the first deployment ends with a live room": goesLive,
  "secrets are kept for the owner alone": keepsSecrets,
  "the first version that runs has its keys": hasItsKeys,
  "the deployment is as the platform needs it": fitsThePlatform,
  "the room is the one that was asked for": hasTheRoom,
  "its cockpit is on the owner's host": hasItsCockpit,
  "a second run asks and changes nothing": changesNothing,
  "a changed limit is deployed, with the same keys": changesALimit,
  "--undo leaves nothing in the account, and the secrets here": leavesNothing,
};
const UPLOAD = /^(?:PUT|POST) accounts\/\w+\/workers\/scripts\/waiting-room(?:\/versions)?$/;

test("from nothing to a live room, once more, and back", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  deployer.account.addShop();
  for (const [name, step] of Object.entries(STEPS)) {
    await context.test(name, () => step(deployer));
  }
});

test("a failure in the middle, and a run that goes on", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  const { account } = deployer;
  account.addShop();
  account.failing = /\/scripts\/waiting-room\/routes$/;
  const failed = await deployer.deploy(FIRST);
  assert.equal(failed.code, 1);
  assert.ok(failed.said.includes("it goes on where it ended"), failed.said);
  const secrets = fs.readFileSync(deployer.file("secrets.json"), "utf8");
  assert.deepEqual(account.routes, []);
  account.failing = undefined;
  const { code, said } = await deployer.deploy([]);
  assert.equal(code, 0, said);
  assert.equal(account.routes.length, 1);
  assert.equal(fs.readFileSync(deployer.file("secrets.json"), "utf8"), secrets);
});

test("a Worker that others deployed is never taken down", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  const { account } = deployer;
  account.addShop();
  account.workers.set(NAME, { versions: [], secrets: new Map() });
  const refused = await deployer.deploy(FIRST);
  assert.ok(refused.said.includes("was not deployed from this folder"), refused.said);
  const { code, said } = await deployer.run("deploy", ["--undo", "--yes"]);
  assert.equal(code, 0, said);
  assert.equal(account.workers.size, 1);
});

test("without an answer nothing is taken down", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  deployer.account.addShop();
  const first = await deployer.deploy(FIRST, { answers: [] });
  assert.equal(first.code, 0, first.said);
  for (const secret of Object.values(deployer.json("secrets.json"))) {
    assert.ok(first.said.includes(secret), "secrets are shown at a terminal");
  }
  const { code, said } = await deployer.run("deploy", ["--undo"]);
  assert.equal(code, 1);
  assert.ok(said.includes("add --yes"), said);
  assert.equal(deployer.account.workers.size, 1);
});

test("a place for the objects reaches the Worker", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  deployer.account.addShop();
  const place = ["--location-hint", "weur", "--jurisdiction", "eu"];
  const { code, said } = await deployer.deploy([...FIRST, ...place]);
  assert.equal(code, 0, said);
  const { bindings } = deployer.account.workers.get(NAME).versions[0].metadata;
  const text = (name) => bindings.find((one) => one.name === name)?.text;
  assert.deepEqual([text("LOCATION_HINT"), text("JURISDICTION")], ["weur", "eu"]);
});

async function goesLive(deployer) {
  const { account, edge } = deployer;
  const [zone] = deployer.account.zones;
  edge.silentFor = 1;
  const { code, said } = await deployer.deploy(FIRST);
  assert.equal(code, 0, said);
  assert.ok(said.includes("Not yet: room-admin.shop.example: "), said);
  for (const secret of Object.values(deployer.json("secrets.json"))) {
    assert.ok(!said.includes(secret), "secrets are in no log");
  }
  assert.deepEqual(account.routes.map(({ pattern, script }) => [pattern, script]), [
    ["shop.example/*", NAME],
  ]);
  assert.deepEqual(account.domains.map(({ hostname, service }) => [hostname, service]), [
    ["room-admin.shop.example", NAME],
  ]);
  for (const part of [
    "https://shop.example/",
    "https://room-admin.shop.example/_waiting-room/\n",
    "https://room-admin.shop.example/_waiting-room/health",
    `/_waiting-room/client/v4/zones/${zone.id}/waiting_rooms`,
    "on Workers Free a day has 100,000 requests of visitors",
  ]) {
    assert.ok(said.includes(part), `${part} is not in ${said}`);
  }
  const visit = await ask(edge, "shop.example", "/");
  assert.match(String(visit.headers["set-cookie"]), /^__cfwaitingroom/);
  assert.ok(visit.body.includes(ORIGIN_SAYS), visit.body);
}

function keepsSecrets(deployer) {
  const { account } = deployer;
  const secrets = deployer.json("secrets.json");
  assert.match(secrets.TICKET_KEYS, /^[0-9a-f]{64}$/);
  assert.match(secrets.API_TOKEN, /^[0-9a-f]{64}$/);
  assert.deepEqual(Object.fromEntries(account.workers.get(NAME).secrets), secrets);
  assert.equal(fs.statSync(deployer.file("secrets.json")).mode & 0o777, 0o600);
  assert.equal(fs.statSync(deployer.file("")).mode & 0o777, 0o700);
  assert.equal(fs.readFileSync(deployer.file(".gitignore"), "utf8"), "*\n");
}

function hasItsKeys(deployer) {
  const { account } = deployer;
  const [first] = account.workers.get(NAME).versions;
  const names = first.metadata.bindings.map(({ name }) => name);
  assert.ok(names.includes("TICKET_KEYS") && names.includes("API_TOKEN"), names.join());
  assert.match(account.changes[0], UPLOAD);
}

function fitsThePlatform(deployer) {
  const { account } = deployer;
  const [zone] = deployer.account.zones;
  const { metadata } = account.workers.get(NAME).versions[0];
  const text = (name) => metadata.bindings.find((one) => one.name === name)?.text;
  assert.equal(text("ADMIN_HOSTS"), "room-admin.shop.example");
  assert.equal(text("ZONES"), `${zone.id}=shop.example`);
  assert.deepEqual(metadata.code_update_strategy, { mode: "immediate" });
  assert.equal(metadata.observability.redact_query_string, true);
  assert.equal(metadata.observability.logs.invocation_logs, false);
  assert.equal(metadata.placement, undefined);
  assert.equal(deployer.json("wrangler.json").workers_dev, false);
}

async function hasTheRoom(deployer) {
  const { edge } = deployer;
  const [zone] = deployer.account.zones;
  const { API_TOKEN } = deployer.json("secrets.json");
  const path = `/_waiting-room/client/v4/zones/${zone.id}/waiting_rooms`;
  const headers = { authorization: `Bearer ${API_TOKEN}` };
  const { body } = await ask(edge, "room-admin.shop.example", path, headers);
  const [room, ...others] = JSON.parse(body).result;
  assert.equal(others.length, 0);
  const { host, total_active_users: total, new_users_per_minute: perMinute } = room;
  assert.deepEqual([host, total, perMinute], ["shop.example", 200, 100]);
}

async function hasItsCockpit({ edge }) {
  const page = await ask(edge, "room-admin.shop.example", "/_waiting-room/");
  assert.match(page.headers["content-type"], /^text\/html/);
  for (const [, file] of page.body.matchAll(/"(\/_waiting-room\/[^"]+)"/g)) {
    const { status, body } = await ask(edge, "room-admin.shop.example", file);
    assert.deepEqual([status, body.length > 1_000], [200, true], file);
  }
  const visitor = await ask(edge, "shop.example", "/_waiting-room/");
  assert.notEqual(visitor.body, page.body);
}

async function changesNothing(deployer) {
  const { account } = deployer;
  const before = snapshot(deployer);
  account.changes = [];
  const { code, said } = await deployer.deploy([]);
  assert.equal(code, 0, said);
  assert.ok(said.includes("nothing was uploaded"), said);
  assert.deepEqual(account.changes, []);
  assert.deepEqual(snapshot(deployer), before);
  assert.ok(!said.includes(deployer.json("secrets.json").API_TOKEN), "secrets are in no log");
}

async function changesALimit(deployer) {
  const { account } = deployer;
  const { secrets } = snapshot(deployer);
  account.changes = [];
  const { code, said } = await deployer.deploy(["--total-active-users", "300"]);
  assert.equal(code, 0, said);
  assert.equal(account.changes.filter((call) => UPLOAD.test(call)).length, 1);
  assert.equal(deployer.json("rooms.json")[0].total_active_users, 300);
  assert.equal(snapshot(deployer).secrets, secrets);
}

async function leavesNothing(deployer) {
  const { account } = deployer;
  const { code, said } = await deployer.run("deploy", ["--undo", "--yes"]);
  assert.equal(code, 0, said);
  assert.deepEqual([account.routes, account.domains, account.workers.size], [[], [], 0]);
  assert.ok(fs.existsSync(deployer.file("secrets.json")));
  const again = await deployer.run("deploy", ["--undo", "--yes", "--forget-secrets"]);
  assert.equal(again.code, 0, again.said);
  assert.ok(!fs.existsSync(deployer.file("secrets.json")));
  const empty = await deployer.run("deploy", ["--undo", "--yes"]);
  assert.equal(empty.code, 0, empty.said);
}

function ask({ address }, host, path, headers) {
  return send({ port: Number(new URL(address).port), host, path, headers });
}

function snapshot(deployer) {
  const names = ["settings", "rooms", "secrets", "wrangler", "state"];
  const text = (name) => fs.readFileSync(deployer.file(`${name}.json`), "utf8");
  return Object.fromEntries(names.map((name) => [name, text(name)]));
}
