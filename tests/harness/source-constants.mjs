/**
 * Reads the constants of the sources that are numbers, and computes them: those of Rust, and those
 * of JavaScript.
 */

import fs from "node:fs";
import path from "node:path";

import { ROOT } from "./worker-modules.mjs";

const FOLDERS = ["room-core/src", "src", "transparency", "cockpit", "analytics", "scripts"];
/** Rust's definition of a constant that is a number, and JavaScript's of any. */
const CONSTANTS = {
  ".rs": /^\s*(?:pub(?:\([^)]*\))? )?const ([A-Z]\w*): (?:[ui]\d+|usize|f64) =([^;]+);/gm,
  ".js": /^(?:export )?const ([A-Z][A-Z0-9_]*) =([^;]+);/gm,
};
/** What a value may be made of: numbers, operators, names, and conversions that change nothing. */
const CONVERSION = /\bas \w+|\b[a-z]\w*(?:::\w+)*(?=\()|\b\w+::(?=[A-Z])/g;

const defined = new Map(FOLDERS.flatMap(constantsOf));

/** The value of a constant that a file defines; nothing if it does not. */
export function sourceOf(name, file) {
  const expression = defined.get(file)?.get(name);
  return expression === undefined ? undefined : valueOf(expression, file);
}

/** Computes a constant, with those that it names: of its own file first, or of the only other. */
function valueOf(expression, file) {
  const plain = expression.replaceAll(CONVERSION, "").replaceAll(/(?<=\d)_(?=\d)/g, "");
  const numbers = plain.replaceAll(/[A-Z][A-Z0-9_]*/g, (name) => {
    const own = sourceOf(name, file);
    if (own !== undefined) return own;
    const others = [...defined.keys()].filter((other) => defined.get(other).has(name));
    return [...new Set(others.map((other) => sourceOf(name, other)))].join(" or ");
  });
  const isArithmetic = /^[\d\s.+*/()-]+$/.test(numbers);
  // Only digits and operators are left.
  return isArithmetic ? Number(new Function(`return ${numbers}`)()) : `${expression.trim()}?`;
}

/** The constants of each file below a folder: [file, Map of name -> expression]. */
function constantsOf(folder) {
  const names = fs.readdirSync(path.join(ROOT, folder), { recursive: true });
  const files = names.map((name) => `${folder}/${name.split(path.sep).join("/")}`);
  return files.filter((file) => /\.(?:rs|m?jsx?)$/.test(file)).map((file) => {
    const text = fs.readFileSync(path.join(ROOT, file), "utf8");
    const constants = CONSTANTS[file.endsWith(".rs") ? ".rs" : ".js"];
    return [file, new Map([...text.matchAll(constants)].map(([, ...one]) => one))];
  });
}
