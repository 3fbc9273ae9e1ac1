/**
 * Pages and commands have no wasm to ask, so they have copies of what the core says: numbers, and
 * the words of the API. Each is the same as in the core.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import {
  QUEUEING_METHODS,
  TRANSPARENCY_LOGS,
  TURNSTILE_ACTIONS,
  TURNSTILE_MODES,
} from "../../cockpit/choices.js";
import { RANGES } from "../../cockpit/history.js";
import { ROLES } from "../../cockpit/roles.js";
import { EMPTY, fieldsOf, writtenOf } from "../../cockpit/webhook_words.js";
import { BEFORE, ENTERED_BY, WAITS_FOR } from "../../cockpit/why_words.js";
import { settingsOf } from "../../src/access_roles.js";
import { sourceOf } from "../harness/source-constants.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const MINUTE_MS = 60_000;
const DAY_S = 86_400;
const core = (file, name) => [`room-core/src/${file}.rs`, name];
/** A copy, the original, and by what that is multiplied where the unit differs. */
const NUMBERS = [
  [["src/access.js", "NAME_BYTES_MAX"], core("management/config/token", "NAME_BYTES_MAX")],
  [["src/metrics.js", "ROOMS_PER_PAGE"], core("management/api/paging", "PER_PAGE_MAX")],
  [["src/deleted.js", "PAGE_MAX"], core("management/api/paging", "PER_PAGE_MAX")],
  [["src/forget.js", "KEPT_MS"], core("machines/journal", "KEPT_MS")],
  [["src/room_count.js", "LIST_MAX"], core("management/api/paging", "PER_PAGE_MAX")],
  [["src/room_count.js", "ROWS_MAX"], core("management/api/history", "ROWS_MAX")],
  [["src/room_count.js", "KEPT_MS"], core("machines/history", "KEPT_MINUTES"), MINUTE_MS],
  [["src/room_count.js", "OPEN_MS"], core("capacity/facts", "OPEN_S"), 1_000],
  [["src/doctor.js", "OBJECT_LIMIT_MS"], ["src/calls.rs", "LIMIT_MS"]],
  [["analytics/ledger.js", "KEPT_MS"], core("machines/history", "KEPT_MINUTES"), MINUTE_MS],
  [["analytics/ledger.js", "CALL_MS"], core("management/api/history", "ROWS_MAX"), MINUTE_MS],
  [["transparency/download.js", "SIZE_MAX"], ["transparency/src/merge.rs", "SIZE_MAX"]],
  [["transparency/paths.js", "WIDTH"], ["transparency/src/tree.rs", "WIDTH"]],
  [["cockpit/message_words.js", "BYTES_MAX"], core("management/config/branding", "TEXT_BYTES_MAX")],
  [
    ["cockpit/event_facts.js", "PREQUEUE_MIN_MS"],
    core("management/config/event_table", "SHORTEST_PREQUEUE_MS"),
  ],
  [["cockpit/invitation_codes.js", "USES_MAX"], core("machines/invitations", "USES_MAX")],
  [["cockpit/invitation_codes.js", "DAYS_MAX"], core("visit/invitation", "AHEAD_S_MAX"), 1 / DAY_S],
  [["cockpit/watch.js", "ROOMS_MAX"], ["src/live.js", "ROOMS_MAX"]],
  [["scripts/whole-file.mjs", "FORMAT"], core("management/registry/export", "FORMAT")],
  [["scripts/whole-file.mjs", "BODY_BYTES_MAX"], ["src/management.rs", "MAX_BODY_BYTES"]],
  [["scripts/doctor/admin.mjs", "FORMAT"], ["src/doctor.js", "FORMAT"]],
];

for (const [[file, name], [of, original], times = 1] of NUMBERS) {
  test(`${name} of ${file} is ${original} of ${of}`, () => {
    const wanted = sourceOf(original, of);
    assert.equal(typeof wanted, "number", `${of} has no ${original}`);
    assert.equal(sourceOf(name, file), wanted * times);
  });
}

/** The description of the API, which the tests of the core compare with the core. */
const { components } = JSON.parse(text("src/openapi.json.txt"));
const { Event, History, NamedToken, Room, Trace, Webhook } = components.schemas;
const told = (schema, ...names) =>
  names.reduce((found, name) => found.properties?.[name] ?? found[name], schema);
const wordsOf = (schema, ...names) => told(schema, ...names).enum.filter((word) => word !== null);
const checkIns = told(Trace, "check_ins").items;
const enteredBefore = told(Trace, "entered_before").items;
const topics = Object.keys(EMPTY).filter((name) => writtenOf({ [name]: true }).topics.length > 0);
const [{ options: formats }] = fieldsOf({});
/** What has words for all values of a field, and these values. */
const WORDS = {
  "the queueing methods": [Object.keys(QUEUEING_METHODS), wordsOf(Event, "queueing_method")],
  "the modes of Turnstile": [Object.keys(TURNSTILE_MODES), wordsOf(Event, "turnstile_mode")],
  "the actions of Turnstile": [Object.keys(TURNSTILE_ACTIONS), wordsOf(Event, "turnstile_action")],
  "the readers of logs": [Object.keys(TRANSPARENCY_LOGS), wordsOf(Event, "transparency_log")],
  "the topics of webhooks": [topics, wordsOf(told(Webhook, "topics").items)],
  "the formats of webhooks": [formats.map(({ value }) => value), wordsOf(Webhook, "format")],
  "the reasons to wait": [Object.keys(WAITS_FOR), wordsOf(checkIns, "waits_for")],
  "the ways to enter": [Object.keys(ENTERED_BY), wordsOf(Trace, "entered_by")],
  "the reasons of those before": [Object.keys(BEFORE), wordsOf(enteredBefore, "reason")],
  "the resolutions of a history": [
    [...new Set(RANGES.map(({ resolution }) => resolution))],
    wordsOf(History, "resolution"),
  ],
};

for (const [what, [ours, wanted]] of Object.entries(WORDS)) {
  test(`the cockpit has words for ${what}`, () => {
    assert.ok(wanted.length > 1);
    assert.deepEqual(ours.toSorted(), wanted.toSorted());
  });
}

test("the roles of the cockpit and of Access are those of the API, in their order", () => {
  const wanted = wordsOf(NamedToken, "role");
  assert.deepEqual(ROLES.map(([role]) => role), wanted);
  const written = Object.fromEntries([...wanted, "none"].map((role) => [role, role]));
  const read = (of) => settingsOf({ ACCESS_ROLES: JSON.stringify(of) }).roles;
  assert.deepEqual([...read(written).values()].map(({ role }) => role), [...wanted, "none"]);
});

test("the doctor takes the session that a room has by default", () => {
  const { default: minutes } = told(Room, "session_duration");
  assert.equal(sourceOf("SESSION_MINUTES", "scripts/doctor/settings.mjs"), minutes);
});

/** The columns of a history. */
const COLUMNS = namesIn(
  /NAMES: \[&str; \d+\] = \[([^]*?)\];/.exec(text("room-core/src/machines/history.rs"))[1],
  /"(\w+)"/g,
);
/** Who reads columns by their names, and how the names stand there. */
const READERS = {
  "analytics/ledger.js": /^ {2}\w+: "(\w+)",$/gm,
  "src/metrics.js": /\bsum\("(\w+)"\)|\b(told_error\w+): (?:half|of)\b/g,
  "cockpit/history.js": /\b(?:sum|weighed)\((?:rows, )?"(\w+)"\)|\brow\.([a-z]+_\w+)/g,
  "cockpit/checks.js": /\["(\w+)", "(\w+)"\]\.map\(\(name\) => columns/g,
  "scripts/rehearse/past.mjs": /minutes, "(\w+)"(?:, "(\w+)")?\)|\bminute\.([a-z]+_\w+)/g,
};

for (const [file, pattern] of Object.entries(READERS)) {
  test(`${file} reads columns that a history has`, () => {
    const read = namesIn(text(file), pattern);
    assert.ok(read.length > 1, `${read}`);
    assert.deepEqual(read.filter((name) => !COLUMNS.includes(name)), []);
  });
}

function namesIn(source, pattern) {
  return [...source.matchAll(pattern)].flatMap(([, ...names]) => names).filter(Boolean);
}

function text(file) {
  return fs.readFileSync(path.join(ROOT, file), "utf8");
}
