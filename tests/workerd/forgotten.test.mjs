/**
 * What a room's object keeps for a time is gone after it, also if nobody visits the room again, and
 * all of it once the room was deleted.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after } from "node:test";

import { ROOMS, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { sendForm } from "../harness/place.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, pass, visitorInside } from "../harness/visitor.mjs";
import { startReceiver } from "../harness/webhook-receiver.mjs";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const HOST = "hooks.example";
const lounge = room({
  name: "lounge",
  total_active_users: 1,
  session_duration: 2,
  turn_notice: "email",
  show_position: true,
});
const receiver = await startReceiver();
after(() => receiver.stop());
const options = {
  rooms: [lounge],
  colos: { AMS: 1 },
  build: "debug",
  outside: { [HOST]: receiver.port },
};

/** How many rows each table of the global aggregators has; a table without rows is left out. */
async function stored(cluster) {
  const counts = {};
  await cluster.whileHalted((folder) => {
    const names = fs.readdirSync(folder, { recursive: true });
    for (const name of names.filter((one) => /GlobalAggregator.*\.sqlite$/.test(one))) {
      const database = new DatabaseSync(path.join(folder, name), { readOnly: true });
      const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
      for (const { name: table } of tables) {
        const { count } = database.prepare(`SELECT COUNT(*) AS count FROM "${table}"`).get();
        if (count > 0 && !table.startsWith("_cf_METADATA")) counts[table] = count;
      }
      database.close();
    }
  });
  return counts;
}

/** Somebody was told before the turn, and everybody has left. */
async function lineThatIsOver(cluster) {
  receiver.requests = [];
  const hook = { url: `https://${HOST}/turns`, topics: ["turn"] };
  await call(cluster, "POST", `${ROOMS}/${lounge.id}/webhooks`, hook);
  await pass(cluster, 8_000, []);
  await visitorInside(cluster, lounge);
  const waiting = [];
  for (let at = 1; at <= 6; at += 1) {
    const visitor = new Visitor(cluster, { name: `w${at}`, host: lounge.host });
    await visitor.visit();
    waiting.push(visitor);
    await cluster.advance(1_000);
  }
  await pass(cluster, 25_000, waiting);
  const last = waiting.at(-1);
  await last.visit();
  await sendForm(last, { act: "tell", contact: "ann@mail.example" });
  await pass(cluster, 14 * MINUTE_MS, waiting, () => last.inside);
  assert.ok(last.inside && receiver.requests.length === 1);
  await cluster.advance(MINUTE_MS);
}

clusterTest("what is over is deleted while nobody comes", options, async (cluster) => {
  await lineThatIsOver(cluster);
  const before = await stored(cluster);
  assert.ok(before.journal > 0 && before.turns_told > 0 && before.turn_shares > 0);
  const left = async (ms) => {
    cluster.clock.jump(ms);
    await pass(cluster, 2 * MINUTE_MS, []);
    return await stored(cluster);
  };
  const soon = await left(7 * HOUR_MS);
  assert.deepEqual([soon.turns_told, soon.turn_shares], [undefined, undefined]);
  assert.ok(soon.journal > 0, "the journal is kept for two days");
  const late = await left(42 * HOUR_MS);
  assert.equal(late.journal, undefined);
  assert.ok(late.history > 0, "the history is kept");
});

clusterTest("a deleted room leaves nothing in its object", options, async (cluster) => {
  await lineThatIsOver(cluster);
  const { history, journal } = await stored(cluster);
  assert.ok(history > 0 && journal > 0);
  const deleted = await call(cluster, "DELETE", `${ROOMS}/${lounge.id}`);
  assert.deepEqual(deleted.messages, []);
  await pass(cluster, MINUTE_MS, []);
  assert.deepEqual(await stored(cluster), {});
});
