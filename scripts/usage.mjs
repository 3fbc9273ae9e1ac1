// Reads what stands behind a command, and lists all that may stand there where somebody asks for
// that. Whoever writes anything else is told so, and where that list is.
import { parseArgs } from "node:util";

import { stop } from "./stop.mjs";

/** The flag that names the folder of a deployment. */
export const FOLDER = [
  "folder",
  "production",
  "path",
  "Where settings, rooms and secrets of the deployment are kept (never in git).",
];
export const HELP = ["help", false, "", "Show this."];

/** The highest port there is. */
export const PORT_MAX = 65_535;

/** Reads a number of visitors or seconds; ends the process if it is none. */
export function wholeNumber(text, name) {
  const number = Number(text);
  if (/^\d+$/.test(text) && number > 0) return number;
  stop(`${name} must be a whole number from 1, but is "${text}"`);
}

/** Reads a name; ends the process if it is none of `names`. */
export function oneOf(text, names, name) {
  if (names.includes(text)) return text;
  stop(`${name} must be one of ${names.join(", ")}, but is "${text}"`);
}

/**
 * Reads the flags of a command, and beside them what it `takes`; ends the process with a sentence
 * if that cannot be, or with the help if that is asked for.
 *
 * @param {string} command
 * @param {[string, string | string[] | boolean | undefined, string, string][]} flags each: name,
 *   default (`[]` where it may be given more than once), what it takes, what it means
 * @param {string[]} parameters
 * @param {object} more `takes`: words, of which there are `most`, and what each of `words` means;
 *   `page` tells more
 */
export function readFlags(command, flags, parameters, more = {}) {
  const { takes = "", words = [], most = 1, page = "docs/deploy.md", status } = more;
  const usage = ["npm", "run", command, "--", takes, "[flags]"].filter(Boolean).join(" ");
  const options = Object.fromEntries(flags.map((flag) => [flag[0], optionOf(flag)]));
  let read;
  try {
    read = parseArgs({ args: parameters, options, allowPositionals: takes !== "" });
  } catch (error) {
    stop(`${error.message}. All flags: npm run ${command} -- --help`, status);
  }
  if (read.values.help) {
    console.log(`${usage}; ${page} tells more\n\n${help(words, flags)}`);
    process.exit(0);
  }
  if (read.positionals.length > most) stop(`these are too many words for ${usage}`, status);
  return read;
}

function optionOf([name, fallback]) {
  const type = typeof fallback === "boolean" ? "boolean" : "string";
  return {
    type,
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(Array.isArray(fallback) ? { multiple: true } : {}),
    ...(name === "help" ? { short: "h" } : {}),
  };
}

function help(words, flags) {
  const named = flags.map(([name, fallback, takes, meaning]) => {
    const otherwise = typeof fallback === "string" ? ` Default: ${fallback}.` : "";
    return [`--${name}${takes && ` <${takes}>`}`, `${meaning}${otherwise}`];
  });
  const all = [...words, ...named];
  return all.map(([name, meaning]) => `  ${name.padEnd(32)} ${meaning}`).join("\n");
}
