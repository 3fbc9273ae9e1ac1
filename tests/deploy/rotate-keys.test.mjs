/**
 * `npm run rotate-keys`: its steps, and the whole of it against the stand-in for Cloudflare's API.
 * tests/workerd/keys.test.mjs plays a line beside isolates with the keys in another order, which is
 * what data centers see between two steps.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";

import { dependents } from "../../scripts/deploy/dependents.mjs";
import { TICKETS_LIVE_MS, nextStep } from "../../scripts/deploy/rotation.mjs";
import { keyId, newKey } from "../../scripts/deploy/secrets.mjs";
import { Deployer, FIRST } from "../harness/deployer.mjs";

/** Longer than any takes on a slow machine: a hanging command still ends the run. */
const ALL = { timeout: 600_000 };
const WAIT_MS = 600_000;
const at = 1_000_000;
const known = { now: at, waitMs: WAIT_MS, dropOld: false };

test("a new key opens everywhere before it seals anywhere", () => {
  const { step, keys } = nextStep(["old"], undefined, known);
  assert.deepEqual([step, keys.length, keys[0]], ["behind", 2, "old"]);
  assert.match(keys[1], /^opens:[0-9a-f]{64}$/, "it draws and names nothing");
  const behind = { step: "behind", at };
  const two = ["old", "opens:new"];
  assert.deepEqual(nextStep(two, behind, { ...known, now: at + 1_000 }), {
    waitMs: WAIT_MS - 1_000,
  });
  const later = { ...known, now: at + WAIT_MS };
  assert.deepEqual(nextStep(two, behind, later), {
    step: "in front",
    keys: ["new", "old"],
  });
});

test("a step that is not known to have worked is put again", () => {
  for (const step of ["behind", "in front", "alone"]) {
    const keys = ["one", "two"];
    assert.deepEqual(nextStep(keys, { step }, { ...known, dropOld: true }), { step, keys });
  }
});

test("an old key stays as long as tickets live", () => {
  const front = { step: "in front", at };
  const drop = (now) => nextStep(["new", "old"], front, { ...known, now, dropOld: true });
  assert.match(drop(at + TICKETS_LIVE_MS - 1).refusal, /for 1 more minutes/);
  assert.deepEqual(drop(at + TICKETS_LIVE_MS), { step: "alone", keys: ["new"] });
  assert.match(nextStep(["new"], front, { ...known, dropOld: true }).refusal, /no old key/);
  assert.match(nextStep(Array(8).fill("key"), front, known).refusal, /--drop-old/);
});

test("a new key has an id of its own, derived as the Worker does", () => {
  const golden = JSON.parse(fs.readFileSync("tests/golden/ticket.json", "utf8"));
  const { ticket_keys: key, sealed } = golden;
  assert.equal(keyId(key), Buffer.from(sealed[0].text, "base64url")[1]);
  assert.equal(keyId(Buffer.from(key, "hex").toString("base64")), keyId(key));
  assert.equal(keyId(`opens:${key}`), keyId(key));
  // One draw in 32 would collide with one of 8 keys.
  const keys = [];
  for (let count = 0; count < 128; count += 1) keys.push(newKey(keys));
  assert.equal(new Set(keys.map(keyId)).size, keys.length);
});

test("draws that stand and invitations that are out keep the old key", () => {
  const event_start_time = "2026-06-01T10:00:00Z";
  const start = Date.parse(event_start_time);
  const event = { name: "sale", shuffle_at_event_start: true, event_start_time };
  const drawn = (changes) => ({ name: "shop", events: [{ ...event, ...changes }] });
  const told = ["shop: the draws of sale get other commitments and ranks"];
  const day = 24 * 3_600_000;
  assert.deepEqual(dependents(drawn({}), start - 90 * day), told);
  assert.deepEqual(dependents(drawn({}), start + 30 * day - 1), told);
  assert.deepEqual(dependents(drawn({}), start + 30 * day), []);
  assert.deepEqual(dependents(drawn({ shuffle_at_event_start: false }), start), []);
  const groups = [{ name: "fans" }, { name: "staff", public_key: "key" }];
  const invited = { name: "shop", invitation_groups: groups };
  assert.deepEqual(dependents(invited, start), [
    "shop: invitations of fans that are out open nothing",
  ]);
  assert.deepEqual(dependents({ name: "shop" }, start), []);
  const lottery = ["shop: whoever waits in its lottery gets another lot"];
  const queueing_method = "random";
  assert.deepEqual(dependents({ name: "shop", queueing_method }, start), lottery);
  const event_end_time = event_start_time;
  const random = { name: "shop", events: [{ queueing_method, event_start_time, event_end_time }] };
  assert.deepEqual(dependents(random, start - 1), lottery);
  assert.deepEqual(dependents(random, start), []);
});

test("two steps, an interruption, and the old key dropped", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  const { account } = deployer;
  account.addShop();
  const early = await deployer.run("rotate-keys", []);
  assert.ok(early.said.includes("nothing is deployed from this folder"), early.said);
  assert.equal((await deployer.deploy(FIRST)).code, 0);
  const worker = account.workers.get("waiting-room");
  const live = () => worker.secrets.get("TICKET_KEYS").split(",");
  const [old] = live();

  const deployed = deployer.json("state.json");
  const older = {
    ...deployed,
    deployed: { ...deployed.deployed, digest: "of another version" },
  };
  fs.writeFileSync(deployer.file("state.json"), JSON.stringify(older));
  const another = await deployer.run("rotate-keys", []);
  assert.equal(another.code, 1);
  assert.match(another.said, /another version or configuration: run `npm run deploy` first/);
  assert.deepEqual(live(), [old]);
  fs.writeFileSync(deployer.file("state.json"), JSON.stringify(deployed));

  const onText = (text, child) => text.includes("Waiting until") && child.kill("SIGINT");
  await deployer.run("rotate-keys", [], { onText });
  assert.equal(live().length, 2);
  assert.equal(live()[0], old);
  const added = live()[1].replace("opens:", "");
  assert.equal(deployer.json("secrets.json").TICKET_KEYS, live().join(","));

  const again = await deployer.deploy([]);
  assert.equal(again.code, 0, again.said);
  assert.ok(again.said.includes("nothing was uploaded"), "a rotation is no change to deploy");

  const soon = await deployer.run("rotate-keys", ["--wait-minutes", "0.01"]);
  assert.equal(soon.code, 0, soon.said);
  assert.deepEqual(live(), [added, old]);

  const refused = await deployer.run("rotate-keys", ["--drop-old"]);
  assert.equal(refused.code, 1);
  assert.deepEqual(live(), [added, old]);
  const state = deployer.json("state.json");
  state.rotation.at -= TICKETS_LIVE_MS;
  fs.writeFileSync(deployer.file("state.json"), JSON.stringify(state));
  await keepsWhatIsUsed(deployer);
  assert.deepEqual(live(), [added, old]);
  const dropped = await deployer.run("rotate-keys", ["--drop-old", ...elsewhere(deployer)]);
  assert.equal(dropped.code, 0, dropped.said);
  assert.deepEqual(live(), [added]);
  assert.equal(deployer.json("secrets.json").TICKET_KEYS, added);
});

const elsewhere = ({ edge }) => ["--live-address", edge.address];

/** An old key stays while a draw hangs on it, or if that is not known. */
async function keepsWhatIsUsed(deployer) {
  const silent = ["--live-address", "http://127.0.0.1:1"];
  const blind = await deployer.run("rotate-keys", ["--drop-old", ...silent]);
  assert.equal(blind.code, 1);
  assert.match(blind.said, /what hangs on the old key is not known: .*--even-if-used/);

  const [{ id: room }] = await deployer.managed("GET", "");
  const at = (ms) => new Date(Date.now() + ms).toISOString();
  const times = { event_start_time: at(3_600_000), event_end_time: at(7_200_000) };
  const prequeue_start_time = at(1_800_000);
  const drawn = { name: "sale", shuffle_at_event_start: true, prequeue_start_time, ...times };
  const { id } = await deployer.managed("POST", `/${room}/events`, drawn);
  const used = await deployer.run("rotate-keys", ["--drop-old", ...elsewhere(deployer)]);
  assert.equal(used.code, 1, used.said);
  assert.match(used.said, /the draws of sale get other commitments and ranks/);
  await deployer.managed("DELETE", `/${room}/events/${id}`);
}
