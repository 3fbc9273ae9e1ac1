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
/** Texts that name the draw. */
const OF_DRAW = ["in_draw", "receipt", "draw_check", "cookies_draw"];
/** Words after which a span of time would need another case than the page gives it. */
const ENDS_IN_PREPOSITION = {
  "ar-EG": "بعد",
  "cs-CZ": "za",
  "de-DE": "in",
  "hr-HR": "za",
  "lt-LT": "po",
  "lv-LV": "pēc",
  "pl-PL": "za",
  "ru-RU": "через",
  "sk-SK": "o",
  "sl-SI": "čez",
  "sr-BA": "za",
  "uk-UA": "через",
};
/** What Italian says to somebody whom it calls "Lei"; the page says "tu". */
const FORMAL_ITALIAN = /(?<!\p{L})(lei|suo|apra|riprovi|inserisca|può (entrare con|parteci))/iu;
/** Of each language: words for a line, for a place, for to enter, and the one for the draw. */
const STEMS = {
  "ar-EG": { line: "طابور|قائمة الانتظار|الصف(?!ح)", place: "مكان", enter: "تدخل", draw: "قرعة" },
  "bg-BG": { line: "опашк|редица", place: "м[яе]ст", enter: "влез|влиза", draw: "жреби" },
  "cs-CZ": { line: "front|řada", place: "míst", enter: "vstoup|dovnitř", draw: "slosován" },
  "da-DK": { line: "kø(?!b)|række", place: "plads", enter: "kommer", draw: "lodtrækning" },
  "de-DE": {
    line: "warteschlange|schlange",
    place: "pl[aä]tz",
    enter: "hinein",
    draw: "auslosung",
  },
  "el-GR": { line: "ουρ[άα]", place: "θέσ", enter: "μπείτε|μπαίν", draw: "κλήρωση" },
  "en-US": { line: "line|queue", place: "place|spot", enter: "get in|enter", draw: "draw" },
  "es-ES": { line: "cola|fila", place: "lugar|plaza", enter: "entrar", draw: "sorteo" },
  "fa-IR": { line: "صف(?!ح)", place: "جا", enter: "وارد", draw: "قرعه" },
  "fi-FI": { line: "jono", place: "paik", enter: "pääs", draw: "arvon" },
  "fr-FR": { line: "file|queue", place: "place", enter: "entre", draw: "tirage" },
  "he-IL": { line: "תור", place: "מקומ|מקום", enter: "כניסה|כנס", draw: "הגרלה" },
  "hi-IN": { line: "कतार|पंक्ति|लाइन", place: "जगह|स्थान", enter: "अंदर", draw: "लॉटरी" },
  "hr-HR": { line: "red", place: "mjest", enter: "ući|ulaz", draw: "izvlačenj" },
  "hu-HU": { line: "sor(?!s)", place: "hely", enter: "belép", draw: "sorsolás" },
  "id-ID": { line: "antrean|barisan", place: "tempat", enter: "masuk", draw: "undian" },
  "it-IT": { line: "coda|fila", place: "posto|posti", enter: "entr", draw: "sorteggio" },
  "ja-JP": { line: "列|並", place: "順番|場所", enter: "入場", draw: "抽選" },
  "ko-KR": { line: "대기열|줄", place: "순서|자리", enter: "입장", draw: "추첨" },
  "lt-LT": { line: "eil", place: "viet", enter: "pateks|įei", draw: "burt" },
  "lv-LV": { line: "rind", place: "viet(?!n)", enter: "ienāk|iekļū", draw: "izloz" },
  "ms-MY": { line: "barisan", place: "tempat", enter: "masuk", draw: "cabutan undi" },
  "nb-NO": { line: "kø(?!b)|rekke", place: "plass", enter: "kommer", draw: "trekning" },
  "nl-NL": { line: "wachtrij|rij", place: "plaats|plek", enter: "binnen", draw: "loting" },
  "pl-PL": { line: "kolejk", place: "miejsc", enter: "wejdz|wejś", draw: "losowani" },
  "pt-BR": { line: "fila", place: "lugar|vaga", enter: "entra", draw: "sorteio" },
  "ro-RO": { line: "coad|cozi|rând", place: "loc", enter: "intra", draw: "tragere|tragerii" },
  "ru-RU": { line: "очеред", place: "мест", enter: "попад|войд", draw: "розыгрыш" },
  "sk-SK": { line: "rad|front", place: "miest", enter: "vstúp|dnu", draw: "žrebovan" },
  "sl-SI": { line: "vrst", place: "mest", enter: "vstop", draw: "žrebanj" },
  "sr-BA": { line: "red", place: "mjest", enter: "ući|ulaz", draw: "izvlačenj" },
  "sv-SE": { line: "kö(?!p)", place: "plats", enter: "kommer", draw: "lottning" },
  "th-TH": { line: "คิว|แถว", place: "ลำดับ|ที่ว่าง|ที่ใหม่", enter: "ได้เข้า", draw: "จับสลาก" },
  "tl-PH": {
    line: "pila|linya",
    place: "puwesto|lugar",
    enter: "makakapasok|papasok",
    draw: "bunutan",
  },
  "tr-TR": { line: "sıra|kuyruk", place: "yer", enter: "gire", draw: "kura" },
  "uk-UA": { line: "черг", place: "місц", enter: "потрап|увійд", draw: "жеребкуванн" },
  "vi-VN": { line: "hàng", place: "chỗ|vị trí", enter: "vào", draw: "bốc thăm" },
  "zh-CN": { line: "队", place: "位置|名额", enter: "进入", draw: "抽选" },
  "zh-TW": { line: "隊", place: "位置|名額", enter: "進入", draw: "抽選" },
};
/** Scripts without a space before each word. */
const UNSPACED = /[\p{sc=Arabic}\p{sc=Hebrew}\p{sc=Han}\p{sc=Hangul}\p{sc=Thai}]/u;

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

  test(`${tag} promises nobody to enter after a maintenance`, () => {
    const texts = textsOf(tag);
    assert.match(`${texts.kept_text} ${texts.invited_only_text}`, patternOf(stems.enter));
    assert.doesNotMatch(texts.held_text, patternOf(stems.enter));
  });

  test(`${tag} has one word for the draw`, () => {
    const texts = textsOf(tag);
    for (const key of OF_DRAW) assert.match(texts[key], patternOf(stems.draw), key);
  });
}

for (const [tag, preposition] of Object.entries(ENDS_IN_PREPOSITION)) {
  test(`${tag} has a label for the start that asks for no case`, () => {
    const { starts_in: label } = textsOf(tag);
    assert.ok(!label.endsWith(` ${preposition}`), label);
  });
}

test("Italian says tu everywhere", () => {
  for (const [key, text] of Object.entries(textsOf("it-IT"))) {
    assert.doesNotMatch(text, FORMAL_ITALIAN, key);
  }
});

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
