/** The clock of an owner's machine is hours ahead, and is set right while the room is served. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { OwnServer, until } from "../harness/own-server.mjs";
import { builtPreload, preloadMissing } from "../harness/preload.mjs";
import { Visitor } from "../harness/visitor.mjs";

const ALL = { timeout: 300_000 };
const HOST = "shop.example";
const AHEAD_MS = 7_200_000n;

test("workerd is started again once the clock is set back", ALL, async (t) => {
  const missing = preloadMissing("clock");
  if (missing && process.env.CI) throw new Error(`CI must run this test: ${missing}`);
  if (missing) return t.skip(`SKIPPED: ${missing}`);
  const server = await OwnServer.make(t);
  const file = path.join(server.folder, "clock");
  fs.writeFileSync(file, Buffer.from(new BigInt64Array([AHEAD_MS, 0n]).buffer));
  const preload = { LD_PRELOAD: builtPreload("clock"), TEST_CLOCK_FILE: file };
  await server.start({}, { ...preload, TEST_CLOCK_DATE_ONLY: "1" });
  const before = server.workerd();
  const inside = new Visitor(server, { name: "one", host: HOST });
  await inside.visit();
  assert.ok(inside.inside);

  const mapped = fs.openSync(file, "r+");
  fs.writeSync(mapped, Buffer.from(new BigInt64Array([0n, 0n]).buffer), 0, 16, 0);
  fs.closeSync(mapped);
  await until(() => server.workerd() !== before, "workerd is not started again");
  assert.match(server.said, /The clock was set back by 7200 s: workerd is started again/);
  const next = new Visitor(server, { name: "two", host: HOST });
  await until(async () => {
    await next.visit();
    return next.inside;
  }, "nobody enters once the clock is set back");
});
