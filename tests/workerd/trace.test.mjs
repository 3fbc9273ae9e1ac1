/**
 * Why a visitor waited, by the reference: what the API tells afterwards is what the visitor was
 * shown, also after the room's objects have ended, and nobody calls an object for it.
 */

import assert from "node:assert/strict";

import { ROOMS, call, refused } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { FREQUENT_CHECK_INS, room } from "../harness/rooms.mjs";
import { Visitor, pass, visitorInside } from "../harness/visitor.mjs";

const shop = room({
  name: "shop",
  total_active_users: 1,
  json_response_enabled: true,
  show_position: true,
  enabled_origin_commands: ["revoke"],
  ...FREQUENT_CHECK_INS,
});
const options = { rooms: [shop], colos: { AMS: 1, NRT: 1 }, build: "debug" };
const LOGOUT = "/logout?command=revoke";
/** Reports, syncs and saves of what is told. */
const TOLD_MS = 20_000;
const SESSION_MS = 61_000;
/** Pages that somebody without cookies asks for, and visitors who come back with theirs. */
const NEWCOMERS = 300;
const COME_BACK = 30;
/** Long enough that a place is lost. */
const LONG_GONE_MS = 20 * 60_000;

const pathOf = (reference) => `${ROOMS}/${shop.id}/trace/${reference}`;

/** The reference that a visitor's page shows. */
async function referenceOf(visitor) {
  const { body } = await visitor.visit({ headers: { accept: "application/json" } });
  return JSON.parse(body).cfWaitingRoom.reference;
}

async function traceOf(cluster, reference) {
  return (await call(cluster, "GET", pathOf(reference))).result;
}

/** A visitor who waits, and the number on the page. */
async function waitingVisitor(cluster, name, colo) {
  const visitor = new Visitor(cluster, { name, host: shop.host, colo });
  await visitor.visit();
  assert.ok(visitor.waiting, name);
  return { visitor, reference: await referenceOf(visitor) };
}

/** The visitors in the whole journal of the room. */
async function followed(cluster) {
  const message = { v: 1, m: { journal: `0,${cluster.clock.now() + 1},` } };
  const answer = await cluster.callObject("GlobalAggregator", shop.id, JSON.stringify(message));
  const [, ...rows] = JSON.parse(answer).m.journal.split("\n");
  const records = rows.flatMap((row) => row.split(/[|:;]/)).map((record) => record.split(","));
  return new Set(records.filter((record) => record.length > 1).map(([, reference]) => reference));
}

const seconds = (time) => Date.parse(time) / 1_000;

clusterTest("the journal tells what a visitor was shown", options, async (cluster) => {
  const first = await visitorInside(cluster, shop);
  const { visitor, reference } = await waitingVisitor(cluster, "waits", "NRT");
  await refused(cluster, 404, "GET", pathOf(reference));
  const joined = cluster.clock.now() / 1_000;
  await pass(cluster, TOLD_MS, [visitor]);
  const waiting = await traceOf(cluster, reference.toLowerCase().replace("-", ""));
  assert.equal(waiting.reference, reference);
  assert.equal(waiting.state, "waiting");
  assert.ok(Math.abs(seconds(waiting.joined_at) - joined) <= 2, waiting.joined_at);
  assert.deepEqual(waiting.data_centers, ["NRT"]);
  assert.ok(["limit", "rate", "place"].includes(waiting.waits_for), waiting.waits_for);
  assert.ok(waiting.check_ins.length >= 1);
  assert.equal(waiting.entered_at, null);

  await cluster.killObjects();
  await cluster.loseCopies();
  await pass(cluster, 3 * SESSION_MS, [visitor], () => visitor.inside);
  assert.ok(visitor.inside && first);
  const entered = cluster.clock.now() / 1_000;
  await visitor.visit();
  await cluster.advance(TOLD_MS);
  await cluster.killObjects();
  const told = await traceOf(cluster, reference);
  assert.equal(told.state, "entered");
  assert.equal(told.entered_by, "line");
  assert.deepEqual(told.check_ins[0], waiting.check_ins[0], "after a restart");
  assert.ok(told.check_ins.some((one) => one.people_ahead === 0), "first in the line");
  assert.ok(Math.abs(seconds(told.entered_at) - entered) <= 3, told.entered_at);
  assert.ok(seconds(told.called_at) <= seconds(told.entered_at));
  assert.deepEqual([told.entered_before, told.entered_before_complete], [[], true]);
});

const overtaken = "somebody who missed check-ins is told who entered meanwhile, and why";
clusterTest(overtaken, options, async (cluster) => {
  await visitorInside(cluster, shop);
  const slow = await waitingVisitor(cluster, "slow", "AMS");
  await pass(cluster, TOLD_MS, [slow.visitor]);
  const later = await waitingVisitor(cluster, "later", "NRT");
  // It does not come back, so the next one gets the place.
  await pass(cluster, 3 * SESSION_MS, [later.visitor], () => later.visitor.inside);
  assert.ok(later.visitor.inside);
  const left = await later.visitor.visit({ path: LOGOUT });
  assert.equal(left.kind, "origin");
  await pass(cluster, 3 * SESSION_MS, [slow.visitor], () => slow.visitor.inside);
  assert.ok(slow.visitor.inside);
  await cluster.advance(TOLD_MS);
  await slow.visitor.visit();
  await cluster.advance(TOLD_MS);
  const told = await traceOf(cluster, slow.reference);
  assert.deepEqual(told.entered_before, [{ reason: "missed_check_in", visitors: 1 }]);
  const late = Math.max(told.late_seconds, ...told.check_ins.map((one) => one.late_seconds));
  assert.ok(late > 10, `${late} s late`);
  const other = await traceOf(cluster, later.reference);
  assert.deepEqual([other.state, other.entered_before], ["revoked", []]);
});

clusterTest("what is not known, and who may ask", options, async (cluster) => {
  await visitorInside(cluster, shop);
  const gone = await waitingVisitor(cluster, "gone", "AMS");
  await pass(cluster, TOLD_MS, [gone.visitor]);
  const { errors } = await refused(cluster, 404, "GET", pathOf("7K3M9-QXB2R"));
  assert.match(errors[0].message, /misread or of another room, be older than 48 hours/);
  await refused(cluster, 404, "GET", pathOf("nonsense"));
  await refused(cluster, 403, "GET", pathOf(gone.reference), undefined, {
    authorization: "Bearer no",
  });
  await refused(cluster, 405, "POST", pathOf(gone.reference), {});
  await refused(cluster, 404, "GET", pathOf(gone.reference).replace(shop.id, "9".repeat(32)));
  await cluster.advance(LONG_GONE_MS, 60_000);
  assert.equal((await traceOf(cluster, gone.reference)).state, "gone");
  await cluster.advance(48 * 3_600_000, 3_600_000);
  await refused(cluster, 404, "GET", pathOf(gone.reference));
});

const crowded =
  "a flood of newcomers and of visitors who come back is not in the way of who enters";
clusterTest(crowded, options, async (cluster) => {
  await visitorInside(cluster, shop);
  const { visitor, reference } = await waitingVisitor(cluster, "honest", "AMS");
  for (let one = 0; one < NEWCOMERS; one += 1) {
    await cluster.send("ams-1", { host: shop.host, path: "/", headers: { accept: "text/html" } });
  }
  await pass(cluster, TOLD_MS, [visitor]);
  assert.equal((await followed(cluster)).size, 1, "the one who came back with a cookie");
  const crowd = Array.from({ length: COME_BACK }, (_, at) => {
    return new Visitor(cluster, { name: `crowd-${at}`, host: shop.host, colo: "AMS" });
  });
  for (const one of crowd) await one.visit();
  await pass(cluster, 3 * SESSION_MS, [visitor, ...crowd], () => visitor.inside);
  assert.ok(visitor.inside);
  await visitor.visit();
  await cluster.advance(TOLD_MS);
  const told = await traceOf(cluster, reference);
  assert.deepEqual([told.state, told.entered_before], ["entered", []]);
  assert.ok((await followed(cluster)).size > COME_BACK / 2, "many who came back");
});
