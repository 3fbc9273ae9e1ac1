/**
 * What webhooks are told, when it is sent again, and what is sent: the decisions, without any
 * object.
 */

import assert from "node:assert/strict";
import crypto from "node:crypto";
import fs from "node:fs";
import { test } from "node:test";

import { aboutOf, bodyOf, headersOf } from "../../webhooks/body.js";
import {
  EMPTY,
  MESSAGES_MAX,
  NO_ANSWER,
  answered,
  dueAt,
  pushed,
  taken,
  told,
  withoutHooks,
  withoutUntrue,
} from "../../webhooks/outbox.js";
import { lookAt, numbersOf, watched } from "../../webhooks/watch.js";
import { HOOK, NOON, QUIET, SECOND_MS } from "../harness/sight.mjs";
import { ROOT as FOLDER } from "../harness/worker-modules.mjs";

const MINUTE_MS = 60 * SECOND_MS;
const QUEUES = { ...QUIET, is_open: false, active: 100, waiting: 20, told_wait_s: 300 };
const LONG = { ...QUEUES, told_wait_s: 31 * 60 };
const SALE = { id: "e", name: "sale", is_running: false };

/** Looks each second at what `sightAt(second)` sees; returns `[second, kind, hook]` of all told. */
function toldOf(seconds, sightAt, state = { told: undefined }) {
  const all = [];
  for (let second = 0; second < seconds; second += 1) {
    const sight = { ...sightAt(second), now: NOON + second * SECOND_MS };
    const { told: next, messages } = watched(state.told, sight);
    state.told = JSON.parse(JSON.stringify(next));
    all.push(...messages.map(({ kind, hook }) => [second, kind, hook]));
  }
  return all;
}

test("a line is told once it lasts, and its end once nobody has waited for a while", () => {
  const line = (second) => (second >= 10 && second < 100 ? QUEUES : QUIET);
  assert.deepEqual(toldOf(600, line), [
    [25, "queueing_started", "a"],
    [280, "queueing_stopped", "a"],
  ]);
  const blink = (second) => (second % 20 < 10 ? QUEUES : QUIET);
  assert.deepEqual(toldOf(3_600, blink), [], "a line that never lasts");
  const flapping = (second) => (second % 120 < 60 ? QUEUES : QUIET);
  assert.deepEqual(toldOf(3_600, flapping), [[15, "queueing_started", "a"]], "one line");
});

test("no line is told of a room that is suspended, in a prequeue or lets everybody in", () => {
  assert.deepEqual(toldOf(60, () => ({ ...QUEUES, is_off: true })), []);
  const prequeue = { ...QUEUES, event: SALE };
  assert.deepEqual(toldOf(60, () => prequeue), [[0, "event_prequeue", "a"]]);
});

test("each phase of an event is told once, also when some were slept through", () => {
  const running = { ...SALE, is_running: true };
  const phases = (second) => ({ ...QUIET, event: [null, SALE, SALE, running, running][second] });
  assert.deepEqual(toldOf(6, phases), [
    [1, "event_prequeue", "a"],
    [3, "event_started", "a"],
    [5, "event_ended", "a"],
  ]);
  const other = { ...running, id: "f", name: "next" };
  const next = (second) => ({ ...QUIET, event: second < 2 ? SALE : other });
  assert.deepEqual(toldOf(4, next), [
    [0, "event_prequeue", "a"],
    [2, "event_ended", "a"],
    [2, "event_started", "a"],
  ]);
});

test("a shown wait is told above the bound of each webhook, and well below it", () => {
  const hooks = [HOOK, { ...HOOK, id: "b", told_wait_minutes: 60 }];
  const waits = (second) => {
    const told_wait_s = second < 100 ? 31 * 60 : second < 400 ? 25 * 60 : 23 * 60;
    return { ...QUIET, hooks, told_wait_s };
  };
  assert.deepEqual(toldOf(900, waits), [
    [30, "told_wait_above", "a"],
    [520, "told_wait_below", "a"],
  ]);
  // In a hold no wait is shown: that is neither a short one nor a long one.
  const held = (second) => ({
    ...QUIET,
    told_wait_s: second < 100 ? 31 * 60 : second < 800 ? null : 0,
  });
  assert.deepEqual(toldOf(1_000, held), [
    [30, "told_wait_above", "a"],
    [920, "told_wait_below", "a"],
  ]);
});

test("a limit is exceeded above what estimates err, and a failing storage is told at once", () => {
  const sights = (second) => ({
    ...QUIET,
    active: second < 300 ? 105 : second < 600 ? 106 : 90,
    is_failing: second > 0 && second < 5,
  });
  assert.deepEqual(toldOf(900, sights), [
    [1, "save_failed", "a"],
    [65, "save_works", "a"],
    [420, "limit_exceeded", "a"],
    [720, "limit_kept", "a"],
  ]);
});

test("a webhook is told of its topics alone, and nothing of what ended before it was there", () => {
  const deaf = { ...HOOK, id: "b", topics: ["save"] };
  assert.deepEqual(toldOf(60, () => ({ ...QUEUES, hooks: [deaf] })), []);
  const state = { told: undefined };
  toldOf(60, () => QUEUES, state);
  const replaced = { ...QUIET, hooks: [{ ...HOOK, id: "c" }] };
  assert.deepEqual(toldOf(600, () => replaced, state), []);
});

test("a webhook that comes in the middle of a line gets its end, and its own long waits", () => {
  const hooks = (second) => (second < 100 ? [HOOK] : [HOOK, { ...HOOK, id: "b" }]);
  const line = (second) => ({ ...(second < 200 ? LONG : QUIET), hooks: hooks(second) });
  assert.deepEqual(toldOf(600, line).filter(([, , hook]) => hook === "b"), [
    [130, "told_wait_above", "b"],
    [320, "told_wait_below", "b"],
    [380, "queueing_stopped", "b"],
  ]);
});

test("a hold is told once it has lasted for a minute, and so is its end", () => {
  const hook = { ...HOOK, topics: ["hold"] };
  const held = (second) => ({ ...QUIET, hooks: [hook], is_held: second >= 10 && second < 200 });
  assert.deepEqual(toldOf(300, held), [[70, "hold_started", "a"], [260, "hold_ended", "a"]]);
  const short = (second) => ({ ...QUIET, hooks: [hook], is_held: second >= 10 && second < 60 });
  assert.deepEqual(toldOf(300, short), []);
  const { told: of } = watched(undefined, { ...held(10), now: NOON });
  assert.equal(lookAt(of, held(10), NOON), NOON + MINUTE_MS);
  // What a version before this one has stored knows no holds.
  const { hold: _, ...older } = of;
  assert.deepEqual(watched(older, { ...held(0), now: NOON }).messages, []);
});

test("an object that sleeps is woken when something is to be told", () => {
  const check = (sight, want) => {
    const { told: next } = watched(undefined, { ...sight, now: NOON });
    assert.equal(lookAt(next, sight, NOON) - NOON, want);
  };
  check(QUIET, Infinity);
  check(QUEUES, 15 * SECOND_MS);
  check({ ...QUIET, change_at: NOON + 9 }, 9);
});

test("an object that sleeps is woken to see the end of what is told", () => {
  const check = (sight, want) => {
    const state = { told: undefined };
    toldOf(301, () => sight, state);
    const now = NOON + 300 * SECOND_MS;
    assert.equal(lookAt(state.told, sight, now) - now, want);
  };
  check(QUIET, Infinity);
  check(QUEUES, 3 * MINUTE_MS);
  check(LONG, 2 * MINUTE_MS);
  check({ ...QUIET, active: 200 }, 2 * MINUTE_MS);
  check({ ...QUIET, is_failing: true }, MINUTE_MS);
  check({ ...QUEUES, change_at: NOON + 301 * SECOND_MS }, SECOND_MS);
  const hold = { ...QUIET, is_held: true };
  check({ ...hold, hooks: [{ ...HOOK, topics: ["hold"] }] }, MINUTE_MS);
  check(hold, Infinity);
  check({ ...QUEUES, hooks: [{ ...HOOK, topics: ["event"] }] }, Infinity);
});

const notice = (hook, kind = "queueing_started") => ({ hook, kind, topic: "queueing", at: NOON });

/** An outbox with messages of these ids for webhook `a`. */
const filled = (...ids) => pushed(EMPTY, NOON, ids.map((id) => ({ id, notice: notice("a") })));

test("a message is sent until it is taken, less and less often, and then given up", () => {
  let outbox = filled("m0");
  const attempts = [];
  for (let at = dueAt(outbox); at < Infinity; at = dueAt(outbox)) {
    const found = taken(outbox, at);
    if (found.due.length === 0) break;
    attempts.push((at - NOON) / SECOND_MS);
    outbox = answered(found.outbox, at, found.due[0], attempts.length % 2 ? NO_ANSWER : 500);
    const state = attempts.length === 8 ? "given_up" : "retrying";
    assert.equal(told(outbox).a.last_delivery.state, state);
  }
  assert.deepEqual(attempts, [0, 15, 45, 165, 765, 2_565, 6_165, 13_365]);
  assert.deepEqual(outbox.messages, []);
  const { due, outbox: sent } = taken(filled("m0"), NOON);
  const done = answered(sent, NOON, due[0], 204);
  assert.deepEqual([done.messages, told(done).a.last_error], [[], null]);
  assert.equal(told(done).a.last_delivery.state, "delivered");
});

test("a message whose outcome is lost comes again, and under way it is not sent twice", () => {
  const first = taken(filled("m0"), NOON);
  assert.equal(first.due.length, 1);
  assert.equal(taken(first.outbox, NOON + 14 * SECOND_MS).due.length, 0);
  const again = taken(first.outbox, NOON + 16 * SECOND_MS);
  assert.deepEqual(again.due.map(({ id, attempts }) => [id, attempts]), [["m0", 2]]);
});

test("a test is tried once, so that its outcome is known at once", () => {
  const outbox = pushed(EMPTY, NOON, [{ id: "m0", notice: notice("a", "test") }]);
  const { due, outbox: sent } = taken(outbox, NOON);
  const failed = answered(sent, NOON, due[0], 302);
  assert.equal(failed.messages.length, 0);
  const { state, http_status, error } = told(failed).a.last_error;
  assert.deepEqual([state, http_status], ["given_up", 302]);
  assert.match(error, /redirect/);
  assert.deepEqual(taken(sent, NOON + 2 * MINUTE_MS).due, [], "not after its outcome was lost");
});

test("an outbox has bounds: how many wait, and how many are under way", () => {
  const ids = Array.from({ length: MESSAGES_MAX + 2 }, (_, at) => `m${at}`);
  const outbox = filled(...ids);
  assert.deepEqual(
    [outbox.messages.length, outbox.messages[0].id, told(outbox).a.last_error.id],
    [MESSAGES_MAX, "m2", "m1"],
  );
  assert.equal(told(outbox).a.last_error.state, "given_up");
  assert.equal(taken(outbox, NOON).due.length, 4);
  assert.deepEqual(withoutHooks(outbox, ["a"]), EMPTY);
});

const ROOM = { id: "r", zone: "z", name: "shop" };
const KEY = Buffer.from("a key of 32 bytes, as they are..");
const webhook = (fields) => ({ id: "a", secret: `whsec_${KEY.toString("base64")}`, fields });
const full = (kind, rest) => ({
  id: "msg_1",
  notice: { hook: "a", kind, at: NOON, event: null, bound_s: null, ...rest },
});
const numbers = numbersOf(QUEUES);

test("the headers sign id, time and body as Standard Webhooks say", async () => {
  const headers = await headersOf("msg_1", '{"a":1}', webhook({}).secret, NOON + 999);
  assert.equal(headers["webhook-id"], "msg_1");
  assert.equal(headers["webhook-timestamp"], String(NOON / 1_000));
  const mac = crypto.createHmac("sha256", KEY).update(`msg_1.${NOON / 1_000}.{"a":1}`);
  assert.equal(headers["webhook-signature"], `v1,${mac.digest("base64")}`);
});

const check = "the check in the manual takes what is genuine, and refuses what has no signature";
test(check, async () => {
  const manual = fs.readFileSync(`${FOLDER}/docs/webhooks.md`, "utf8");
  const [, code] = /```js\n(import crypto.*?)```/s.exec(manual);
  const source = `${code}export { isGenuine };`;
  const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  const { secret } = webhook({});
  const headers = await headersOf("msg_1", "{}", secret, Date.now());
  assert.equal(isGenuine(headers, "{}", secret), true);
  assert.equal(isGenuine(headers, "{} ", secret), false);
  assert.equal(isGenuine({}, "{}", secret), false);
});

test("a body in JSON has every number", () => {
  const message = full("told_wait_above", { topic: "told_wait", numbers, bound_s: 240 });
  assert.deepEqual(JSON.parse(bodyOf(message, webhook({ format: "json" }), ROOM, NOON)), {
    id: "msg_1",
    type: "told_wait_above",
    timestamp: "2026-11-24T12:00:00.000Z",
    summary:
      "Waiting room shop: visitors are shown a wait of up to 5 min, more than 4 min. 20 in line.",
    data: {
      room_id: "r",
      room_name: "shop",
      zone_id: "z",
      event_id: null,
      event_name: null,
      active_users: 100,
      queued_users: 20,
      told_wait_seconds: 300,
      told_wait_bound_seconds: 240,
      total_active_users: 100,
      new_users_per_minute: 60,
    },
  });
});

test("Slack gets a text without markup of ours", () => {
  const message = full("event_started", { topic: "event", numbers, event: SALE });
  const body = bodyOf(message, webhook({ format: "slack" }), { ...ROOM, name: "a<b>&c" }, NOON);
  const text = "Waiting room a&lt;b&gt;&amp;c: event sale has started. 20 in line.";
  assert.deepEqual(JSON.parse(body), { text });
});

test("Slack is told when a message was noticed that comes late", () => {
  const message = full("queueing_stopped", { topic: "queueing", numbers });
  const text = (late_ms) => {
    const body = bodyOf(message, webhook({ format: "slack" }), ROOM, NOON + late_ms);
    return JSON.parse(body).text;
  };
  const told = "Waiting room shop: nobody waits. 100 of 100 inside.";
  assert.equal(text(MINUTE_MS), told);
  assert.equal(text(MINUTE_MS + 1), `${told} (2026-11-24 12:00 UTC)`);
});

/** The ids that stay of messages for webhook `a`, `[id, kind, rest]` each. */
function kept(format, ...messages) {
  const made = messages.map(([id, kind, rest]) => ({ ...full(kind, rest), id }));
  const hook = webhook({ format });
  const all = withoutUntrue(pushed(EMPTY, NOON, made), (one) => aboutOf(one, hook));
  return all.messages.map(({ id }) => id).join(" ");
}

test("Slack and PagerDuty get no beginning after its end, and no end of what began again", () => {
  const line = { topic: "queueing" };
  const began = ["m1", "queueing_started", line];
  const ended = ["m2", "queueing_stopped", line];
  const again = ["m3", "queueing_started", line];
  const limit = ["m4", "limit_exceeded", { topic: "limit" }];
  for (const format of ["slack", "pagerduty"]) {
    assert.equal(kept(format, began, limit), "m1 m4");
    assert.equal(kept(format, began, limit, ended), "m4 m2");
    assert.equal(kept(format, began, ended, again), "m1 m3");
    const other = { topic: "event", event: { ...SALE, id: "f" } };
    const phases = [
      ["m5", "event_prequeue", { topic: "event", event: SALE }],
      ["m6", "event_started", { topic: "event", event: SALE }],
      ["m7", "event_prequeue", other],
    ];
    assert.equal(kept(format, ...phases), "m5 m6 m7");
    const over = ["m8", "event_ended", { topic: "event", event: SALE }];
    assert.equal(kept(format, ...phases, over), "m7 m8");
    const used = (id, kind, of) => [id, kind, { topic: "quota", quota: { of } }];
    const reached = used("m9", "quota_reached", "requests");
    assert.equal(kept(format, reached, used("m0", "quota_renewed", "object_calls")), "m9 m0");
    assert.equal(kept(format, reached, used("m0", "quota_renewed", "requests")), "m0");
  }
  for (const format of ["json", "email"]) assert.equal(kept(format, began, ended), "m1 m2");
});

/** What https://developer.pagerduty.com/docs/events-api-v2/trigger-events/ demands. */
function checkPagerduty(body) {
  const { routing_key, event_action, dedup_key, payload } = body;
  assert.match(routing_key, /^\w{32}$/);
  assert.ok(["trigger", "acknowledge", "resolve"].includes(event_action));
  assert.ok(dedup_key.length <= 255);
  assert.ok(payload.summary.length > 0 && payload.summary.length <= 1_024);
  assert.ok(payload.source.length > 0);
  assert.ok(["critical", "error", "warning", "info"].includes(payload.severity));
  assert.equal(new Date(payload.timestamp).toISOString(), payload.timestamp);
}

test("PagerDuty gets an incident, and what ends resolves the one that has begun", () => {
  const pagerduty = webhook({ format: "pagerduty", routing_key: "k".repeat(32) });
  const sent = (kind, topic, event = null) => {
    const message = full(kind, { topic, numbers, event, bound_s: 60 });
    const body = JSON.parse(bodyOf(message, pagerduty, ROOM, NOON));
    checkPagerduty(body);
    return [body.event_action, body.dedup_key, body.payload.severity];
  };
  const pairs = [
    ["queueing", "info", "queueing_started", "queueing_stopped"],
    ["told_wait", "warning", "told_wait_above", "told_wait_below"],
    ["limit", "error", "limit_exceeded", "limit_kept"],
    ["save", "critical", "save_failed", "save_works"],
  ];
  for (const [topic, severity, begins, ends] of pairs) {
    assert.deepEqual(sent(begins, topic), ["trigger", `r/${topic}/a`, severity]);
    assert.deepEqual(sent(ends, topic).slice(0, 2), ["resolve", `r/${topic}/a`]);
  }
  const quota = { of: "requests", used: 81_000, limit: 100_000, percent: 81, period: "2026-11-24" };
  for (const [kind, action] of [["quota_reached", "trigger"], ["quota_renewed", "resolve"]]) {
    const message = full(kind, { topic: "quota", numbers, event: null, bound_s: null, quota });
    const body = JSON.parse(bodyOf(message, pagerduty, ROOM, NOON));
    checkPagerduty(body);
    assert.deepEqual([body.event_action, body.dedup_key], [action, "r/quota/a/requests"]);
    assert.equal(body.payload.custom_details.quota_percent, 81);
  }
  for (const kind of ["event_prequeue", "event_started"]) {
    assert.deepEqual(sent(kind, "event", SALE), ["trigger", "r/event/e", "info"]);
  }
  assert.deepEqual(sent("event_ended", "event", SALE).slice(0, 2), ["resolve", "r/event/e"]);
  assert.equal(sent("test", "test")[0], "trigger");
});
