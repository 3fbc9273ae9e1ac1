// Checks the English of code, documents, messages and templates against a list of known
// misspellings. A word that is on no list passes, so new words of the field need no entry anywhere.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

const ROOT = path.resolve(import.meta.dirname, "..", "..");
const DICTIONARY = "node_modules/@cspell/dict-en-common-misspellings/dict";
const DICTIONARIES = ["dict-en.json", "dict-en-gb.json"];

const RUST = ["src", "room-checker", "room-core", "room-sim", "xtask"];
const FOLDERS = [...RUST, "tests", "scripts", "bench", "client"];
const MORE_FOLDERS = ["docs", "examples", "templates"];
const NOT_OURS = ["node_modules", "target", "dist", "artifacts", "proptest-regressions"];
/** This file names misspellings, a lock file holds hashes. */
const NOT_READ = [path.basename(import.meta.filename), "package-lock.json"];
const ENDINGS = [".rs", ".js", ".mjs", ".ts", ".py", ".md", ".toml", ".html", ".json", ".txt"];
/** Every language is in a file of its own; this test reads one of them. */
const ENGLISH = "en-US.json";
/** In two letters there is hardly a word that is not an abbreviation of something, too. */
const LETTERS_MIN = 3;

const ON_PURPOSE = "a mistake that the test is about";
/** Words that are right where they stand: the word, the file, and why. */
const EXCEPTIONS = [
  ["paht", "room-core/src/management/config/tests.rs", ON_PURPOSE],
  ["tru", "room-core/src/rules/json.rs", ON_PURPOSE],
  ["wth", "room-core/tests/rules/refused.rs", ON_PURPOSE],
  ["ofice", "room-core/tests/rules/refused.rs", ON_PURPOSE],
  ["nmae", "tests/workerd/management.test.mjs", ON_PURPOSE],
  ["sesion", "xtask/src/rooms.rs", ON_PURPOSE],
  ["Sie", "templates/starters/languages.html", "German"],
  ["certifi", "tests/clients/requirements.txt", "the name of a package"],
  ["certifi", "tests/own/requirements.txt", "the name of a package"],
  ["mape", "room-sim/src/measure.rs", "mean absolute percentage error"],
  ["mape", "room-sim/src/targets.rs", "mean absolute percentage error"],
  ["mape", "room-sim/src/world.rs", "mean absolute percentage error"],
  ["mape", "tests/simulated/compressed.test.mjs", "mean absolute percentage error"],
];

const misspellings = new Map(DICTIONARIES.flatMap(entries));

test("words are spelled right", () => {
  const unneeded = new Set(EXCEPTIONS);
  const problems = [];
  const files = texts();
  for (const file of files) {
    for (const { line, word, instead } of misspelled(fs.readFileSync(file, "utf8"))) {
      const name = path.relative(ROOT, file).replaceAll(path.sep, "/");
      const exception = EXCEPTIONS.find(([known, where]) => known === word && where === name);
      unneeded.delete(exception);
      if (!exception) problems.push(`${name}:${line}: ${word}: write ${instead}`);
    }
  }
  for (const [word, name] of unneeded) problems.push(`${name}: needs no exception for ${word}`);
  assert.ok(files.length > 300, `only ${files.length} files`);
  assert.deepEqual(problems, []);
});

test("misspellings are found in comments, names and texts", () => {
  const found = (text) => misspelled(text).map(({ word, instead }) => `${word}: ${instead}`);
  assert.ok(misspellings.size > 80_000, `only ${misspellings.size} misspellings are known`);
  assert.deepEqual(found("// a waitng room"), ["waitng: waiting"]);
  assert.deepEqual(found("fn recieved_at() { adressOf() }"), [
    "recieved: received",
    "adress: address",
  ]);
  assert.deepEqual(found("Recieve RecieveTicket"), ["Recieve: receive", "Recieve: receive"]);
  assert.deepEqual(found("a behaviour, a colour; MUC, 3wth, nmä"), []);
  assert.equal(misspelled("one\ntwo\nrecieve")[0].line, 3);
});

/** What one file of the dictionary lists, as `wrong->right, right`. */
function entries(file) {
  const dictionary = JSON.parse(fs.readFileSync(path.join(ROOT, DICTIONARY, file), "utf8"));
  const { flagWords = [], suggestWords = [] } = dictionary.dictionaryDefinitions[0];
  return [...flagWords, ...suggestWords].map((entry) => entry.split("->"));
}

/**
 * The known misspellings in a text. A name in camel case is several words; what stands next to a
 * digit, and what has capitals alone, is a code and no word.
 */
function misspelled(text) {
  const found = [];
  for (const [index, line] of text.split("\n").entries()) {
    for (const [run] of line.matchAll(/(?<![\p{L}\p{N}])\p{L}+(?![\p{L}\p{N}])/gu)) {
      for (const [word] of run.matchAll(/\p{Lu}?\p{Ll}+/gu)) {
        const instead = misspellings.get(word.toLowerCase());
        if (instead && word.length >= LETTERS_MIN) found.push({ line: index + 1, word, instead });
      }
    }
  }
  return found;
}

function texts() {
  const top = fs.readdirSync(ROOT, { withFileTypes: true }).filter((entry) => entry.isFile());
  const files = top.map(({ name }) => path.join(ROOT, name));
  for (const folder of [...FOLDERS, ...MORE_FOLDERS]) collect(path.join(ROOT, folder), files);
  return files.filter((file) => {
    const { base, ext, dir } = path.parse(file);
    const foreign = path.basename(dir) === "languages" && ext === ".json" && base !== ENGLISH;
    return ENDINGS.includes(ext) && !foreign && !NOT_READ.includes(base);
  });
}

function collect(folder, files) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    if (entry.isFile()) files.push(place);
    else if (!NOT_OURS.includes(entry.name)) collect(place, files);
  }
}
