/**
 * Every field of a room that the API takes is in a form of the cockpit, or behind one of its
 * buttons, or in the list below with the reason why not; and what a form shows goes back unchanged.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";

import { actionsOf, limitsChange } from "../../cockpit/actions.js";
import { EVENT_FIELDS, copyOf, shownOf, weeksLater } from "../../cockpit/event_fields.js";
import { fieldOf, fieldsOf } from "../../cockpit/fields.js";
import { PAGE_FIELDS } from "../../cockpit/page_fields.js";
import {
  NEW_ROOM_FIELDS,
  SETTINGS_NAMES,
  patchOf,
  valuesOf,
  whoNotices,
} from "../../cockpit/room_fields.js";
import { ROOT } from "../harness/worker-modules.mjs";

/** Fields that no form and no button of `actionsOf` has. */
const ELSEWHERE = {
  page_message: "it has a form of its own beside the numbers: message.jsx",
};

const description = JSON.parse(fs.readFileSync(`${ROOT}/src/openapi.json.txt`, "utf8"));
const { properties } = description.components.schemas.Room;
const room = Object.fromEntries(
  Object.entries(properties).map(([name, { default: value }]) => [name, value]),
);
const shop = {
  ...room,
  name: "shop",
  host: "shop.example",
  total_active_users: 20,
  new_users_per_minute: 10,
};

test("the cockpit has every field of a room", () => {
  const names = Object.keys(properties).filter((name) => !properties[name].readOnly);
  const forms = [NEW_ROOM_FIELDS, PAGE_FIELDS].flat().map(({ name }) => name);
  const numbers = { estimated_total_active_users: 0, estimated_queued_users: 0 };
  const actions = [shop, { ...shop, suspended: true }].flatMap((one) =>
    actionsOf({ room: one, numbers }),
  );
  const limits = limitsChange(shop, undefined, numbers, { limit: 5, perMinute: 5 });
  const buttons = [...actions, limits].flatMap(({ patch }) => Object.keys(patch));
  const all = new Set([...forms, ...SETTINGS_NAMES, ...buttons, ...Object.keys(ELSEWHERE)]);
  assert.deepEqual(names.filter((name) => !all.has(name)), [], "the cockpit does not have");
  assert.deepEqual([...all].filter((name) => !names.includes(name)), [], "no field of the API");
  const twice = Object.keys(ELSEWHERE).filter((name) =>
    [...forms, ...SETTINGS_NAMES, ...buttons].includes(name),
  );
  assert.deepEqual(twice, [], "no exception any more");
});

test("a field without words of its own is shown in those of the core's table", () => {
  const { options, ...rest } = fieldOf("turn_notice", {});
  assert.deepEqual(options.map(({ value }) => value), ["off", "email", "phone", "email_or_phone"]);
  assert.deepEqual([rest.label, rest.type], ["Turn notice", "select"]);
  assert.equal(rest.help, properties.turn_notice.description);
  const kept = fieldOf("turn_kept_minutes", {});
  assert.equal(kept.help, `0 to 5. ${properties.turn_kept_minutes.description}`);
  const names = (group, texts) => fieldsOf(group, texts).map(({ name }) => name);
  const all = names("Waiting", {});
  assert.deepEqual(names("Waiting", { [all.at(-1)]: {} }), [all.at(-1), ...all.slice(0, -1)]);
});

test("the form of an event has every field of one, and what it shows goes back", () => {
  const { properties: ofEvent } = description.components.schemas.Event;
  const names = Object.keys(ofEvent).filter((name) => !ofEvent[name].readOnly);
  assert.deepEqual(EVENT_FIELDS.map(({ name }) => name).sort(), names.sort());
  const event = {
    id: "1",
    name: "sale-2026-10-22",
    description: "half",
    event_start_time: "2026-10-22T08:00:00.000Z",
    event_end_time: "2026-10-22T10:00:00.000Z",
    prequeue_start_time: null,
    queueing_method: "random",
    disable_session_renewal: true,
  };
  const { disable_session_renewal: ends, queueing_method: method } = shownOf(event);
  assert.deepEqual([ends, method, shownOf(event).total_active_users], ["true", "random", ""]);
  const [next, after] = [1, 2].map((weeks) => weeksLater(event, weeks));
  const hour = ({ event_start_time: start }) => new Date(start).getHours();
  // The clocks may change in between: the time of day where the owner is stays.
  assert.deepEqual([hour(next), hour(after)], [hour(event), hour(event)]);
  assert.match(next.name, /^sale-2026-10-(29|30)$/);
  const kept = [next.id, next.description, next.prequeue_start_time];
  assert.deepEqual(kept, [undefined, "half", null]);
  const told = Object.keys(ofEvent).filter((name) => ofEvent[name].readOnly);
  const whole = { ...event, ...Object.fromEntries(told.map((name) => [name, "as it was"])) };
  assert.deepEqual(told.filter((name) => name in weeksLater(whole, 1)), [], "of another event");
  const day = 86_400_000;
  const copy = copyOf(event, Date.parse(event.event_start_time) + 10 * day);
  assert.equal(copy.event_start_time.slice(0, 10), after.event_start_time.slice(0, 10));
});

test("of a form's fields only those that differ are changed", () => {
  const routes = [{ host: "a.example", path: "/" }, { host: "b.example", path: "/x/y" }];
  const revokes = { ...shop, additional_routes: routes, enabled_origin_commands: ["revoke"] };
  const check = (one, written, want) => {
    assert.deepEqual(patchOf(one, { ...valuesOf(one), ...written }), want);
  };
  check(shop, {}, {});
  check(revokes, {}, {});
  check(shop, { turn_kept_minutes: "3" }, { turn_kept_minutes: 3 });
  check(shop, { queueing_status_code: "429" }, { queueing_status_code: 429 });
  check(shop, { session_duration: "" }, { session_duration: "" });
  check(shop, { host: " Shop.Example " }, { host: "shop.example" });
  const lax = { cookie_attributes: { samesite: "lax", secure: "auto" } };
  check(shop, { samesite: "lax" }, lax);
  check(shop, { origin_may_revoke: true }, { enabled_origin_commands: ["revoke"] });
  check(revokes, { origin_may_revoke: false }, { enabled_origin_commands: [] });
  const lines = "a.example\n\n b.example/x/y \n";
  check(shop, { additional_routes: lines }, { additional_routes: routes });
  const groups = [
    { name: "a", enters: "first" },
    { name: "b c", enters: "in_turn" },
    { name: "d", enters: "share", one_in: 4 },
    { name: "e", enters: "first", public_key: "11qY_-" },
    { name: "f", enters: "share", one_in: 9, public_key: "x" },
  ];
  check({ ...shop, invitation_groups: groups }, {}, {});
  const written = "a\n\n b c in_turn \nd  share 4\ne key 11qY_-\nf share 9  key x";
  check(shop, { invitation_groups: written }, { invitation_groups: groups });
});

test("who lets nobody new in is told who loses the place by it, and when", () => {
  const rejects = { queueing_method: "reject" };
  const check = (present, want) => {
    assert.match(whoNotices(rejects, { room: shop, ...present }), want);
  };
  const waiting = (estimated_queued_users, held_by = "") => ({ estimated_queued_users, held_by });
  const numbers = waiting(1_234);
  check({ numbers }, /^About 1,234 in line lose their places, unless .* within 5 minutes/);
  check({ numbers: waiting(0) }, /^$/);
  check({}, /^From now on whoever waits loses the place/);
  check({ numbers: waiting(0, "queue_all") }, /^When the hold ends, whoever waits loses/);
  const event = { name: "sale", queueing_method: "fifo" };
  check({ numbers, event }, /^When the event “sale” ends, whoever waits loses/);
  check({ numbers, event: { name: "sale", queueing_method: null } }, /^About 1,234 in line/);
  const suffix = { ...rejects, cookie_suffix: "two" };
  check({ room: { ...shop, suspended: true }, numbers, event }, /^$/);
  const told = (patch) => whoNotices(patch, { room: shop, numbers });
  assert.match(told(suffix), /^Everybody is a new visitor: .* About 1,234 in/);
  assert.equal(told({ queueing_method: "fifo" }), "");
});
