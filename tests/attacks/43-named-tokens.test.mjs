/**
 * Named tokens: each opens what its role, its zones and rooms and its time say, whatever it asks;
 * guesses of one cost little and lock nobody out.
 */

import assert from "node:assert/strict";

import { OWNER, ROOMS, ask, call, liveLines, refused } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { ZONE, room } from "../harness/rooms.mjs";
import { look } from "../harness/visitor.mjs";

const OTHER_ZONE = "fedcba9876543210fedcba9876543210";
const TOKENS = "user/tokens";
const own = room({ name: "own" });
const other = room({ name: "other", zone_id: OTHER_ZONE });
const rooms = [own, other];
const OWN = `${ROOMS}/${own.id}`;
const OTHERS = `zones/${OTHER_ZONE}/waiting_rooms`;
const OTHER = `${OTHERS}/${other.id}`;
const LIST = `/_waiting-room/client/v4/${ROOMS}`;
const DAY_MS = 86_400_000;
/** By then a token that was changed elsewhere is known everywhere. */
const KNOWN_MS = 5_000;
const bearer = (value) => ({ authorization: `Bearer ${value}` });

/** Makes a token and returns its id, its value and the headers with it. */
async function made(cluster, fields, by = OWNER) {
  const { result } = await call(cluster, "POST", TOKENS, { role: "look", ...fields }, by);
  return { ...result, headers: bearer(result.value) };
}

const roles = "row 43: a role may its own and no more";
clusterTest(roles, { rooms }, async (cluster) => {
  const looks = await made(cluster, { name: "looks" });
  const steers = await made(cluster, { name: "steers", role: "steer" });
  const manages = await made(cluster, { name: "manages", role: "manage" });
  const hold = { queue_all: true };
  const renamed = { name: "mine", host: "mine.example" };
  const changes = [
    [looks, "PATCH", OWN, hold],
    [looks, "POST", ROOMS, { ...renamed, total_active_users: 1, new_users_per_minute: 1 }],
    [looks, "DELETE", OWN],
    [steers, "PATCH", OWN, { ...hold, host: "mine.example" }],
    [steers, "PATCH", OWN, { queueing_method: "reject", turnstile_mode: "off" }],
    [steers, "PUT", OWN, renamed],
    [steers, "POST", `${OWN}/rules`, { expression: "ssl" }],
    [manages, "PATCH", `${ROOMS}/settings`, { always_use_https: true }],
    [manages, "PUT", "waiting_rooms/file", []],
    [manages, "POST", TOKENS, { name: "x", role: "look" }],
    [manages, "GET", TOKENS],
  ];
  const before = (await call(cluster, "GET", "waiting_rooms/file")).result;
  for (const [{ headers, name }, method, path, body] of changes) {
    const { errors } = await refused(cluster, 403, method, path, body, headers);
    assert.equal(errors[0].code, 9109, `${name} ${method} ${path}`);
  }
  const visit = `/_waiting-room/test-visitor?room=${own.zone_id}/${own.id}`;
  const page = { url: "https://own.example/" };
  const visited = await sent(cluster, "POST", visit, looks.headers, page);
  assert.equal(visited.status, 403, "a test visitor takes a place");
  assert.deepEqual((await call(cluster, "GET", "waiting_rooms/file")).result, before);
  await call(cluster, "PATCH", OWN, { queueing_method: "reject" }, steers.headers);
  await call(cluster, "PATCH", OWN, { queueing_method: "fifo" }, steers.headers);
  await call(cluster, "PATCH", OWN, hold, steers.headers);
  const [entry] = (await call(cluster, "GET", "waiting_rooms/audit_log?per_page=5")).result;
  assert.deepEqual([entry.actor, entry.token], ["steers", steers.id]);
  const email = { "x-auth-email": "owner@shop.example", "x-auth-key": steers.value };
  await call(cluster, "PATCH", OWN, { queue_all: false }, email);
  const [newest] = (await call(cluster, "GET", "waiting_rooms/audit_log?per_page=5")).result;
  assert.equal(newest.actor, "steers", "a token speaks under another name");
});

const scope = "row 43: a token of a zone sees nothing of another, whatever it asks";
clusterTest(scope, { rooms }, async (cluster) => {
  await call(cluster, "PATCH", OTHER, { queue_all: true });
  const zones = await made(cluster, { name: "a", role: "admin", zones: [ZONE] });
  const alone = await made(cluster, { name: "b", role: "admin", rooms: [own.id] });
  for (const { headers } of [zones, alone]) {
    const paths = [OTHER, `${OTHER}/status`, `${OTHER}/history`, OTHERS, `${OTHER}/events`];
    for (const path of [...paths, `${OTHER}/webhooks`, "waiting_rooms/doctor"]) {
      await refused(cluster, 403, "GET", path, undefined, headers);
    }
    await refused(cluster, 403, "PATCH", OTHER, { queue_all: false }, headers);
    // The own zone with the id of another's room.
    const mixed = await ask(cluster, "GET", `${ROOMS}/${other.id}/status`, undefined, headers);
    assert.ok([403, 404].includes(mixed.status), `${mixed.status}`);
    for (const path of ["accounts/a/waiting_rooms", "waiting_rooms/file", ROOMS]) {
      const { result } = await call(cluster, "GET", path, undefined, headers);
      assert.deepEqual(result.map(({ id }) => id), [own.id], path);
    }
    const log = await ask(cluster, "GET", "waiting_rooms/audit_log", undefined, headers);
    assert.ok(!log.body.includes(other.id), "the log tells of another zone");
    const metrics = await sent(cluster, "GET", "/_waiting-room/metrics?last_hour", headers);
    assert.ok(metrics.body.includes(own.id) && !metrics.body.includes(other.id));
    const question = (zone) => ({
      query:
        `{ viewer { zones(filter: {zoneTag: "${zone}"}) ` +
        "{ waitingRoomAnalyticsAdaptive(limit: 1) { datetime } } } }",
    });
    for (const [zone, status] of [[ZONE, 200], [OTHER_ZONE, 403]]) {
      const answer = await ask(cluster, "POST", "graphql", question(zone), headers);
      assert.equal(answer.status, status, answer.body);
    }
  }
});

const held = { rooms: [own, { ...other, queue_all: true }] };
const taken = "row 43: no token opens a page of a room that it is not for";
clusterTest(taken, held, async (cluster) => {
  const page = { host: other.host, path: "/checkout" };
  for (const scope of [{ rooms: [own.id] }, { zones: [ZONE] }]) {
    const { headers } = await made(cluster, { name: "a", role: "manage", ...scope });
    const { status } = await ask(cluster, "PATCH", OWN, { ...page, suspended: true }, headers);
    await cluster.advance(KNOWN_MS);
    const { kind } = await look(cluster, "ams-1", page);
    assert.deepEqual([status, kind], [403, "queue"], JSON.stringify(scope));
    const [{ id }] = (await call(cluster, "GET", TOKENS)).result;
    await call(cluster, "DELETE", `${TOKENS}/${id}`);
  }
});

const stream = "row 43: a stream of numbers tells of the token's rooms alone, and ends with it";
clusterTest(stream, { rooms }, async (cluster) => {
  const { id, headers } = await made(cluster, { name: "a", zones: [ZONE] });
  const names = rooms.map((one) => `${one.zone_id}/${one.id}`).join(",");
  const path = `/_waiting-room/live?rooms=${names}`;
  const heard = await cluster.listen("ams-1", { host: "localhost", path, headers });
  await cluster.advance(2_000);
  const [line] = liveLines(heard);
  assert.deepEqual(Object.keys(line.told), [own.id]);
  assert.match(line.late[other.id], /other zones or rooms/);
  await call(cluster, "DELETE", `${TOKENS}/${id}`);
  await cluster.advance(KNOWN_MS);
  const before = liveLines(heard).length;
  await cluster.advance(KNOWN_MS);
  assert.equal(liveLines(heard).length, before, "it goes on without a token");
  heard.close();
});

const wider = "row 43: a token makes, changes and sees none that may more";
clusterTest(wider, { rooms }, async (cluster) => {
  const owners = await made(cluster, { name: "owners", role: "admin" });
  const { headers, id } = await made(cluster, { name: "a", role: "admin", zones: [ZONE] });
  const make = (fields) =>
    ask(cluster, "POST", TOKENS, { name: "x", role: "look", ...fields }, headers);
  for (const fields of [{}, { zones: [OTHER_ZONE] }, { rooms: [other.id] }]) {
    assert.equal((await make(fields)).status, 403, JSON.stringify(fields));
  }
  const widened = { name: "a", zones: null, rooms: null };
  await refused(cluster, 403, "PUT", `${TOKENS}/${id}`, widened, headers);
  for (const [method, path] of [["GET", ""], ["DELETE", ""], ["PUT", "/value"]]) {
    await refused(cluster, 404, method, `${TOKENS}/${owners.id}${path}`, undefined, headers);
  }
  assert.equal((await make({ rooms: [own.id] })).status, 200);
  const seen = (await call(cluster, "GET", TOKENS, undefined, headers)).result;
  assert.deepEqual(seen.map(({ name }) => name).sort(), ["a", "x"]);
});

const ended = "row 43: a token that has ended, was revoked or has a new value opens nothing";
clusterTest(ended, { rooms, colos: { AMS: 2 } }, async (cluster) => {
  const now = cluster.clock.now();
  const until = new Date(now + DAY_MS).toISOString();
  const ends = await made(cluster, { name: "ends", expires_on: until });
  const gone = await made(cluster, { name: "gone" });
  const rolls = await made(cluster, { name: "rolls" });
  const later = await made(cluster, { name: "later", not_before: until });
  const everywhere = async (headers, status) => {
    for (const { name } of cluster.isolates) {
      const answer = await sent(cluster, "GET", LIST, headers, undefined, name);
      assert.equal(answer.status, status, `${name}: ${answer.body}`);
    }
  };
  for (const { headers } of [ends, gone, rolls]) await everywhere(headers, 200);
  await everywhere(later.headers, 403);
  await call(cluster, "DELETE", `${TOKENS}/${gone.id}`);
  const { result: value } = await call(cluster, "PUT", `${TOKENS}/${rolls.id}/value`);
  await cluster.advance(KNOWN_MS);
  await everywhere(gone.headers, 403);
  await everywhere(rolls.headers, 403);
  await everywhere(bearer(value), 200);
  await cluster.advance(DAY_MS, DAY_MS);
  await everywhere(ends.headers, 403);
  await everywhere(later.headers, 200);
});

const guesses = "row 43: guesses of named tokens cost few calls, and a right one works beside them";
clusterTest(guesses, { rooms }, async (cluster) => {
  const { headers } = await made(cluster, { name: "a" });
  const guess = (at) => bearer(`wr_${String(at).padStart(64, "0")}`);
  const from = { "cf-connecting-ip": "203.0.113.9" };
  const get = (of) => ask(cluster, "GET", ROOMS, undefined, { ...from, ...of });
  assert.equal((await get(headers)).status, 200);
  const before = await cluster.calls("Registry");
  const seen = await Promise.all(Array.from({ length: 60 }, (_, at) => get(guess(at))));
  assert.deepEqual(new Set(seen.map(({ status }) => status)), new Set([403, 429]));
  assert.ok((await cluster.calls("Registry")) - before <= 5, "each guess asks the registry");
  assert.equal((await get(headers)).status, 200, "a right one is locked out");
});

const fresh = "row 43: an isolate that knows no token yet asks once, however many guess at once";
clusterTest(fresh, { rooms, colos: { AMS: 2 } }, async (cluster) => {
  const { headers } = await made(cluster, { name: "a" });
  const [, { name }] = cluster.isolates;
  // It knows the rooms, so that no call is about these.
  await sent(cluster, "GET", "/_waiting-room/health", {}, undefined, name);
  await sent(cluster, "GET", LIST, OWNER, undefined, name);
  const guesses = Array.from({ length: 60 }, (_, at) => {
    const from = { "cf-connecting-ip": `198.51.${at}.9` };
    return { ...from, ...bearer(`wr_${String(at).padStart(64, "0")}`) };
  });
  const before = await cluster.calls("Registry");
  const all = [headers, ...guesses].map((of) => sent(cluster, "GET", LIST, of, undefined, name));
  const seen = await Promise.all(all);
  const statuses = seen.map(({ status }) => status);
  assert.deepEqual([statuses[0], new Set(statuses.slice(1))], [200, new Set([403])]);
  // One is about the tokens, the others about the configuration and the list of the right token.
  const calls = (await cluster.calls("Registry")) - before;
  assert.ok(calls <= 5, `${calls} calls: each guess asks the registry`);
});

const leaks = "row 43: a value is told once, and neither it nor its hash is in an answer or a log";
clusterTest(leaks, { rooms }, async (cluster) => {
  const { id, value } = await made(cluster, { name: "a" });
  assert.match(value, /^wr_[0-9a-f]{64}$/);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(value));
  const secrets = [value, Buffer.from(digest).toString("hex")];
  const paths = [TOKENS, `${TOKENS}/${id}`, "waiting_rooms/file", "waiting_rooms/audit_log"];
  for (const path of [...paths, "waiting_rooms/doctor"]) {
    const { body } = await ask(cluster, "GET", path);
    for (const secret of secrets) assert.ok(!body.includes(secret), `${path} tells ${secret}`);
  }
  await ask(cluster, "GET", ROOMS, undefined, bearer(`${value.slice(0, -1)}x`));
  for (const secret of secrets) assert.equal(cluster.log.count(secret), 0, "the log has it");
});

/** Sends a request beside the API to an isolate. */
async function sent(cluster, method, path, headers, body, isolate = cluster.isolates[0].name) {
  const text = body && JSON.stringify(body);
  return cluster.send(isolate, { host: "localhost", path, method, headers, body: text });
}
