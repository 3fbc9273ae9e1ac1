// The texts of the built-in page in every language, and how it writes numbers. The wasm asks for
// those of a language when a visitor first needs them; they stand in templates/.
import texts from "../build/worker/gen/languages.js";

/**
 * Returns the texts of a language and how it writes numbers, as JSON.
 *
 * @param {string} tag such as "en-US"
 * @returns {string | undefined}
 */
export function wordsOf(tag) {
  return Object.hasOwn(texts, tag) ? texts[tag] : undefined;
}
