// How a file of everything is split into requests, and what is said when one of them is refused.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  exported,
  imported,
  isPlain,
  newWebhooks,
  partsOf,
  summary,
} from "../../scripts/whole-file.mjs";

const big = "x".repeat(400_000);
const rooms = Array.from({ length: 5 }, (_, at) => ({ id: `${at}`, name: `r${at}`, page: big }));
const file = { format: 1, lists: [{ name: "us" }], zones: [{ zone_id: "z" }], rooms };

test("a file is split into parts in which lists come before the rooms", () => {
  const parts = partsOf(file);
  assert.deepEqual(
    parts.map((part) => [part.lists.length, part.zones.length, part.rooms.length]),
    [[1, 0, 2], [0, 0, 2], [0, 1, 1]],
  );
  assert.deepEqual(parts.flatMap((part) => part.rooms), rooms);
  const list = rooms.slice(0, 1);
  assert.deepEqual(partsOf(list), [{ format: 1, lists: [], rooms: list, zones: [] }]);
  assert.equal(partsOf([]).length, 1);
  assert.equal(partsOf({ format: 9, rooms: [] })[0].format, 9, "the Worker judges the format");
  const long = { name: "long", page: "x".repeat(2_000_000) };
  assert.equal(partsOf([long, long]).length, 2, "one entry may be longer than a part");
  for (const wrong of ["x", null, 1, { rooms: {} }, { lists: 1 }]) {
    assert.throws(() => partsOf(wrong), /must be a list of rooms/);
  }
  const tooLong = { name: "huge", page: "x".repeat(4_200_000) };
  assert.throws(() => partsOf([tooLong]), /nothing was sent:\n {2}room "huge": it is longer than/);
});

test("what a refusal says of another entry is told by its name", async () => {
  const error = {
    message: "/rooms/1/host and path are already taken at /rooms/0/host",
    pointer: "/rooms/1/host",
  };
  const call = async () => {
    throw Object.assign(new Error("refused"), { status: 400, errors: [error] });
  };
  const refused = imported(call, { rooms: [{ name: "p2" }, { name: "p3" }] });
  const named = /room "p3", host: and path are already taken at room "p2" \/host$/;
  await assert.rejects(refused, named);
});

test("what came of the parts is summed up", async () => {
  const told = [];
  const call = async (method, path, part) => ({
    rooms: part.rooms.length,
    lists: part.lists.length,
    changed: 1,
    new_webhooks: [part.rooms[0].id],
  });
  const sums = await imported(call, file, (...parts) => told.push(parts));
  assert.deepEqual([sums.rooms, sums.lists, sums.changed], [5, 1, 3]);
  assert.deepEqual(sums.new_webhooks, ["0", "2", "4"]);
  assert.deepEqual(told, [[1, 3], [2, 3], [3, 3]]);
});

test("a refused part names room, field and remedy, and what is in force", async () => {
  const failing = (at, problem) => {
    let calls = 0;
    const call = async () => {
      calls += 1;
      if (calls > at) throw problem;
      return { changed: 1 };
    };
    return imported(call, file).then(assert.fail, ({ message }) => message);
  };
  const pointer = "/rooms/1/events/0/name";
  const errors = [{ message: `${pointer} must be letters`, pointer }];
  const refused = Object.assign(new Error("x"), { status: 400, errors });
  assert.equal(
    await failing(1, refused),
    "part 2 of 3 refused (400), nothing of it was changed; what came before it in the file is in " +
      'force:\n  room "r3", events/0/name: must be letters',
  );
  const first = /^part 1 of 3 refused \(400\), nothing of it was changed:\n/;
  assert.match(await failing(0, refused), first);
  const silent = Object.assign(new Error("no answer"), { status: 503 });
  assert.equal(
    await failing(2, silent),
    "part 3 of 3 failed (503); what came before it in the file is in force; run it again, which " +
      "is safe:\n  no answer",
  );
  const failed = (status) => failing(0, Object.assign(new Error("no"), { status }));
  assert.match(await failed(499), /^part 1 of 3 refused \(499\), nothing of it was changed/);
  assert.match(await failed(500), /^part 1 of 3 failed \(500\); run it again, which is safe/);
  const other = Object.assign(new Error("x"), {
    status: 400,
    errors: [{ message: "/format must be 1", pointer: "/format" }, { message: "too many" }],
  });
  assert.match(await failing(0, other), /\n {2}\/format: must be 1\n {2}too many$/);
});

test("an export is read again if somebody changes rooms meanwhile", async () => {
  const parts = (versions) => async (method, path) => {
    const from = Number(path.split("=")[1]);
    const next = from === 0 ? 1 : null;
    return { version: versions.shift(), next, lists: [], zones: [], rooms: [{ id: from }] };
  };
  const { rooms: found } = await exported(parts([1, 2, 2, 2]));
  assert.deepEqual(found, [{ id: 0 }, { id: 1 }]);
  await assert.rejects(exported(parts([1, 2, 3, 4, 5, 6])), /changes rooms all the time/);
});

test("a file is told in words", () => {
  assert.equal(summary({ rooms: [1], lists: [], zones: [] }), "1 room");
  const all = "2 rooms, 1 list and the settings of 1 zone";
  assert.equal(summary({ rooms: 2, lists: 1, zones: 1 }), all);
  assert.equal(isPlain({ lists: [], zones: [], rooms: [{ webhooks: [] }] }), false);
  assert.equal(isPlain({ lists: [], zones: [], rooms: [{}] }), true);
  const added = { id: "7", room_id: "1", secret: "whsec_x", missing_fields: ["url"] };
  assert.deepEqual(newWebhooks([added, { ...added, room_id: "x", missing_fields: [] }], rooms), [
    'webhook 7 of room "r1": its new secret is whsec_x; it sends nothing until you set url',
    'webhook 7 of room "x": its new secret is whsec_x',
  ]);
});
