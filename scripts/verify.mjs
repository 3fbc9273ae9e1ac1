// `npm run verify -- sale.json`: checks the transparency log of a sale, and says in words what it
// found. It ends with 1 if something is wrong. docs/transparency.md tells the rest.
import fs from "node:fs";
import path from "node:path";

import { saleFrom, secondsOf } from "../transparency/download.js";
import { ROOT } from "./modules.mjs";
import { stop } from "./stop.mjs";
import { HELP, readFlags } from "./usage.mjs";

const MODULE = path.join(ROOT, "build", "transparency", "transparency_bg.wasm");
const GLUE = "../build/transparency/transparency.js";
const PAGE = path.join(ROOT, "build", "transparency", "verify.html");
/** How long one answer of an address may take, in milliseconds. */
const ANSWER_MS = 30_000;
/** How much of a refusal is told, in characters. */
const SAYS_MAX = 200;
/** The mark of what the file alone cannot show. */
const NOT_CHECKED = "not checked";
/** Each flag: name, default or `undefined`, what it takes, what it means. */
const FLAGS = [
  ["key", undefined, "key or file", "The key of the log, from where you trust it."],
  ["receipt", [], "file", "A visitor's receipt; more than one may be given."],
  ["checkpoint", [], "file", "A checkpoint that you kept; more than one may be given."],
  ["save", undefined, "file", "Write the log that was read from an address."],
  ["page", undefined, "file", "Write the verifier as one page for browsers, which needs no log."],
  ["json", false, "", "Print the report as JSON."],
  HELP,
];

const { values, positionals } = readFlags("verify", FLAGS, process.argv.slice(2), {
  takes: "<file | address of a public log>",
  page: "docs/transparency.md",
});
const [log] = positionals;
if (!log && !values.page) stop("which log? npm run verify -- <file | address of a public log>");
const built = values.page ? [MODULE, PAGE] : [MODULE];
if (!built.every((file) => fs.existsSync(file))) {
  stop("the verifier is not built: run `npm run build` first, or take a release folder");
}
if (values.page) write(values.page, fs.readFileSync(PAGE));
if (log) await verify(log);

async function verify(place) {
  const glue = await import(GLUE);
  glue.initSync({ module: fs.readFileSync(MODULE) });
  const key = keyIn(values.key);
  const file = /^https?:/.test(place) ? await downloaded(place) : textIn(place);
  if (values.save) write(values.save, file);
  const texts = [values.receipt, values.checkpoint].map((files) => files.map(textIn));
  const began = performance.now();
  const report = JSON.parse(checked(glue, file, key, texts));
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  if (values.json) console.log(JSON.stringify(report, null, 2));
  else tell(report, seconds, key);
  process.exitCode = report.good ? 0 : 1;
}

/** The key that was given, as itself or in a file; "" if none was. An empty one is refused. */
function keyIn(given) {
  if (given === undefined) return "";
  const isItself = !fs.existsSync(given) && (given.includes("+") || given.trim() === "");
  const key = isItself ? given : textIn(given);
  return key.trim() ? key : stop("the key you gave is empty: give the one that you trust");
}

function checked(glue, file, key, [receipts, checkpoints]) {
  try {
    return glue.check(file, key, receipts, checkpoints);
  } catch (error) {
    return stop(`nothing was checked: ${error.message}`);
  }
}

async function downloaded(address) {
  try {
    const log = address.replace(/\/$/, "");
    return JSON.stringify(await saleFrom((name) => answer(`${log}/${name}`)));
  } catch (error) {
    return stop(`${address} cannot be read: ${error.cause?.message ?? error.message}`);
  }
}

async function answer(url) {
  const told = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
  if (told.ok) return new Uint8Array(await told.arrayBuffer());
  const { status } = told;
  const retryAfterS = secondsOf(told.headers.get("retry-after"));
  const [says] = (await told.text()).trim().split("\n");
  const problem = new Error(`${url} answers ${status} ${says.slice(0, SAYS_MAX)}`.trim());
  throw Object.assign(problem, { status, retryAfterS });
}

function textIn(file) {
  if (!fs.existsSync(file)) stop(`there is no file ${file}`);
  try {
    return fs.readFileSync(file, "utf8");
  } catch (error) {
    return stop(`${file} cannot be read, ${error.code}: name a file`);
  }
}

function write(file, contents) {
  try {
    fs.writeFileSync(file, contents);
  } catch (error) {
    stop(`${file} cannot be written, ${error.code}: name a file in a folder that is there`);
  }
}

function tell({ good, origin, size, checks }, seconds, key) {
  console.log(`${origin || "a log without a name"}, ${size} entries, checked in ${seconds} s\n`);
  const longest = Math.max(...checks.map(({ name }) => name.length));
  for (const { name, good: isGood, checked: isChecked, says } of checks) {
    const mark = isChecked ? (isGood ? "ok" : "WRONG") : NOT_CHECKED;
    console.log(`${mark.padEnd(NOT_CHECKED.length)}  ${name.padEnd(longest)}  ${says}`);
  }
  if (!key) {
    console.log("\nThe key is the one in the file: give the one that you trust with --key.");
  }
  console.log(good ? "\nEverything that was checked is right." : "\nNot everything is right.");
}
