/** A served folder goes on with the next version, and with the one before, while a line stands. */

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { OwnServer, until } from "../harness/own-server.mjs";
import { previousRelease } from "../harness/previous.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

/** It takes less, on a slow machine too. A command that hangs still ends the run. */
const ALL = { timeout: 300_000 };
/**
 * Longer than an isolate takes to report an entry. A restart before that counts the slot and the
 * visitor, until the session ends.
 */
const REPORTED_MS = 4_000;

test("an upgrade keeps places and order, and the way back keeps places", ALL, async (t) => {
  const release = fs.mkdtempSync(path.join(os.tmpdir(), "own-machine-before-"));
  t.after(() => fs.rmSync(release, { recursive: true, force: true }));
  const limits = { total_active_users: 2, new_users_per_minute: 2 };
  const shop = room({ name: "shop", host: "shop.example", session_duration: 30, ...limits });
  const server = await OwnServer.make(t, { rooms: [shop], root: previousRelease(release) });
  await server.start();
  const named = (name) => new Visitor(server, { name, host: shop.host });
  const visitors = ["one", "two", "three", "four"].map(named);
  for (const one of visitors) await one.visit();
  const [inside, waiting] = [visitors.slice(0, 2), visitors.slice(2)];
  const early = named("early");
  await areInside(inside, [...waiting, early]);

  await sleep(REPORTED_MS);
  await moveTo(server, ROOT);
  const late = named("late");
  await areInside(inside, [...waiting, early, late]);
  await allows(server, shop, 3);
  await entersFirst("three", [late, early, ...waiting]);

  await sleep(REPORTED_MS);
  await moveTo(server, release);
  await areInside(visitors.slice(0, 3), [visitors[3], early, late]);
});

/** Who is inside stays it; who waits, or comes anew, waits. */
async function areInside(inside, waiting) {
  // Whoever waits asks first: a place that was lost would be theirs.
  for (const one of [...waiting, ...inside]) await one.visit();
  assert.deepEqual([...inside, ...waiting].map((one) => one.inside), [
    ...inside.map(() => true),
    ...waiting.map(() => false),
  ]);
}

/** Ends the command, and serves the same folder with the version that is in another one. */
async function moveTo(server, root) {
  assert.equal(await server.stop(), 0, server.said);
  server.root = root;
  await server.start();
}

/** Lets so many in. */
async function allows(server, { id }, count) {
  const limits = { total_active_users: count, new_users_per_minute: count };
  const { status } = await server.api("PATCH", `waiting_rooms/${id}`, limits);
  assert.equal(status, 200);
}

/** Of these, who all ask again and again, that one enters and nobody else. */
async function entersFirst(name, waiting) {
  const inside = () => waiting.filter((one) => one.inside).map((one) => one.name);
  await until(async () => {
    for (const one of waiting) await one.visit();
    return inside().length > 0;
  }, `${name} does not enter`);
  assert.deepEqual(inside(), [name]);
}
