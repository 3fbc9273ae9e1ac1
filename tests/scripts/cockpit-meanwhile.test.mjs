/**
 * What the cockpit makes of what others do meanwhile, without a browser: objects fall silent, and
 * colleagues change what is about to be changed.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { limitsSeen } from "../../cockpit/actions.js";
import { apply, applyPatch } from "../../cockpit/changes.js";
import { moment } from "../../cockpit/facts.js";
import { askedOf } from "../../cockpit/holds.js";
import { whenSeen } from "../../cockpit/page_fields.js";

const PATH = "zones/z/waiting_rooms/";

test("a room that does not answer is told, one that is deleted is not", async () => {
  const refusals = {
    dead: [503, "The room's object does not answer."],
    gone: [404, "None."],
    // Of the owner's own network and sign-in.
    far: [undefined, "The waiting room cannot be reached."],
    closed: [401, "Sign in again."],
  };
  const call = async (_, path) => {
    const [name, what, id] = path.slice(PATH.length).split("/");
    // The event that held this room is deleted between the two questions.
    if (id && name === "partly") throw Object.assign(new Error("None."), { status: 404 });
    if (id) return { name: "Repair" };
    assert.equal(what, "status");
    const [status, message] = refusals[name] ?? [];
    if (message) throw Object.assign(new Error(message), { status });
    const places = [["FRA", 40], ["AMS", 1_200]].map(([data_center, silent_seconds]) => ({
      data_center,
      silent_seconds,
    }));
    const held = { held_by: "event", held_until: "then", event_id: "e" };
    if (name === "partly") return { ...held, silent_data_centers: places };
    return name === "held" ? held : {};
  };
  const names = ["open", "dead", "gone", "held", "far", "closed", "partly"];
  const rooms = names.map((id) => ({ id, zone_id: "z" }));
  const off = { id: "dead", zone_id: "z", suspended: true };
  const { byEvents, silent } = await askedOf(call, [...rooms, off]);
  assert.deepEqual([...byEvents], [["held", { name: "Repair", until: "then" }]]);
  const problem = "data center FRA: no report for 40 s; data center AMS: no report for 1,200 s";
  const partly = { room: rooms[6], problem, isPart: true };
  assert.deepEqual(silent, [{ room: rooms[1], problem: refusals.dead[1] }, partly]);
});

test("limits that were half written overwrite none that were set meanwhile", async () => {
  const server = serverOf({ total_active_users: 500, new_users_per_minute: 100 });
  const basis = { limit: 1_000, perMinute: 100 };
  const seen = limitsSeen(server.document, basis);
  const change = { path: "room", patch: { total_active_users: 2_000 } };
  await assert.rejects(apply(server.ask, change, seen), /meanwhile somebody else has set/);
  const event = { total_active_users: null, new_users_per_minute: null };
  assert.deepEqual(limitsSeen(event, basis), event);
});

test("of two who change the same field at once one is told", async () => {
  const server = serverOf({ total_active_users: 100, page_message: "" });
  const seen = { ...server.document };
  const lower = { path: "room", patch: { total_active_users: 50 } };
  // It comes while the colleague's change is between its question and its answer.
  server.meanwhile({ total_active_users: 200 });
  await assert.rejects(apply(server.ask, lower, seen), {
    message:
      "Nothing was changed: meanwhile somebody else has set total active users 200. Look again.",
  });
  assert.equal(server.document.total_active_users, 200);
  // Of another field it is no reason to refuse.
  server.meanwhile({ page_message: "Hello" });
  assert.match(await apply(server.ask, lower, server.document), /^In force: total active users 50/);
  assert.deepEqual(server.document, { total_active_users: 50, page_message: "Hello" });
  server.meanwhile({ total_active_users: 70 });
  await assert.rejects(applyPatch(server.ask, "room", lower.patch, { total_active_users: 50 }));
  assert.equal(server.document.total_active_users, 70);
});

test("what the event in force has of its own is not told to count before it ends", async () => {
  const end = "2026-11-23T11:00:00Z";
  const own = { name: "sale", description: "", event_end_time: end };
  const saved = (patch, event) => {
    const server = serverOf({ name: "shop", queueing_method: "fifo", turn_kept_minutes: 0 });
    return apply(server.ask, { path: "room", patch, event }, { ...server.document });
  };
  const both = { queueing_method: "reject", turn_kept_minutes: 3 };
  const counts = "Stored and read back; it counts everywhere within 5 s.";
  const later =
    "Stored and read back: queueing method “Nobody new enters (sold out)”; but the event “sale” " +
    `has its own until it ends, ${moment(end)}.`;
  const fifo = { ...own, queueing_method: "fifo" };
  assert.equal(await saved({ queueing_method: "reject" }, fifo), later);
  assert.equal(await saved(both, fifo), `In force: turn_kept_minutes 3. ${counts} ${later}`);
  const closed = "queueing method “Nobody new enters (sold out)”";
  const all = `In force: ${closed}, turn_kept_minutes 3. ${counts}`;
  assert.equal(await saved(both, { ...own, queueing_method: null }), all);
  assert.equal(await saved(both), all);
  assert.equal(await saved({ name: "other" }, own), `In force: name "other". ${counts}`);

  const server = serverOf({ queueing_method: "fifo" });
  const change = { path: "event", patch: { queueing_method: "reject" }, until: "It ends soon." };
  const told = await apply(server.ask, change, { ...server.document });
  assert.equal(told, `In force: ${closed}. ${counts} It ends soon.`);
});

test("a page says when visitors see what was stored of it", () => {
  const end = "2026-11-23T11:00:00Z";
  const event = { name: "sale", event_end_time: end, page_text: "Hello", page_logo: null };
  const check = (names, of, want) => {
    const stored = Object.fromEntries(names.map((name) => [name, "x"]));
    assert.equal(whenSeen(stored, of), want);
  };
  const soon = "stored; visitors see it within 5 s";
  const its = `the event “sale” has its own until it ends, ${moment(end)}.`;
  check(["page_text", "page_logo"], undefined, `${soon}.`);
  check(["page_logo"], event, `${soon}.`);
  check(["page_text"], event, `stored; but ${its}`);
  check(["page_text", "page_logo"], event, `${soon}, but of “Text” ${its}`);
});

test("what the API says beside a change is told after it", async () => {
  const server = serverOf({ name: "shop" });
  server.messages = [{ code: 1900, message: "Lots are drawn anew." }];
  const told = await apply(server.ask, { path: "room", patch: { name: "b" } }, { name: "shop" });
  assert.match(told, /^In force: name "b"\. .* Lots are drawn anew\.$/);
});

test("rules that change while others are taken back stay", async () => {
  const server = serverOf([]);
  const rule = { expression: "ssl", description: "", enabled: true };
  server.meanwhile([rule]);
  const back = (present) => [...present, { ...rule, description: "back" }];
  assert.match(await apply(server.ask, { path: "rules", back }), /^Taken back\./);
  assert.deepEqual(server.document.map(({ description }) => description), ["", "back"]);
});

/** An API with one document, which somebody else changes after the next question for it. */
function serverOf(document) {
  let others;
  const server = {
    document,
    messages: [],
    meanwhile: (change) => {
      others = change;
    },
    ask: async (method, _, body, tag) => {
      const present = JSON.stringify(server.document);
      if (method !== "GET" && tag !== undefined && tag !== present) {
        throw Object.assign(new Error("It is not the version."), { status: 412 });
      }
      if (method !== "GET") server.document = merged(server.document, body);
      const { document: result, messages } = server;
      const answer = { result, messages, tag: JSON.stringify(result) };
      if (method === "GET" && others) {
        server.document = merged(server.document, others);
        others = undefined;
      }
      return answer;
    },
  };
  return server;
}

const merged = (one, other) => (Array.isArray(other) ? other : { ...one, ...other });
