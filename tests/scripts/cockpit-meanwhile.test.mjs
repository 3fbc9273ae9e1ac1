/**
 * What the cockpit makes of what others do meanwhile, without a browser: objects fall silent, and
 * colleagues change what is about to be changed.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { askedOf } from "../../cockpit/holds.js";

const PATH = "zones/z/waiting_rooms/";

test("a room that does not answer is told, one that is deleted is not", async () => {
  const refusals = { dead: [503, "The room's object does not answer."], gone: [404, "None."] };
  const call = async (_, path) => {
    const [name, what, id] = path.slice(PATH.length).split("/");
    if (id) return { name: "Repair" };
    assert.equal(what, "status");
    const [status, message] = refusals[name] ?? [];
    if (message) throw Object.assign(new Error(message), { status });
    return name === "held" ? { held_by: "event", held_until: "then", event_id: "e" } : {};
  };
  const rooms = ["open", "dead", "gone", "held"].map((id) => ({ id, zone_id: "z" }));
  const off = { id: "dead", zone_id: "z", suspended: true };
  const { byEvents, silent } = await askedOf(call, [...rooms, off]);
  assert.deepEqual([...byEvents], [["held", { name: "Repair", until: "then" }]]);
  assert.deepEqual(silent, [{ room: rooms[1], problem: refusals.dead[1] }]);
});
