/** The tables of docs/messages.md have every field that the machines send, and no other. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { ROOT } from "../harness/worker-modules.mjs";

const DOCUMENT = "docs/messages.md";
/** Where types are defined that are sent. */
const SOURCES = [
  "machines/wire.rs",
  "machines/wire/counted.rs",
  "machines/wire/ended.rs",
  "machines/wire/logged.rs",
  "machines/wire/pull.rs",
  "capacity/slots.rs",
  "capacity/slots/end.rs",
  "capacity/state.rs",
  "capacity/state/names.rs",
  "capacity/holds.rs",
  "order/census.rs",
  "queue/view.rs",
].map((file) => path.join("room-core", "src", file));
/** A type that is a text in messages. */
const TEXT = "GrantId";
/** A type with members, and its attributes. */
const TYPE = /^pub (?:struct|enum) (\w+) \{\n([^]*?)^\}/gm;
/** A field, or a variant, of a type or of a variant. */
const MEMBER = /^ +(?:pub )?(?:(\w+): |([A-Z]\w*)(?:\(| \{|,$))/gm;

const defined = new Map(SOURCES.flatMap(typesOf));
const told = new Map(sectionsOf(read(DOCUMENT)));

test("every field of every message is told, and no other", () => {
  const names = [...defined.keys()].filter((name) => told.has(name) || isReached(name));
  assert.deepEqual([...told.keys()].sort(), names.sort());
  for (const name of names) {
    assert.deepEqual([...new Set(told.get(name))].sort(), defined.get(name).members, name);
  }
});

/** True for a type that a field of a message names. */
function isReached(name) {
  const word = new RegExp(`\\b${name}\\b`);
  const named = [...told.keys()].some((other) => word.test(defined.get(other)?.types ?? ""));
  return named && name !== TEXT;
}

function typesOf(file) {
  return [...read(file).matchAll(TYPE)].map(([, name, body]) => {
    const code = body.replaceAll(/^ *\/\/.*\n/gm, "");
    const members = [...code.matchAll(MEMBER)].map(([, field, variant]) => field ?? variant);
    return [name, { members: [...new Set(members)].sort(), types: code }];
  });
}

/** What stands in the tables under each heading that names a type. */
function sectionsOf(text) {
  const [, ...sections] = text.split(/^### /m);
  return sections.map((section) => {
    const [, name] = /^`(\w+)`/.exec(section);
    return [name, [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, field]) => field)];
  });
}

function read(file) {
  return fs.readFileSync(path.join(ROOT, file), "utf8");
}
