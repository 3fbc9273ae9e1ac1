/**
 * What the doctor says about figures, without a Worker: each verdict with the figures on both sides
 * of it, and the sentences where there is nobody to ask.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { refusal } from "../../scripts/doctor/admin.mjs";
import { duration } from "../../scripts/doctor/line.mjs";
import { table } from "../../scripts/doctor/table.mjs";
import { judged } from "../../scripts/doctor/verdicts.mjs";

const ROOM = "de30".repeat(8);
const MINUTE_MS = 60_000;

const VERSION = "4f2a91c0-11";
const DRAWN = { characters: 64, distinct: 15 };

/** Facts about which nothing is to be said; a test changes what it is about. */
function healthy() {
  const sample = healthySample();
  const [cache] = sample.caches;
  return {
    address: "https://room-admin.shop.example",
    host: "room-admin.shop.example",
    isLocal: false,
    quota: undefined,
    configuration: healthyConfiguration(),
    health: { status: "ok" },
    samples: [sample],
    examined: [{ ...sample, room: ROOM, objects: [healthyObject(cache)] }],
    rooms: [
      {
        id: ROOM,
        name: "shop",
        host: "shop.example",
        path: "/",
        total_active_users: 200,
        new_users_per_minute: 100,
      },
    ],
    entrances: [{ room: ROOM, name: "shop", host: "shop.example", path: "/", isRoom: true }],
    inTheClear: false,
  };
}

function healthySample() {
  return {
    sentAt: 1_000_000,
    receivedAt: 1_000_040,
    placement: "local-AMS",
    arrived_at: 1_000_018,
    answered_at: 1_000_022,
    isolate: {
      id: "one",
      version: VERSION,
      data_center: "AMS",
      age_ms: 5 * MINUTE_MS,
      served: 300,
      examined: 20,
      clock_stands: true,
    },
    caches: [{ host: "shop.example", earlier: null, written: true, read: "found", ms: 4 }],
    objects: [],
    known: { public_keys: false },
    variables: {
      admin_hosts: "room-admin.shop.example",
      zones: `${ROOM}=shop.example`,
      on_failure: "hold",
    },
    secrets: { ticket_keys: [DRAWN], api_token: DRAWN, api_token_read: null },
  };
}

function healthyObject(cache) {
  return {
    class: "GlobalAggregator",
    name: ROOM,
    version: VERSION,
    place: "FRA",
    ms: 12,
    first_ms: 14,
    clock_ms: 3,
    began: 1_000_000,
    now: 1_000_000 + 10 * MINUTE_MS,
    calls: 100,
    cache,
    data_centers: ["AMS"],
    longest_value: 10_000,
  };
}

function healthyConfiguration() {
  return {
    observability: {
      enabled: true,
      redact_query_string: true,
      logs: { invocation_logs: false },
    },
    durable_objects: { code_update_strategy: { mode: "immediate" } },
    routes: [{ pattern: "shop.example/*" }],
  };
}

/** What was said in these tests: the names of lines. */
const said = new Set();

/** Changes healthy facts and checks the verdict on one line, and a part of what to do. */
function check(name, change, what, verdict, remedy = "") {
  test(name, () => {
    const facts = healthy();
    change(facts, facts.samples[0], facts.examined[0].objects[0]);
    const lines = judged(facts);
    for (const one of lines) said.add(one.what);
    const line = lines.find((one) => one.what.startsWith(what));
    assert.ok(line, `no line about ${what}`);
    const told = `${line.figure}: ${line.remedy}`;
    assert.equal(line.verdict, verdict, told);
    assert.ok(told.includes(remedy), told);
    if (verdict !== "ok") assert.ok(line.remedy.length > 20, "nothing to do");
  });
}

test("where all is well it says so", () => {
  const lines = judged(healthy());
  assert.deepEqual(lines.filter(({ verdict }) => verdict !== "ok"), []);
  assert.match(table(lines), /All is well\.\n$/);
  for (const { topic, what, figure } of lines) assert.ok(topic && what && figure);
});

const problem = { status: "unusable", reason: "TICKET_KEYS: empty" };
check("nobody is served", (facts) => (facts.health = problem), "Visitors", "wrong", "TICKET_KEYS");
const lastGood = { status: "last_good", reason: "ZONES: empty" };
const refused = "the last good deployment serves";
check(refused, (facts) => (facts.health = lastGood), "Visitors", "wrong", "ZONES: empty. Mend it");
const notes = ["LOCATION_HINT: must be one of weur"];
check("a note", (facts) => (facts.health.notes = notes), "Variables", "look", "LOCATION_HINT");

check(
  "two versions",
  (facts, sample) =>
    facts.samples.push({ ...sample, isolate: { ...sample.isolate, version: "older" } }),
  "Version of isolates",
  "look",
  "under way",
);
check(
  "no version",
  (_, sample) => (sample.isolate.version = null),
  "Version of isolates",
  "look",
  "version_metadata",
);

const half = { problems: ["ACCESS_AUD must be"], people: 0, keys: 2 };
const begun = (_, sample) => (sample.access = half);
check("Access half set up", begun, "Cloudflare Access", "wrong", "ACCESS_AUD must be. Until");

const moved = (_, sample) => (sample.placement = "remote-FRA");
check("a Worker that is moved", moved, "Smart Placement", "wrong", "[placement]");

/** An isolate whose first request is that of the doctor. */
const COLD = { age_ms: 0, served: 0, examined: 1 };
for (const [ms, verdict] of [
  [700, "ok"],
  [1_500, "look"],
]) {
  check(
    `a start of ${ms} ms`,
    (facts, sample) => {
      const isolate = { ...sample.isolate, id: "two", ...COLD };
      facts.samples.push({ ...sample, isolate, receivedAt: sample.receivedAt + ms });
    },
    "Start of an isolate",
    verdict,
    `${duration(ms)} more than a warm answer`,
  );
}
const START = "Start of an isolate";
check("no start", () => {}, START, "ok", "none; a warm answer 40 ms");
const youngest = (_, sample) => Object.assign(sample.isolate, COLD);
check("nothing but starts", youngest, START, "ok", "all cold");
const asked = (_, sample) => Object.assign(sample.isolate, { ...COLD, examined: 2 });
check("a second question in the first moment", asked, START, "ok", "none");
const visited = (_, sample) => Object.assign(sample.isolate, { ...COLD, served: 1 });
check("a visitor in the first moment", visited, START, "ok", "none");

for (const [ms, verdict, figure] of [
  [900, "ok", "; as this machine's"],
  [-5_000, "look", "; 5.0 s behind this machine's"],
  [5_000, "look", "; 5.0 s ahead of this machine's"],
]) {
  const shift = (facts, sample) => {
    const { arrived_at: arrived, answered_at: answered } = sample;
    const shifted = { arrived_at: arrived + ms, answered_at: answered + ms };
    facts.samples.push({ ...sample, ...shifted });
  };
  check(`a clock that is ${ms} ms off`, shift, "Clock of isolates", verdict, figure);
}
const unnamed = (_, sample) => (sample.isolate.data_center = null);
check("an unnamed data center", unnamed, "Isolates met", "ok", "1 in this machine, by 1 request");

const cached = (change) => (facts, sample) => {
  for (const one of [sample, ...facts.examined]) one.caches = [{ ...one.caches[0], ...change }];
};
check("no cache", cached({ read: "missing" }), "Cache API, shop", "look", "Cloudflare Access");
check("a hanging cache", cached({ read: "silent" }), "Cache API, shop", "look", "unanswered");
const another = cached({ earlier: "another" });
check("a shared cache", another, "Cache API, shop", "ok", "2 from another isolate");
check("its own copy", cached({ earlier: "one" }), "Cache API, shop", "ok", "to write and read: ");
const once = (facts, sample) => (sample.caches = [{ ...sample.caches[0], read: "missing" }]);
check("a cache that forgets", once, "Cache API, shop", "look", "1 of 2 trials lost");
check(
  "an object without a cache",
  (_, __, object) => (object.cache = { read: "missing" }),
  "Cache API in objects",
  "look",
);

const object = (change) => (_, __, one) => Object.assign(one, change);
const OBJECT = "GlobalAggregator, shop";
const near = object({ ms: 300, first_ms: 300 });
check("an object near", near, OBJECT, "ok", "in FRA, 300 ms from AMS");
check("an object far", object({ ms: 301 }), OBJECT, "look", "LOCATION_HINT");
check("an object too far", object({ ms: 2_001 }), OBJECT, "wrong", "too slow");
check("an object that slept", object({ first_ms: 200 }), OBJECT, "ok", "at first 200 ms");
check("a silent object", object({ failed: "silent" }), OBJECT, "wrong", "when_silent");
check("a broken object", object({ failed: "Error: no" }), OBJECT, "wrong", "fails: Error: no");
check("an older version", object({ version: "0a1b2c3d-9" }), OBJECT, "look", "version 0a1b2c3d");
check("an object's clock", object({ clock_ms: -900 }), OBJECT, "ok");
check("an object's clock, off", object({ clock_ms: -1_100 }), OBJECT, "look", "clock 1.1 s off");
check("a clock far off", object({ clock_ms: 5_100 }), OBJECT, "wrong", "5 s");
check("two findings", object({ clock_ms: 5_200, ms: 301 }), OBJECT, "wrong", "LOCATION_HINT");
check("a large value", object({ longest_value: 1_100_000 }), "Stored", "look", "1.10 of 2 MB");
check("nobody heard", object({ data_centers: [] }), "Stored, shop", "ok", "no data center yet");
check("somebody heard", () => {}, "Stored, shop", "ok", "data centers AMS; ");
check("a value at the bound", object({ longest_value: 1_900_000 }), "Stored, shop", "wrong");

/** 300 requests in 5 minutes are 86,400 a day, as are 3,600 in an hour. */
for (const [quota, minutes, verdict] of [
  [undefined, 60, "ok"],
  [200_000, 60, "ok"],
  [100_000, 60, "look"],
  [86_000, 5, "look"],
  [86_000, 60, "wrong"],
]) {
  const change = (facts, { isolate }) => {
    facts.quota = quota;
    Object.assign(isolate, { served: 60 * minutes, age_ms: minutes * MINUTE_MS });
  };
  const name = `86,400 requests of ${quota}, for ${minutes} minutes`;
  const figure = `86,400 requests a day at the pace of the last ${minutes} min`;
  check(name, change, "Requests", verdict, figure);
}
/** 100 calls in 10 minutes are 14,400 a day, as are 600 in an hour. */
for (const [quota, minutes, verdict] of [
  [100_000, 60, "ok"],
  [20_000, 60, "look"],
  [14_000, 10, "look"],
  [14_000, 60, "wrong"],
]) {
  const change = (facts, _, one) => {
    facts.quota = quota;
    Object.assign(one, { calls: 10 * minutes, began: one.now - minutes * MINUTE_MS });
  };
  const name = `14,400 calls of ${quota}, for ${minutes} minutes`;
  check(name, change, "Object calls", verdict, "14,400 calls a day");
}
check("a young one", (_, { isolate }) => (isolate.age_ms = 59_000), "Requests", "ok", "no rate");
check("time in memory", () => {}, "Object time", "ok", "at most 77 GB-s");
check("a line", (facts) => (facts.quota = 100_000), "Quota in a line", "look", "33 min");

const patient = (facts) => {
  facts.quota = 1_000_000;
  facts.rooms[0].refresh_interval_seconds = 300;
};
check("a patient line", patient, "Quota in a line", "ok", "1,000 waiting use it up in 83 h");

/** The same on this machine alone. */
const atHome = (change) => (facts, ...others) => {
  facts.isLocal = true;
  change(facts, ...others);
};
const secrets = (change) => (_, sample) => Object.assign(sample.secrets, change);
const GUESSED = { characters: 64, distinct: 2 };
check("no key", secrets({ ticket_keys: [] }), "TICKET_KEYS", "wrong", "npm run deploy");
const guessed = secrets({ ticket_keys: [GUESSED] });
check("a guessed key", guessed, "TICKET_KEYS", "wrong", "rotate-keys");
const many = secrets({ ticket_keys: Array(3).fill(DRAWN) });
check("old keys", many, "TICKET_KEYS", "look", "drop-old");
const isPublic = (facts, sample) => (sample.known.public_keys = true);
check("the public key", isPublic, "TICKET_KEYS", "wrong", "Anybody can make tickets");
check("the public key at home", atHome(isPublic), "TICKET_KEYS", "ok", "local development");
const short = { characters: 22, distinct: 14 };
check("a short token", secrets({ api_token: short }), "API_TOKEN", "wrong", "openssl rand -hex 32");
check("a short token to read", secrets({ api_token_read: short }), "API_TOKEN_READ", "wrong");
check("a short token at home", atHome(secrets({ api_token: short })), "API_TOKEN", "ok");

const variables = (change) => (_, sample) => Object.assign(sample.variables, change);
const own = variables({ admin_hosts: "*.example" });
check("the site's own host", own, "ADMIN_HOSTS", "look", "beside");
const below = variables({ admin_hosts: "*.shop.example" });
check("a host below the site's", below, "ADMIN_HOSTS", "ok", "*.shop.example");
check("no admin host", variables({ admin_hosts: null }), "ADMIN_HOSTS", "ok", "as by default");
check("no zone at home", atHome(variables({ zones: "" })), "ZONES", "ok", "any");
check("no HTTPS", (facts) => (facts.inTheClear = true), "HTTPS", "wrong", "Always Use HTTPS");
check("no zone", variables({ zones: "" }), "ZONES", "look", "npm run deploy");
check("another zone", variables({ zones: "1=blog.example" }), "ZONES", "wrong", "shop.example");
const passing = variables({ on_failure: "pass" });
check("everybody passes", passing, "ON_FAILURE", "look", "past all limits");

const rooms = (change) => (facts) => Object.assign(facts.rooms[0], change);
check("no room", (facts) => (facts.rooms = []), "Rooms", "look", "make one");
check("a suspended room", rooms({ suspended: true }), "Room shop", "look", "uncounted");
check("a room that holds nobody", rooms({ queueing_method: "passthrough" }), "Room shop", "look");
check("a closed room", rooms({ queue_all: true }), "Room shop", "look", "queue_all");
check("a room in maintenance", rooms({ maintenance: "drain" }), "Room shop", "look", "drain");
check("a slow room", rooms({ new_users_per_minute: 39 }), "Room shop", "look", "so low");
check("a room that fills", rooms({ new_users_per_minute: 40 }), "Room shop", "ok");

const entrance = (change) => (facts) =>
  Object.assign(facts.entrances[0], { isRoom: false, status: 200 }, change);
const ROUTE = "Route shop.example/";
check("no route", entrance({}), ROUTE, "wrong", "shop.example/*");
check("no DNS record", entrance({ failed: "ENOTFOUND" }), ROUTE, "wrong", "orange cloud");
const suspended = (facts) => {
  entrance({})(facts);
  rooms({ suspended: true })(facts);
};
check("the place of a suspended room", suspended, ROUTE, "look", "is suspended");
const bypassed = (facts) => {
  entrance({})(facts);
  rooms({ bypass_rules: [{}] })(facts);
};
check("perhaps a rule", bypassed, ROUTE, "look", "bypass rule");

const configured = (change) => (facts) => Object.assign(facts.configuration, change);
const noisy = { enabled: true, logs: { invocation_logs: true } };
check("a log of visits", configured({ observability: noisy }), "Log of inv", "look", "address");
check("a cache before", configured({ cache: { enabled: true } }), "Workers Cache", "wrong");
check("query strings", configured({ observability: noisy }), "Query strings", "look", "redact");
check("no log at all", configured({ observability: { enabled: false } }), "Log of inv", "ok");
check("slow updates", configured({ durable_objects: {} }), "Update of objects", "look", "gradual");
check("no such route", configured({ routes: [] }), "Routes of the", "look", "shop.example/*");
const cloned = atHome((facts) => delete facts.configuration);
check("no folder at home", cloned, "Configuration", "ok", "wrangler.toml");
check("no folder", (facts) => delete facts.configuration, "Configuration", "ok", "--folder");

for (const [status, code, part] of [
  [403, 10_000, "the token is not that of this Worker"],
  [429, 10_429, "the token is wrong, and too many"],
  [404, 7_003, "older than the doctor"],
  [503, 1_000, "answered 503: no answer"],
]) {
  test(`an answer of ${status} is told with what to do`, () => {
    const errors = [{ code, message: "no answer" }];
    const told = refusal(status, JSON.stringify({ success: false, errors, result: null }));
    assert.ok(told.includes(part), told);
  });
}
test("an answer of the doctor is none", () => {
  assert.equal(refusal(200, JSON.stringify({ success: true, result: { format: 1 } })), "");
  assert.ok(refusal(200, "<html>"));
  const newer = refusal(200, JSON.stringify({ success: true, result: { format: 2 } }));
  assert.ok(newer.includes("newer than this doctor"), newer);
});

/** What is known of the plan by Cloudflare's count. */
const plan = (requests, more) => ({
  period: "day",
  checked_at: new Date().toISOString(),
  tried_at: new Date().toISOString(),
  problem: null,
  parts: [
    { of: "requests", used: requests, limit: 100_000, percent: Math.floor(requests / 1_000) },
    { of: "object_calls", used: 0, limit: 100_000, percent: 0 },
  ],
  ...more,
});
check(
  "a plan of which most is used",
  (_, sample) => (sample.usage = plan(81_000)),
  "Requests of the account",
  "look",
  "Beyond the quota",
);
check(
  "a plan of which little is used",
  (_, sample) => (sample.usage = plan(100)),
  "Object calls of the account",
  "ok",
);
check(
  "Cloudflare does not tell what is used",
  (_, sample) => (sample.usage = plan(100, { problem: "Cloudflare answers with status 403" })),
  "Use of the plan",
  "look",
  "status 403",
);

test("docs/doctor.md explains every line, and no other", () => {
  const page = path.join(import.meta.dirname, "../../docs/doctor.md");
  const [, ...tables] = fs.readFileSync(page, "utf8").split("| line | figure | what to do |");
  const cells = tables.flatMap((text) => text.split("\n\n")[0].match(/^\| `[^|]+/gm));
  const names = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  const explains = (name) => new RegExp(`^${name.replaceAll(/<[^>]+>/g, ".+")}$`);
  assert.ok(names.length > 25, names);
  for (const what of said) assert.ok(names.some((name) => explains(name).test(what)), what);
  const objects = /^(?:Registry|DataCenter)/;
  for (const name of names.filter((one) => !objects.test(one))) {
    assert.ok([...said].some((what) => explains(name).test(what)), `nobody says ${name}`);
  }
});

test("no line of the table is longer than the terminal", () => {
  const facts = healthy();
  facts.entrances[0] = { ...facts.entrances[0], isRoom: false, status: 200 };
  const text = table(judged(facts), { columns: 80 });
  const rows = text.split("\n");
  for (const row of rows) assert.ok(row.length <= 80, row);
  assert.ok(rows.some((row) => row.length > 70), "lines are as long as they may be");
  assert.equal(rows.filter((row) => row === "  Rooms").length, 1);
  assert.match(text, /WRONG {2}Route shop\.example\/ +200, not of/);
  assert.match(text, /1 line wrong, 0 to look at\.\n$/);
  facts.entrances[0].isRoom = true;
  facts.health.notes = ["a note"];
  assert.match(table(judged(facts)), /Nothing wrong; 1 to look at\.\n$/);
});

test("on its owner's machine nothing is said of Cloudflare's caches and quotas", () => {
  const facts = { ...healthy(), isOwn: true };
  facts.samples[0].caches = [{ host: "localhost", cache: null }];
  const lines = judged(facts);
  const topics = new Set(lines.map(({ topic }) => topic));
  assert.deepEqual([...topics], ["The Worker", "Objects", "Secrets and hosts", "Rooms"]);
  assert.equal(lines.at(-1).figure, "workerd.capnp of the folder");
});
