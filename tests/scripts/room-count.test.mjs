/** For which time a room's own count is compared with its log: while it was on, as history goes. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { fullPart, lastTimeOn, rangesOf, roomCount } from "../../src/room_count.js";
import { countedBy } from "../../transparency/download.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const KNOWN_MS = 30_000;
const NOON = Date.parse("2026-11-27T12:00:00Z");
const at = (minutes) => new Date(NOON + minutes * MINUTE_MS).toISOString();
const ROOM = `zones/${"0".repeat(32)}/waiting_rooms/${"1".repeat(32)}`;
const sale = (more) => ({
  id: "2",
  event_start_time: at(10),
  event_end_time: at(20),
  transparency_log: "public",
  suspended: false,
  ...more,
});
const changed = (minutes, before, after, target = ROOM) => ({
  at: at(minutes),
  target,
  before,
  after,
});
const log = (readers) => ({ transparency_log: readers });

/** The newest time on between noon and an hour later, in minutes behind noon. */
function minutesOn(room, events, changes = []) {
  const time = lastTimeOn({ room, events }, changes, [NOON, NOON + HOUR_MS]);
  return time && [time.from, time.until].map((moment) => (moment - NOON) / MINUTE_MS);
}

test("without a change the log was on all the time, or never", () => {
  assert.deepEqual(minutesOn(log("owner"), []), [0, 60]);
  assert.equal(minutesOn(log("off"), []), undefined);
  const limits = changed(30, { total_active_users: 1 }, { total_active_users: 2 });
  assert.deepEqual(minutesOn(log("owner"), [], [limits]), [0, 60]);
  const rules = changed(30, [], [{}], `${ROOM}/rules`);
  assert.deepEqual(minutesOn(log("owner"), [], [rules]), [0, 60]);
});

test("the log of an event was on from its prequeue to its end", () => {
  assert.deepEqual(minutesOn(log("off"), [sale()]), [10, 20]);
  assert.deepEqual(minutesOn(log("off"), [sale({ prequeue_start_time: at(5) })]), [5, 20]);
  assert.equal(minutesOn(log("off"), [sale({ suspended: true })]), undefined);
  assert.equal(minutesOn(log("off"), [sale({ transparency_log: null })]), undefined);
  assert.deepEqual(minutesOn(log("owner"), [sale({ transparency_log: "off" })]), [20, 60]);
  const later = sale({ id: "3", event_start_time: at(30), event_end_time: at(40) });
  assert.deepEqual(minutesOn(log("off"), [sale(), later]), [30, 40], "the newest");
});

test("around a change of the log some seconds are left out", () => {
  const off = changed(20, log("public"), log("off"));
  const on = changed(30, log("off"), log("owner"));
  assert.deepEqual(minutesOn(log("off"), [], [off]), [0, 19.5]);
  assert.deepEqual(minutesOn(log("owner"), [], [on, off]), [30.5, 60]);
  const readers = changed(40, log("owner"), log("public"));
  assert.deepEqual(minutesOn(log("public"), [], [readers, on]), [30.5, 60]);
});

test("an event counts as it was before it was changed or deleted", () => {
  const target = `${ROOM}/events/2`;
  const gone = changed(15, sale(), null, target);
  assert.deepEqual(minutesOn(log("off"), [], [gone]), [10, 14.5]);
  const moved = changed(15, { event_end_time: at(18) }, { event_end_time: at(20) }, target);
  assert.deepEqual(minutesOn(log("off"), [sale()], [moved]), [10, 20]);
  const late = changed(30, { event_end_time: at(18) }, { event_end_time: at(40) }, target);
  const lengthened = sale({ event_end_time: at(40) });
  assert.deepEqual(minutesOn(log("off"), [lengthened], [late]), [30.5, 40]);
  const made = changed(12, null, sale(), target);
  assert.deepEqual(minutesOn(log("off"), [sale()], [made]), [12.5, 20]);
});

test("what a change does not say ends the time", () => {
  const file = changed(30, { events: "9000 bytes, SHA-256 00..." }, { events: [] });
  assert.deepEqual(minutesOn(log("owner"), [], [file]), [30.5, 60]);
  const made = changed(30, null, log("owner"));
  assert.deepEqual(minutesOn(log("owner"), [], [made]), [30.5, 60]);
  const listed = changed(30, { events: [sale({ transparency_log: "off" })] }, { events: [] });
  assert.deepEqual(minutesOn(log("owner"), [], [listed]), [20, 60]);
});

const minutes = (time) => (time - NOON) / MINUTE_MS;

test("the part has full minutes that nothing is added to, and none older than are kept", () => {
  const part = (...given) => {
    const [from, until, first, now] = given.map((minute) => NOON + minute * MINUTE_MS);
    const found = fullPart({ from, until }, first, now);
    return found && [found.from, found.until].map(minutes);
  };
  assert.deepEqual(part(0.5, 60, 0, 60), [1, 55]);
  assert.deepEqual(part(0, 20, 3, 60), [3, 20]);
  assert.equal(part(0, 60, 55, 60), undefined);
  const month = 30 * 24 * 60;
  assert.deepEqual(part(0, month + 60, 0, month + 60), [61, month + 55]);
});

test("a long time is asked for in quarters of an hour, and minutes around them", () => {
  const ranges = (from, until) =>
    rangesOf({ from: NOON + from * MINUTE_MS, until: NOON + until * MINUTE_MS }).map((range) => [
      ...[range.from, range.until].map(minutes),
      range.resolution,
    ]);
  assert.deepEqual(ranges(1, 3_001), [[1, 3_001, "minute"]]);
  assert.deepEqual(ranges(1, 4_000), [
    [1, 15, "minute"],
    [15, 3_990, "quarter"],
    [3_990, 4_000, "minute"],
  ]);
  assert.deepEqual(ranges(0, 4_005), [[0, 4_005, "quarter"]]);
});

/** An API with these entries in its audit log, whose oldest may be dropped. */
function api({ entries, before = 0, newest = entries.length, events = [], isSilent = false }) {
  const asked = [];
  const list = (result, total = result.length) => ({ result, result_info: { total_count: total } });
  const call = async (path) => {
    asked.push(path);
    if (path.includes("/events")) return list(events);
    if (path.includes("audit_log?before")) return list([], before);
    if (path.includes("audit_log?per_page")) return list([{ version: newest }], entries.length);
    if (path.includes("audit_log")) return list(entries);
    if (isSilent) return undefined;
    return { result: { columns: ["datetime", "entered"], rows: [["", 3], ["", 4]] } };
  };
  const room = { id: "1".repeat(32), ...log("owner") };
  const count = () =>
    roomCount({ call, of: ROOM, room, fromMs: NOON, now: NOON + HOUR_MS });
  return { asked, count };
}

test("the history is asked for that time, and nothing is counted that is not known", async () => {
  const known = api({ entries: [] });
  const [counted_since, counted_until] = [at(0), at(55)];
  assert.deepEqual(await known.count(), { counted: 7, counted_since, counted_until });
  const range = `from=${counted_since}&until=${counted_until}&resolution=minute`;
  assert.equal(known.asked.at(-1), `${ROOM}/history?${range}`);
  assert.equal((await api({ entries: [], isSilent: true }).count()).counted, null);
  const dropped = await api({ entries: [], newest: 20_000 }).count();
  assert.deepEqual(dropped, { counted: null, counted_since: null, counted_until: null });
  assert.equal((await api({ entries: [], newest: 20_000, before: 1 }).count()).counted, 7);
  const on = changed(59, log("off"), log("owner"));
  assert.equal((await api({ entries: [on] }).count()).counted, null);
  assert.ok(known.asked.some((path) => path.includes(new Date(NOON - KNOWN_MS).toISOString())));
});

test("the room's count comes with the time that it is about", () => {
  const [counted_since, counted_until] = ["2026-11-27T12:00:00Z", "2026-11-27T12:10:00Z"];
  assert.deepEqual(countedBy({ counted: 5, counted_since, counted_until }), {
    ...{ from_s: 1_795_780_800, until_s: 1_795_781_400 },
    admissions: 5,
  });
  const unknown = { counted: null, counted_since: null, counted_until: null };
  assert.equal(countedBy(unknown), undefined);
  assert.equal(countedBy({ counted: 5, counted_from: counted_since }), undefined);
});
