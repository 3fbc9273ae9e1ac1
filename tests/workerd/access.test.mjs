/**
 * Sign-in by Cloudflare Access: what a person, a group and a program may by ACCESS_ROLES, what the
 * audit log says of them, and what is set up by half.
 */

import assert from "node:assert/strict";
import { after } from "node:test";

import { ROOMS, ask, call, refused } from "../harness/api.mjs";
import { startAccess } from "../harness/access.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { ZONE, room } from "../harness/rooms.mjs";

const OTHER_ZONE = "fedcba9876543210fedcba9876543210";
const own = room({ name: "own" });
const other = room({ name: "other", zone_id: OTHER_ZONE });
const SERVICE = "e367826f93b8d71185e03fe518aff3b4.access";
const ROLES = {
  "Anna@shop.example": "admin",
  "bert@shop.example": { role: "steer", rooms: [own.id] },
  [`token:${SERVICE}`]: { role: "manage", zones: [ZONE] },
  "group:Box office": "steer",
  "typo@shop.example": "adminn",
  "*": "look",
};
const access = await startAccess();
after(() => access.stop());
const options = (vars) => ({
  rooms: [own, other],
  ...access.options({ ACCESS_ROLES: JSON.stringify(ROLES), ...vars }),
});
const OWN = `${ROOMS}/${own.id}`;
const OTHER = `zones/${OTHER_ZONE}/waiting_rooms/${other.id}`;

/** The headers of somebody's call from the cockpit. */
const as = (cluster, claims) => ({
  "sec-fetch-site": "same-origin",
  ...access.header(cluster.clock.now(), claims),
});

const people = "each person, group and program may what ACCESS_ROLES says, in the log by address";
clusterTest(people, options(), async (cluster) => {
  const told = async (claims) => {
    const path = "user/tokens/verify";
    const { result } = await call(cluster, "GET", path, undefined, as(cluster, claims));
    return [result.name, result.role, result.zones, result.rooms];
  };
  const email = (name) => ({ email: `${name}@shop.example` });
  assert.deepEqual(await told(), ["anna@shop.example", "admin", null, null]);
  assert.deepEqual(await told(email("BERT")), ["bert@shop.example", "steer", [], [own.id]]);
  assert.deepEqual(await told(email("carl")), ["carl@shop.example", "look", null, null]);
  for (const groups of [{ groups: ["Box office"] }, { custom: { groups: ["x", "Box office"] } }]) {
    const of = { ...email("carl"), ...groups };
    assert.deepEqual((await told(of))[1], "steer", JSON.stringify(groups));
  }
  const service = { email: undefined, sub: "", nbf: undefined, common_name: SERVICE };
  assert.deepEqual(await told(service), [SERVICE, "manage", [ZONE], []]);
  const wrong = await refused(cluster, 403, "GET", ROOMS, undefined, as(cluster, email("typo")));
  assert.match(wrong.errors[0].message, /typo@shop\.example is signed in, but ACCESS_ROLES/);

  const { result: anna } = await call(cluster, "GET", "user", undefined, as(cluster));
  assert.equal(anna.email, "anna@shop.example");
  await call(cluster, "PATCH", OTHER, { queue_all: true }, as(cluster));
  const [entry] = (await call(cluster, "GET", "waiting_rooms/audit_log?per_page=5")).result;
  assert.deepEqual([entry.actor, entry.token], ["anna@shop.example", anna.id]);
  const made = { name: "Bot", role: "look" };
  const { result: token } = await call(cluster, "POST", "user/tokens", made, as(cluster));
  assert.match(token.value, /^wr_/);

  const bert = as(cluster, email("bert"));
  await call(cluster, "PATCH", OWN, { queue_all: true }, bert);
  const text = { "content-type": "application/json" };
  for (const [method, path, body] of [
    ["PATCH", OWN, { host: "evil.example" }],
    ["PATCH", OTHER, { queue_all: false }],
    ["GET", `${OTHER}/status`],
    ["GET", "user/tokens"],
    ["GET", "waiting_rooms/doctor"],
  ]) {
    await refused(cluster, 403, method, path, body, { ...text, ...bert });
  }
  const program = as(cluster, service);
  const rules = { expression: "ssl", action: "bypass_waiting_room" };
  await call(cluster, "POST", `${OWN}/rules`, rules, program);
  // A program sends neither of the headers by which browsers tell whose page it was.
  const silent = access.header(cluster.clock.now(), service);
  assert.equal((await ask(cluster, "GET", ROOMS, undefined, silent)).status, 200);
  await refused(cluster, 403, "POST", `${OWN}/rules`, rules, { ...text, ...silent });
  const metrics = { host: "localhost", path: "/_waiting-room/metrics", headers: silent };
  const { body } = await cluster.send("ams-1", metrics);
  assert.ok(body.includes(own.id) && !body.includes(other.id));
});

const unset = options({ ACCESS_ROLES: "" });
clusterTest("without ACCESS_ROLES everybody looks", unset, async (cluster) => {
  await call(cluster, "GET", ROOMS, undefined, as(cluster));
  const text = { "content-type": "application/json", ...as(cluster) };
  await refused(cluster, 403, "PATCH", OWN, { queue_all: true }, text);
});

for (const [what, vars, problem] of [
  ["no AUD tag", { ACCESS_AUD: "" }, /ACCESS_AUD must be the AUD tag/],
  ["roles that are no JSON", { ACCESS_ROLES: "anna: admin" }, /ACCESS_ROLES must be a JSON object/],
]) {
  clusterTest(`with ${what} nobody is signed in, and the doctor says so`, options(vars), async (
    cluster,
  ) => {
    const { errors } = await refused(cluster, 403, "GET", ROOMS, undefined, as(cluster));
    assert.match(errors[0].message, problem);
    const { result } = await call(cluster, "GET", "waiting_rooms/doctor");
    assert.match(result.access.problems.join(), problem);
  });
}

clusterTest("the doctor tells whether Access can be asked", options(), async (cluster) => {
  const facts = async () => (await call(cluster, "GET", "waiting_rooms/doctor")).result.access;
  const problems = ['ACCESS_ROLES: the entry "typo@shop.example" cannot be read'];
  assert.deepEqual(await facts(), { problems, people: 6, keys: 2 });
  access.fault = "broken";
  assert.deepEqual(await facts(), { problems, people: 6, keys: 0, failed: "the status is 503" });
  access.fault = undefined;
});
