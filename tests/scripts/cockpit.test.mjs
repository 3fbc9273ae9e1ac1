/**
 * What the cockpit says before a button is pressed, and what it finds to undo: for rooms and
 * numbers as the API tells them, without a browser.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { actionsOf } from "../../cockpit/actions.js";
import { undoOf } from "../../cockpit/audit.js";
import { undoable } from "../../cockpit/changes.js";
import { age, clock, moment, status, wait } from "../../cockpit/facts.js";
import { readFirst, sums } from "../../cockpit/history.js";

const room = {
  id: "r",
  zone_id: "z",
  total_active_users: 200,
  new_users_per_minute: 50,
  session_duration: 5,
  queueing_method: "fifo",
  queue_all: false,
  maintenance: "off",
  suspended: false,
};
const PATH = "zones/z/waiting_rooms/r";
const quiet = numbers(0, 0);
const busy = numbers(184, 804);

test("how right visitors were told is weighed by how many were, over a range", () => {
  const row = (measured, half, most) => ({
    told_errors_measured: measured,
    told_error_percent_p50: half,
    told_error_percent_p90: most,
    challenges_shown: 2,
    turns_kept: 1,
  });
  const told = sums([row(30, 10, 20), row(0, null, null), row(10, 2, 60)]);
  assert.deepEqual([told.wrongHalf, told.wrongMost], [8, 30]);
  assert.deepEqual([told.challenged, told.turnsKept], [6, 3]);
  assert.equal(sums([row(0, null, null)]).wrongHalf, null);
});

test("a button says what will happen, with the numbers of now", () => {
  const check = (id, fields, told, ...want) => {
    const actions = actionsOf({ room: { ...room, ...fields }, numbers: told });
    assert.equal(actions.find((one) => one.id === id).sentence, want.join(" "));
  };
  const nobody = "Nobody new enters.";
  const keep = "about 804 in line keep their places.";
  check("hold", {}, busy, nobody, `The 184 inside go on; ${keep}`);
  const one = "The one inside goes on; the one in line keeps the place.";
  check("hold", {}, numbers(1, 1), nobody, one);
  check("hold", {}, quiet, nobody, "Nobody is inside now; whoever comes waits in line.");
  check("hold", {}, undefined, nobody, "Visitors inside go on; whoever comes waits in line.");

  const enter = "at most 50 a minute, until 200 are inside.";
  check("open", { queue_all: true }, busy, `Visitors enter, those in line first: ${enter}`);
  const rejects = { queueing_method: "reject" };
  const rejected = "Nobody enters while the method is reject.";
  check("open", rejects, quiet, `Visitors enter: ${enter}`, rejected);

  const put = "Nobody is put out.";
  const more = "36 more visitors may enter.";
  check("less", {}, busy, put, "184 inside: nobody enters until 5 sessions have ended.");
  check("more", {}, busy, more);
  check("more", { queue_all: true }, busy, more, "Nobody enters while you hold the room.");
  const counts = { queueing_method: "passthrough" };
  check("more", counts, busy, more, "With the method passthrough no limit holds anybody up.");
  const full = { new_users_per_minute: 200 };
  const rate = "At most 180 enter a minute, not 200.";
  check("less", full, quiet, put, "180 more visitors may enter.", rate);

  const drains = "Nobody new enters, and sessions are not renewed";
  check("drain", {}, quiet, `${drains}. Whoever comes waits in line.`);
  const out = "the 184 inside are out within 5 minutes, as sessions end. About";
  check("drain", {}, busy, `${drains}: ${out}`, "804 in line keep their places.");
});

const closed = { ...room, queueing_method: "reject" };
const sale = { id: "e", name: "sale", queue_all: false, event_end_time: "2026-11-23T11:00:00Z" };
const OF_SALE = `${PATH}/events/e`;
const soldOut = (facts) => saleOf(facts, "sold-out");
const sellAgain = (facts) => saleOf(facts, "sell-again");

test("sold out and sell again are two buttons, and each asks", () => {
  const lost = /184 inside go on\. About 804 in line lose .* you press “Sell again” within 5 min/;
  const out = soldOut({});
  assert.match(out.sentence, lost);
  assert.deepEqual([out.path, out.patch], [PATH, { queueing_method: "reject" }]);
  const nobody = /^Nobody new enters\. Nobody is inside now\. Whoever comes is told “Not avail/;
  assert.match(soldOut({ numbers: quiet }).sentence, nobody);

  const log = [soldFrom("fifo", "zones/z/waiting_rooms/other"), soldFrom("random")];
  const again = sellAgain({ room: closed, log });
  assert.match(again.sentence, /by the method “Lottery”\. Whoever waited .* 5 minutes/);
  assert.deepEqual([again.path, again.patch], [PATH, { queueing_method: "random" }]);
  assert.deepEqual([out.disturbs, again.disturbs], [true, true]);
  // Whoever has sold out finds no button that says it is open.
  const opens = ({ id }) => id === "open";
  const { isInForce, isImpossible } = actionsOf({ room: closed, numbers: busy }).find(opens);
  assert.deepEqual([isInForce, isImpossible], [false, true]);
});

test("where the log has not what was before, sell again guesses no method", () => {
  const check = (facts, place) => {
    const { sentence, patch, isImpossible } = sellAgain(facts);
    assert.match(sentence, /^The method before is not known any more\. Choose another under /);
    assert.ok(sentence.endsWith(`${place}.`), sentence);
    assert.deepEqual([patch, isImpossible], [{}, true]);
  };
  check({ room: closed }, "Settings");
  check({ room: closed, log: [{ ...soldFrom("random"), before: null }] }, "Settings");
  const event = { ...sale, queueing_method: "reject" };
  check({ room: closed, event }, "Events, Edit “sale”");
  const { patch, sentence } = sellAgain({ room: { ...room, queueing_method: "random" }, event });
  assert.deepEqual(patch, { queueing_method: null });
  assert.match(sentence, /^Visitors enter again, by the room's method “Lottery”\. /);
});

test("the method of an event is told to end with it", () => {
  const ends = `of the event “sale” until that ends, ${moment(sale.event_end_time)}; then`;
  const check = ({ path, patch, sentence, until }, method, then) => {
    assert.deepEqual([path, patch.queueing_method], [OF_SALE, method]);
    assert.equal(until, `It is the method ${ends} ${then}.`);
    assert.ok(sentence.endsWith(until), sentence);
  };
  const fifo = { ...sale, queueing_method: "fifo" };
  const enter = "visitors enter by the room's method “First come, first served”";
  const nobody = "the room's own lets nobody new in";
  check(soldOut({ event: fifo }), "reject", enter);
  check(soldOut({ room: closed, event: fifo }), "reject", nobody);
  const over = { ...sale, queueing_method: "reject" };
  check(sellAgain({ event: over, log: [soldFrom("random", OF_SALE)] }), "random", enter);
  assert.equal(sellAgain({ event: { ...sale, queueing_method: null }, ...before() }).path, PATH);
});

test("in a hold sold out and sell again say what comes after it", () => {
  const waits = "Whoever comes meanwhile waits in line.";
  const check = (held, facts) => {
    const out = soldOut(facts);
    assert.ok(out.sentence.startsWith(`${held} ${waits} When the hold ends, whoever waits loses`));
    assert.match(out.sentence, /From then on whoever comes is told “Not available/);
    const again = sellAgain({ ...facts, ...before(facts.room) });
    const enter = "Then visitors enter by the method “Lottery”.";
    assert.equal(again.sentence, `${held} ${waits} ${enter}`);
    return out;
  };
  const byHand = "Nobody enters while you hold the room.";
  check(byHand, { room: { ...room, queue_all: true } });
  check(byHand, { room: { ...room, maintenance: "hold" } });
  const prequeue = { ...busy, status: "event_prequeueing" };
  check("Nobody enters before the event starts.", { numbers: prequeue });
  const until = `The event lets nobody in before ${moment(sale.event_end_time)}.`;
  // Its own method never counts: the room's is the next.
  const event = { ...sale, queue_all: true, queueing_method: "fifo" };
  const out = check(until, { event });
  assert.deepEqual([out.path, out.event], [PATH, event]);
});

/** A button of a room that sells: there is never more than one. */
function saleOf(facts, want) {
  const isOfSale = ({ id }) => id === "sold-out" || id === "sell-again";
  const found = actionsOf({ room, numbers: busy, ...facts }).filter(isOfSale);
  assert.deepEqual(found.map(({ id }) => id), [want]);
  return found[0];
}

/** A room that sold out by lots, with the log that has it. */
function before(held) {
  return { room: { ...closed, ...held, queueing_method: "reject" }, log: [soldFrom("random")] };
}

function soldFrom(method, target = PATH) {
  return { ...entry(1, { queueing_method: method }, { queueing_method: "reject" }), target };
}

test("of each kind the last change that still counts can be undone", () => {
  const limit = entry(1, { total_active_users: 100 }, { total_active_users: 200 });
  const held = entry(2, { queue_all: false }, { queue_all: true });
  const before = { queue_all: true, maintenance: "hold" };
  const opened = entry(3, before, { queue_all: false, maintenance: "off" });
  const page = entry(4, { custom_page_html: "" }, { custom_page_html: "x" });
  const made = { ...entry(5, {}, { total_active_users: 200 }), before: null };
  const elsewhere = { ...held, version: 6, target: "zones/z/waiting_rooms/other" };
  const check = (log, ...want) => {
    const found = undoable({ room, log: [...log].reverse() });
    assert.deepEqual(found.map(({ patch }) => patch), want);
  };
  check([]);
  check([limit], { total_active_users: 100 });
  check([limit, page, elsewhere], { total_active_users: 100 });
  // The newest is first, and what was changed together is undone together.
  check([limit, held, opened], before, { total_active_users: 100 });
  // What another way has changed since, or what was made with the room, is no change to undo.
  check([held]);
  check([limit, made]);
});

test("a message that the log does not have whole is no Undo", () => {
  const long = "2300 bytes, SHA-256 0123456789abcdef0123456789abcdef...";
  const shown = { ...room, page_message: "Short" };
  const check = (before, ...want) => {
    const log = [entry(1, { page_message: before }, { page_message: "Short" })];
    assert.deepEqual(undoable({ room: shown, log }).map(({ patch }) => patch), want);
  };
  check("Before", { page_message: "Before" });
  check(long);
});

test("to undo the end of a maintenance disturbs, to undo a hold does not", () => {
  const check = (before, want) => {
    const after = Object.fromEntries(Object.keys(before).map((field) => [field, room[field]]));
    const [undo] = undoable({ room, log: [entry(1, before, after)] });
    assert.equal(undo.disturbs, want);
  };
  check({ maintenance: "hold" }, true);
  check({ maintenance: "drain" }, true);
  check({ suspended: true }, true);
  check({ queue_all: true }, false);
  check({ total_active_users: 1 }, false);
});

test("a method is taken back, by a question where that sells out or sells again", () => {
  const check = (from, to, [asks, sentence], target = PATH, of = room) => {
    const [before, after] = [from, to].map((queueing_method) => ({ queueing_method }));
    const facts = target === PATH ? { room: { ...of, ...after } } : { room: of, event: after };
    const one = { ...entry(1, before, after), target };
    const event = facts.event && { ...sale, ...facts.event };
    const [undo] = undoable({ ...facts, event, log: [one] });
    assert.deepEqual([undo.path, undo.patch, undo.disturbs], [target, before, asks]);
    assert.match(undo.sentence, sentence);
    const inLog = undoOf(one, [facts.room]);
    assert.deepEqual([inLog.patch, inLog.disturbs], [before, asks]);
    assert.equal(inLog.sentence.replace("It was changed to", "Now:"), undo.sentence);
  };
  const quietly = [false, /^Now: queueing method “Lottery”\.$/];
  check("fifo", "random", quietly);
  const again = [true, /^Now: queueing method “Nobody new .*”\. Whoever waited has the place /];
  check("random", "reject", again);
  const lost = "\\. When that method counts, whoever waits loses the place, unless ";
  check("reject", "random", [true, new RegExp(`^Now: queueing method “Lottery”${lost}`)]);
  check("fifo", "random", quietly, OF_SALE);
  check(null, "reject", again, OF_SALE);
  // Without a method of its own an event has that of its room.
  check(null, "random", [true, new RegExp(lost)], OF_SALE, closed);
  const ofRoom = /^Now: the room's queueing method\. Whoever waited/;
  check("random", null, [true, ofRoom], OF_SALE, closed);
});

test("a status is what counts most", () => {
  const check = (fields, told, want) => {
    assert.equal(status({ ...room, ...fields }, undefined, told).word, want);
  };
  check({}, undefined, "No numbers yet");
  check({}, quiet, "Not queueing");
  check({}, { ...quiet, status: "queueing" }, "Queueing");
  check({}, busy, "Queueing");
  check({}, numbers(200, 0), "Queueing");
  check({}, { ...busy, status: "event_prequeueing" }, "Pre-queueing");
  check({ queue_all: true }, undefined, "Hold all");
  check({ queue_all: true, maintenance: "drain" }, busy, "Draining");
  check({ maintenance: "hold" }, busy, "Maintenance");
  check({ maintenance: "hold", suspended: true }, busy, "Disabled");
  check({ queueing_method: "reject" }, busy, "Rejecting");
});

test("numbers say how old they are, and never look newer", () => {
  const check = (at, now, problem, want) => assert.deepEqual(age(at, now, problem), want);
  check(undefined, 0, undefined, { text: "asking", isOld: false });
  check(undefined, 0, new Error("x"), { text: "no numbers", isOld: true });
  check(0, 2_000, undefined, { text: "2 s ago", isOld: false });
  check(0, 12_000, undefined, { text: "no news for 12 s", isOld: true });
  check(0, 600_000, new Error("x"), { text: "no news for 10 min", isOld: true });
});

test("a moment of another year is told with the year", () => {
  const year = new Date().getFullYear();
  const check = (write, of, want) => {
    const at = new Date(of, 5, 15, 12, 30).toISOString();
    assert.equal(new RegExp(`\\b${of}\\b`).test(write(at)), want, write(at));
  };
  check(moment, year, false);
  check(moment, year + 1, true);
  check(clock, year + 1, true);
});

test("a line whose wait is not known yet is told no time", () => {
  const check = (minutes, waiting, held, want) => {
    const told = { ...numbers(200, waiting), max_estimated_time_minutes: minutes, ...held };
    assert.equal(wait(told), want);
  };
  check(0, 0, {}, "none");
  check(3, 0, {}, "3 min");
  check(3, 26, {}, "3 min");
  check(0, 26, { status: "queueing" }, "not known yet");
  // Whoever is counted in a room that holds nobody enters with the next request.
  check(0, 26, { status: "suspended" }, "none");
  check(0, 26, { status: "not_queueing" }, "none");
  check(0, 26, { held_by: "owner" }, "no time: held");
  check(0, 26, { held_by: "reject" }, "no time: rejecting");
});

function numbers(inside, waiting) {
  return {
    status: "not_queueing",
    estimated_total_active_users: inside,
    estimated_queued_users: waiting,
  };
}

function entry(version, before, after) {
  const at = "2026-11-23T10:00:00Z";
  return { version, at, actor: "owner", method: "PATCH", target: PATH, before, after };
}

test("the history opens on what there is", async () => {
  const minutes = (count) => count * 60_000;
  /** Where somebody was there so many minutes ago: how often it asks, and what it shows. */
  const opens = async (ago) => {
    let asked = 0;
    const ask = async (_, path) => {
      asked += 1;
      const query = new URL(path, "https://shop.example").searchParams;
      const [from, until] = [Date.parse(query.get("from")), Date.now()];
      const at = until - minutes(ago);
      const rows = at >= from ? [[new Date(at).toISOString()]] : [];
      const times = { from: query.get("from"), until: new Date(until).toISOString() };
      return { columns: ["datetime"], resolution: query.get("resolution"), rows, ...times };
    };
    const { range, rows } = await readFirst(ask, { zone_id: "z", id: "r" }, 0);
    return [asked, range?.name, rows.length];
  };
  assert.deepEqual(await opens(20), [2, "30 minutes", 1]);
  assert.deepEqual(await opens(200), [2, "6 hours", 1]);
  assert.deepEqual(await opens(1_000), [1, "24 hours", 1]);
  assert.deepEqual(await opens(3_000), [2, "7 days", 1]);
  assert.deepEqual(await opens(30_000), [3, "30 days", 1]);
  assert.deepEqual(await opens(90_000), [3, undefined, 0]);
});
