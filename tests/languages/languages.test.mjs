/**
 * The texts of the built-in page: every language says the same, with its own plural forms, and the
 * Worker is handed what the platform says of the language. How good a sentence is no test can tell.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { holdPage } from "../../src/hold_page.js";
import { wordsOf } from "../../src/languages.js";

const ROOT = path.join(import.meta.dirname, "..", "..");
const FOLDER = path.join(ROOT, "templates", "languages");
/** How each language writes numbers; `UPDATE=1` writes it anew by the platform's `Intl`. */
const FORMATS = path.join(ROOT, "templates", "number-formats.json");
const API = JSON.parse(fs.readFileSync(path.join(ROOT, "src", "openapi.json.txt"), "utf8"));
const TAGS = API.components.schemas.Room.properties.default_template_language.enum;
/** Documents that say how many languages there are. */
const COUNTED = [
  "ARCHITECTURE.md",
  "README.md",
  "docs/cockpit.md",
  "docs/pages.md",
  "docs/rooms.md",
  "tests/README.md",
];
/** What a span of time is counted in. */
const UNITS = ["minute", "hour", "day"];
/** The plural categories in the order of room-core/src/page/words.rs. */
const CATEGORIES = ["zero", "one", "two", "few", "many", "other"];
/** From this number on, a number has the category of 100 plus its last two digits. */
const TABLE_LENGTH = 200;
/** Numbers that are compared one by one; the estimate ends far below. */
const MANY = 20_000;
/** Texts longer than this are sentences, and nowhere the same as in English. */
const WORD_LENGTH = 12;
/** Letters by whose scripts a language is written; Latin ones are in names everywhere. */
const LATIN = /\p{Script=Latin}/u;
const OTHER_SCRIPT = /(?!\p{Script=Latin})\p{L}/u;
const PLACEHOLDER = /\{\{\w+\}\}|\{\w+\}/g;
/** What would be markup, a key of another text, or end an attribute. */
const UNSAFE = /[<>&"[\]\n]/;

/** What a translator has to know of each text. */
const NOTES = JSON.parse(
  fs.readFileSync(path.join(ROOT, "templates", "translator-notes.json"), "utf8"),
);
/** Texts that stay within this many characters in every language: they stand on a button. */
const BUTTONS = ["get_code", "take_here", "anew", "remind_me", "remind_stop", "tell_me"];
const BUTTON_LENGTH = 50;

const english = textsOf("en-US");

test("each published language has its file", () => {
  const files = fs.readdirSync(FOLDER).map((name) => path.basename(name, ".json"));
  assert.deepEqual(files.sort(), [...TAGS].sort());
});

test("each document that counts the languages has their number", () => {
  for (const name of COUNTED) {
    const text = fs.readFileSync(path.join(ROOT, name), "utf8");
    const told = [...text.matchAll(/(\d+) languages|one of (\d+), like|none of the (\d+)/g)];
    assert.ok(told.length > 0, `${name} counts no languages: take it from this list`);
    for (const [words, ...numbers] of told) {
      assert.equal(Number(numbers.find(Boolean)), TAGS.length, `${name}: "${words}"`);
    }
  }
});

test("each text has a note for translators, and no note is left over", () => {
  const keys = Object.keys(english).map((key) => key.split(".")[0]);
  assert.deepEqual(Object.keys(NOTES).sort(), [...new Set(keys)].sort());
  for (const [key, note] of Object.entries(NOTES)) assert.ok(note.length > 5, key);
});

test("what stands on a button is short in every language", () => {
  for (const tag of TAGS) {
    const texts = textsOf(tag);
    for (const key of BUTTONS) assert.ok(texts[key].length <= BUTTON_LENGTH, `${tag} ${key}`);
  }
});

for (const tag of TAGS) {
  test(`${tag} says all that English says`, () => {
    const texts = textsOf(tag);
    assert.deepEqual(Object.keys(texts).filter(isPlain), Object.keys(english).filter(isPlain));
    for (const [key, text] of Object.entries(texts)) {
      assert.doesNotMatch(text, UNSAFE, key);
      assert.equal(text, text.trim().normalize("NFC"), key);
      assert.ok(text.length > 0, key);
      if (!isPlain(key)) continue;
      assert.deepEqual(placeholders(text), placeholders(english[key]), key);
      const isSentence = english[key].replace(PLACEHOLDER, "").length > WORD_LENGTH;
      assert.ok(tag === "en-US" || !isSentence || text !== english[key], `${key} is English`);
    }
  });

  test(`${tag} is written in one script`, () => {
    const texts = Object.entries(textsOf(tag));
    if (!LATIN.test(textsOf(tag).in_line)) return;
    assert.deepEqual(texts.filter(([, text]) => OTHER_SCRIPT.test(text)), []);
  });

  test(`${tag} has a form for each number of minutes, hours and days`, () => {
    const texts = textsOf(tag);
    const numbersOf = categories(tag);
    for (const unit of UNITS) {
      const forms = CATEGORIES.filter((category) => `${unit}.${category}` in texts);
      assert.deepEqual(forms, CATEGORIES.filter((category) => numbersOf.has(category)));
      for (const category of forms) {
        const form = texts[`${unit}.${category}`];
        // "One minute" needs no number where nothing else has this form.
        const isOne = numbersOf.get(category).length === 1;
        assert.ok(isOne || form.includes("{n}"), `${unit}.${category}`);
        assert.ok(placeholders(form).every((name) => name === "{n}"), form);
      }
    }
    const known = Object.keys(texts).filter((key) => !isPlain(key));
    assert.ok(known.every((key) => UNITS.includes(key.split(".")[0])));
  });

  test(`${tag} is handed to the Worker with its plural categories and digits`, () => {
    const { plurals, digits, ...texts } = JSON.parse(wordsOf(tag));
    assert.deepEqual(texts, textsOf(tag));
    assert.match(plurals, /^[0-5]{200}$/);
    const rules = new Intl.PluralRules(tag);
    for (let number = 1; number < MANY; number += 1) {
      const place = number < TABLE_LENGTH ? number : (number % 100) + 100;
      assert.equal(CATEGORIES[plurals[place]], rules.select(number), String(number));
    }
    const [group = ""] = [...digits].slice(10);
    const told = new Intl.NumberFormat(tag).format(9_876_543);
    const ours = "9876543".replace(/\d/g, (digit) => [...digits][digit]);
    assert.equal(told.replaceAll(group, ""), ours);
  });
}

test("numbers are written as the platform writes them", () => {
  const formats = Object.fromEntries(TAGS.toSorted().map((tag) => [tag, numbersOf(tag)]));
  if (process.env.UPDATE) fs.writeFileSync(FORMATS, `${JSON.stringify(formats, null, 2)}\n`);
  assert.deepEqual(JSON.parse(fs.readFileSync(FORMATS, "utf8")), formats);
});

test("there is nothing for a language that is not ours", () => {
  for (const tag of ["xx-XX", "en", "constructor", ""]) assert.equal(wordsOf(tag), undefined, tag);
});

test("the page without a decision speaks the visitor's language", () => {
  const check = (header, tag, direction) => {
    const page = heldFor("GET", header);
    assert.ok(page.includes(`<html lang="${tag}" dir="${direction}">`), `${header}: ${page}`);
    const { one_moment: moment, checks } = textsOf(tag);
    assert.ok(page.includes(`${moment}. ${checks}\n`), `${header}: ${page}`);
  };
  check("de-CH, fr;q=0.9", "de-DE", "ltr");
  check("xx, PT-br;q=0.5", "pt-BR", "ltr");
  check("ar", "ar-EG", "rtl");
  check("zh-tw", "zh-TW", "ltr");
  for (const none of [null, "", "*", "xx-YY", ",,;", "-"]) check(none, "en-US", "ltr");
});

test("the page without a decision tells of nothing submitted only who sent something", () => {
  for (const tag of TAGS) {
    const { nothing_submitted: nothing } = textsOf(tag);
    for (const method of ["GET", "HEAD"]) assert.ok(!heldFor(method, tag).includes(nothing), tag);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      assert.ok(heldFor(method, tag).endsWith(` ${nothing}\n`), `${tag} ${method}`);
    }
  }
});

function heldFor(method, language) {
  const headers = new Headers(language === null ? {} : { "accept-language": language });
  return holdPage({ method, headers });
}

function textsOf(tag) {
  return JSON.parse(fs.readFileSync(path.join(FOLDER, `${tag}.json`), "utf8"));
}

/** Not one of the plural forms, whose keys have a dot. */
function isPlain(key) {
  return !key.includes(".");
}

function placeholders(text) {
  return (text.match(PLACEHOLDER) ?? []).sort();
}

/** The digits with the mark between thousands, and each small number's plural category. */
function numbersOf(tag) {
  const rules = new Intl.PluralRules(tag);
  const category = (_, number) => CATEGORIES.indexOf(rules.select(number));
  const format = new Intl.NumberFormat(tag);
  const digits = Array.from({ length: 10 }, (_, digit) => format.format(digit));
  const group = format.formatToParts(1_000_000).find(({ type }) => type === "group");
  return {
    plurals: Array.from({ length: TABLE_LENGTH }, category).join(""),
    digits: digits.join("") + (group?.value ?? ""),
  };
}

/** The numbers of each category that a span of time can have. */
function categories(tag) {
  const rules = new Intl.PluralRules(tag);
  const numbersOf = new Map();
  for (let number = 1; number < TABLE_LENGTH; number += 1) {
    const category = rules.select(number);
    numbersOf.set(category, [...(numbersOf.get(category) ?? []), number]);
  }
  return numbersOf;
}
