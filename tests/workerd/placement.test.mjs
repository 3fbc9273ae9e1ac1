/** Objects are placed where `LOCATION_HINT` and `JURISDICTION` say. */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";

const shop = room({ name: "shop" });

/** Checks where the objects are placed after a visit: the room's own, and those of AMS. */
function check(name, vars, { central, near }) {
  clusterTest(name, { rooms: [shop], vars }, async (cluster) => {
    const { status } = await cluster.send("ams-1", shop);
    assert.equal(status, 200);
    await cluster.advance(5_000);
    const doors = await Promise.all([cluster.door("hub"), cluster.door("ams-1")]);
    const places = Object.assign({}, ...doors.map((door) => door.places));
    const want = { registry: central, [shop.id]: central, [`${shop.id}/AMS`]: near };
    assert.deepEqual(places, want);
    assert.equal((await cluster.arrivals()).length, 1, "the visitor did not enter");
  });
}

check("near whoever calls first, without a word", {}, { central: {}, near: {} });
check(
  "a hint is for the objects that belong to no data center",
  { LOCATION_HINT: "weur" },
  { central: { hint: "weur" }, near: {} },
);
check(
  "no object leaves the jurisdiction",
  { LOCATION_HINT: "weur", JURISDICTION: "eu" },
  { central: { hint: "weur", jurisdiction: "eu" }, near: { jurisdiction: "eu" } },
);
