/**
 * The disk of an owner's machine is full for a while: those inside notice nothing, newcomers wait,
 * never more than the limit are inside, and once there is room again the line goes on by itself.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { OwnServer, until } from "../harness/own-server.mjs";
import { builtPreload, preloadMissing } from "../harness/preload.mjs";
import { FREQUENT_CHECK_INS, room } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";

/** It takes less on a slow machine too. A command that hangs still ends the run. */
const ALL = { timeout: 300_000 };
const LIMIT = 4;
const shop = room({ name: "shop", total_active_users: LIMIT, ...FREQUENT_CHECK_INS });

test("on a full disk nobody enters and nobody inside notices", ALL, async (t) => {
  const missing = preloadMissing("full-disk");
  if (missing && process.env.CI) throw new Error(`CI must run this test: ${missing}`);
  if (missing) return t.skip(`SKIPPED: ${missing}`);
  const server = await OwnServer.make(t, { rooms: [shop] });
  const full = path.join(server.folder, "full");
  const preload = { LD_PRELOAD: builtPreload("full-disk"), TEST_FULL_DISK: full };
  await server.start({}, preload);
  const visitor = (name) => new Visitor(server, { name, host: shop.host });
  const says = (text) => until(() => server.said.includes(text), `no "${text}" is said`);
  const inside = [visitor("one"), visitor("two")];
  for (const one of inside) await one.visit();
  assert.ok(inside.every((one) => one.inside));

  fs.writeFileSync(full, "");
  const newcomers = Array.from({ length: LIMIT }, (_, at) => visitor(`newcomer ${at}`));
  for (const one of newcomers) await one.visit();
  await says("AboveSilent");
  await says("is full: nothing can be stored, so nobody enters.");
  for (const one of [...inside, ...newcomers]) await one.visit();
  assert.ok(inside.every((one) => one.inside), "somebody inside was held up");
  assert.deepEqual(newcomers.map(({ seen }) => seen), newcomers.map(() => "queue"));

  fs.rmSync(full);
  await says("has room again: ");
  const entered = () => newcomers.filter((one) => one.inside);
  const end = Date.now() + 60_000;
  while (entered().length < LIMIT - inside.length && Date.now() < end) {
    for (const one of newcomers) await one.visit();
  }
  assert.equal(entered().length, LIMIT - inside.length);
});
