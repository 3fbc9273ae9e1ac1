/**
 * The words that texts of the page may have, language by language: none for a line in a draw, one
 * for the draw itself, one tone of address. The lists hold stems, as regular expressions.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

const TEMPLATES = path.join(import.meta.dirname, "..", "..", "templates");
const NOTES = Object.entries(read("translator-notes.json"));
/** Texts whose notes forbid these words. */
const WITHOUT_LINE = keysWith(/no word for line/i);
const WITHOUT_PLACE = keysWith(/no word for line or place/i);
/** Of each language: words for a line, and for a place. */
const STEMS = {
  "ar-EG": { line: "طابور|قائمة الانتظار|الصف(?!ح)", place: "مكان" },
  "bg-BG": { line: "опашк|редица", place: "м[яе]ст" },
  "cs-CZ": { line: "front|řada", place: "míst" },
  "da-DK": { line: "kø(?!b)|række", place: "plads" },
  "de-DE": { line: "warteschlange|schlange", place: "pl[aä]tz" },
  "el-GR": { line: "ουρ[άα]", place: "θέσ" },
  "en-US": { line: "line|queue", place: "place|spot" },
  "es-ES": { line: "cola|fila", place: "lugar|plaza" },
  "fa-IR": { line: "صف(?!ح)", place: "جا" },
  "fi-FI": { line: "jono", place: "paik" },
  "fr-FR": { line: "file|queue", place: "place" },
  "he-IL": { line: "תור", place: "מקומ|מקום" },
  "hi-IN": { line: "कतार|पंक्ति|लाइन", place: "जगह|स्थान" },
  "hr-HR": { line: "red", place: "mjest" },
  "hu-HU": { line: "sor(?!s)", place: "hely" },
  "id-ID": { line: "antrean|barisan", place: "tempat" },
  "it-IT": { line: "coda|fila", place: "posto|posti" },
  "ja-JP": { line: "列|並", place: "順番|場所" },
  "ko-KR": { line: "대기열|줄", place: "순서|자리" },
  "lt-LT": { line: "eil", place: "viet" },
  "lv-LV": { line: "rind", place: "viet(?!n)" },
  "ms-MY": { line: "barisan", place: "tempat" },
  "nb-NO": { line: "kø(?!b)|rekke", place: "plass" },
  "nl-NL": { line: "wachtrij|rij", place: "plaats|plek" },
  "pl-PL": { line: "kolejk", place: "miejsc" },
  "pt-BR": { line: "fila", place: "lugar|vaga" },
  "ro-RO": { line: "coad|cozi|rând", place: "loc" },
  "ru-RU": { line: "очеред", place: "мест" },
  "sk-SK": { line: "rad|front", place: "miest" },
  "sl-SI": { line: "vrst", place: "mest" },
  "sr-BA": { line: "red", place: "mjest" },
  "sv-SE": { line: "kö(?!p)", place: "plats" },
  "th-TH": { line: "คิว|แถว", place: "ลำดับ|ที่ว่าง|ที่ใหม่" },
  "tl-PH": { line: "pila|linya", place: "puwesto|lugar" },
  "tr-TR": { line: "sıra|kuyruk", place: "yer" },
  "uk-UA": { line: "черг", place: "місц" },
  "vi-VN": { line: "hàng", place: "chỗ|vị trí" },
  "zh-CN": { line: "队", place: "位置|名额" },
  "zh-TW": { line: "隊", place: "位置|名額" },
};
/** Scripts without a space before each word. */
const UNSPACED = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Han}\p{Script=Hangul}\p{Script=Thai}]/u;

test("some texts must have no word for a line, and each language has such words", () => {
  assert.ok(WITHOUT_LINE.length > WITHOUT_PLACE.length && WITHOUT_PLACE.length > 1);
  const files = fs.readdirSync(path.join(TEMPLATES, "languages"));
  assert.deepEqual(Object.keys(STEMS), files.map((name) => path.basename(name, ".json")).sort());
});

for (const [tag, stems] of Object.entries(STEMS)) {
  test(`${tag} has no word for a line or a place where its notes say so`, () => {
    const texts = textsOf(tag);
    assert.match(texts.full, patternOf(stems.line));
    for (const key of WITHOUT_LINE) assert.doesNotMatch(texts[key], patternOf(stems.line), key);
    assert.match(texts.new_place, patternOf(stems.place));
    for (const key of WITHOUT_PLACE) assert.doesNotMatch(texts[key], patternOf(stems.place), key);
  });
}

function read(file) {
  return JSON.parse(fs.readFileSync(path.join(TEMPLATES, file), "utf8"));
}

function textsOf(tag) {
  return read(path.join("languages", `${tag}.json`));
}

function keysWith(pattern) {
  return NOTES.filter(([, note]) => pattern.test(note)).map(([key]) => key);
}

/** Finds the stems at the start of words, or anywhere in scripts that do not part words. */
function patternOf(stems) {
  return new RegExp(UNSPACED.test(stems) ? stems : `(?<!\\p{L})(${stems})`, "iu");
}
