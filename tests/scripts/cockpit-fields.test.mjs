/**
 * Every field of a room that the API takes is in a form of the cockpit, or behind one of its
 * buttons, or in the list below with the reason why not; and what a form shows goes back unchanged.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";

import { actionsOf, limitsChange } from "../../cockpit/actions.js";
import { PAGE_FIELDS } from "../../cockpit/page_fields.js";
import { NEW_ROOM_FIELDS, SETTINGS_NAMES, patchOf, valuesOf } from "../../cockpit/room_fields.js";
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
});
