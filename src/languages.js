// The texts of the built-in page in every language. The wasm asks for those of a language when a
// visitor first needs them; the texts themselves are in templates/languages/.
import texts from "../build/worker/gen/languages.js";

/** The plural categories in the order of room-core/src/page/words.rs. */
const CATEGORIES = ["zero", "one", "two", "few", "many", "other"];
/** From this number on, a number has the category of 100 plus its last two digits. */
const TABLE_LENGTH = 200;

/**
 * Returns the texts of a language and how it writes numbers, as JSON.
 *
 * @param {string} tag such as "en-US"
 * @returns {string | undefined}
 */
export function wordsOf(tag) {
  if (!Object.hasOwn(texts, tag)) return undefined;
  return JSON.stringify({ ...JSON.parse(texts[tag]), ...numbersOf(tag) });
}

/** Returns the digits with the mark between thousands, and each small number's plural category. */
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
