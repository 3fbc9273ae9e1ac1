/**
 * What the cockpit says of one visitor, for answers of the API as they come, without a browser.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { referenceIn, story } from "../../cockpit/why_words.js";

const JOINED = "2026-11-27T09:00:00.000Z";
const ENTERED = "2026-11-27T09:40:00.000Z";
const checkIn = {
  at: "2026-11-27T09:00:20.000Z",
  told_seconds: 1_200,
  people_ahead: 400,
  waits_for: "rate",
  late_seconds: 0,
};
const waiting = {
  state: "waiting",
  joined_at: JOINED,
  first_told_seconds: 1_220,
  check_ins: [checkIn],
  waits_for: "rate",
  called_at: null,
  entered_at: null,
  entered_by: null,
  late_seconds: null,
  revoked_at: null,
  entered_before: [],
  entered_before_complete: true,
  bypass_rules: false,
  journal: { kept_hours: 48, one_in: 1, left_out: 0 },
};
const entered = {
  ...waiting,
  state: "entered",
  waits_for: null,
  called_at: "2026-11-27T09:39:00.000Z",
  entered_at: ENTERED,
  entered_by: "line",
  late_seconds: 0,
};

function says(trace, ...patterns) {
  const told = story(trace);
  assert.equal(told.length, patterns.length, told.join("\n"));
  for (const [at, pattern] of patterns.entries()) assert.match(told[at], pattern);
}

const JOIN = /^Joined at .*, 400 people ahead at .*; told 20 min in all\.$/;
const NOBODY = /^Nobody with a later join entered before\.$/;

test("who waits, who entered, and who has gone", () => {
  says(waiting, JOIN, /^Waits: at .* as many had entered in the last minute as may\.$/, NOBODY);
  says(entered, JOIN, /after 40 min, in the order of joining\. The turn had come by /, NOBODY);
  const revoked = { ...entered, state: "revoked", revoked_at: "2026-11-27T09:41:00.000Z" };
  says(revoked, JOIN, /The site ended the session at .*\.$/, NOBODY);
  const asked = { ...waiting, state: "not_confirmed", waits_for: null, called_at: ENTERED };
  says(asked, JOIN, /^Has not entered: was asked to confirm the turn, .* come by .*\.$/, NOBODY);
  const gone = { ...waiting, state: "gone", waits_for: null };
  says(gone, JOIN, /^Has not entered\. The last check-in that was kept is of /, NOBODY);
  const unknown = { ...checkIn, people_ahead: null };
  const untold = { ...waiting, first_told_seconds: null, check_ins: [unknown] };
  says(untold, /^Joined at [^;]*; no time was shown\.$/, /^Waits/, NOBODY);
});

test("who entered before, and what was not counted", () => {
  const before = [
    { reason: "missed_check_in", visitors: 1 },
    { reason: "checked_in_sooner", visitors: 1_204 },
  ];
  const lateOne = { ...checkIn, late_seconds: 300 };
  const overtaken = { ...entered, check_ins: [checkIn, lateOne], entered_before: before };
  const one = /^1 visitor with a later join entered before: .* had missed a check-in\.$/;
  const many = /^1.204 visitors with a later join .*: both had been called/;
  const late = /^Missed a check-in: came back 5 min late, or the room rejected .* or was /;
  says(overtaken, JOIN, late, /^Entered/, one, many);
  const incomplete = (journal) => ({ ...entered, entered_before_complete: false, journal });
  const { journal } = entered;
  says(incomplete({ ...journal, one_in: 8 }), JOIN, /^Entered/, NOBODY, /one in 8 was kept/);
  says(incomplete({ ...journal, left_out: 7 }), JOIN, /^Entered/, NOBODY, /^7 records of that/);
  says(incomplete(journal), JOIN, /^Entered/, NOBODY, /there may be more/);
  const changed = { ...entered, configuration_changed_since: true };
  says(changed, JOIN, /^Entered/, NOBODY, /^Events, rules or groups were changed since the join/);
  const suspended = [
    { from: JOINED, until: ENTERED },
    { from: ENTERED, until: null },
  ];
  const off = /^The room was disabled from .* to .*: everybody passed, /;
  const still = /^The room was disabled since .*: everybody passed, /;
  says({ ...entered, suspended }, JOIN, off, still, /^Entered/, NOBODY);
  says({ ...entered, suspended: null, configuration_changed_since: null }, JOIN, /^E/, NOBODY);
  says({ ...entered, bypass_rules: true }, JOIN, /^Entered/, NOBODY, /^Bypass rules/);
});

test("there is a word for each reason that the API knows", () => {
  const reasons = ["limit", "rate", "place", "hold", "event", "lottery", "silence"];
  for (const reason of reasons) {
    assert.doesNotMatch(story({ ...waiting, waits_for: reason }).join(" "), /undefined/, reason);
  }
  for (const by of ["line", "draw", "lottery", "open", "everybody", "silence"]) {
    assert.doesNotMatch(story({ ...entered, entered_by: by }).join(" "), /undefined/, by);
  }
  const before = ["checked_in_sooner", "missed_check_in", "open", "draw", "lottery", "everybody"];
  for (const reason of [...before, "silence"]) {
    const trace = { ...entered, entered_before: [{ reason, visitors: 2 }] };
    assert.doesNotMatch(story(trace).join(" "), /undefined/, reason);
  }
});

test("a reference is understood however it is written", () => {
  for (const text of ["PV5TW-TY7CT", "PV5TW TY7CT", " PV5TW – TY7CT\n", "“PV5TWTY7CT”."]) {
    assert.equal(referenceIn(text), "PV5TWTY7CT", text);
  }
  assert.equal(referenceIn("pv5tw-ty7ct"), "pv5twty7ct");
});
