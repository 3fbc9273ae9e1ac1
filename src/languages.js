// The texts of the built-in page in every language, one handed to the wasm when it is first asked
// for. It may not choose a language or hold a text of its own.
import texts from "../build/worker/gen/languages.js";

/** The plural categories in the order of room-core/src/page/words.rs. */
const CATEGORIES = ["zero", "one", "two", "few", "many", "other"];
/** From here on a number has the category of its last two digits and 100. */
const TABLE_LENGTH = 200;

/**
 * The texts of `tag`, and how the language says numbers, as JSON.
 *
 * @param {string} tag such as "en-US"
 * @returns {string | undefined}
 */
export function wordsOf(tag) {
  if (!Object.hasOwn(texts, tag)) return undefined;
  return JSON.stringify({ ...JSON.parse(texts[tag]), ...numbersOf(tag) });
}

/** The digits, the mark between thousands, and each small number's plural category as a digit. */
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
