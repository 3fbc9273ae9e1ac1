/**
 * What the cockpit says of a room and an event is what the core has in force: a page has no wasm to
 * ask. `api/status.rs` of the core is held to the same cases.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";

import { inForce, status } from "../../cockpit/facts.js";
import { isHeld } from "../../cockpit/holds.js";

const { room, event, cases } = JSON.parse(
  fs.readFileSync(new URL("in_force.json", import.meta.url), "utf8"),
);
/** The word of the cockpit, by what holds the room. */
const WORDS = {
  maintenance: "Maintenance",
  drain: "Draining",
  queue_all: "Hold all",
  event: "Hold all",
  prequeue: "Pre-queueing",
  reject: "Rejecting",
  "": "Not queueing",
};
/** What rooms in a list are not asked about: an event's hold, and a method that is no hold. */
const NOT_LISTED = ["event", "reject", ""];

for (const one of cases) {
  test(`in force: ${JSON.stringify([one.at, one.room, one.event])}`, () => {
    const { held_by: heldBy, ...wanted } = one.in_force;
    const ofRoom = { ...room, ...one.room };
    const active = wanted.event_id ? { ...event, ...one.event } : undefined;
    const said = inForce(ofRoom, active);
    assert.deepEqual(
      [said.limit, said.perMinute, said.sessionMinutes, said.method],
      [
        wanted.total_active_users,
        wanted.new_users_per_minute,
        wanted.session_duration,
        wanted.queueing_method,
      ],
    );
    const numbers = {
      status: wanted.status,
      estimated_total_active_users: 0,
      estimated_queued_users: 0,
    };
    const word = wanted.status === "suspended" ? "Disabled" : WORDS[heldBy];
    assert.equal(status(ofRoom, active, numbers).word, word);
    const now = Date.parse(one.at);
    const { prequeue_start_time, event_start_time } = { ...event, ...one.event };
    const next = Date.parse(event_start_time) > now;
    const listed = next ? { next_event_prequeue_start_time: prequeue_start_time } : {};
    const isListed = isHeld({ ...ofRoom, ...listed }, now);
    if (!NOT_LISTED.includes(heldBy)) assert.ok(isListed);
    if (heldBy === "") assert.ok(!isListed);
  });
}
