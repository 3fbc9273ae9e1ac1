// `npm run verify -- sale.json`: checks the transparency log of a sale, and says in words what it
// found. It ends with 1 if something is wrong. docs/transparency.md tells the rest.
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

import { saleFrom, secondsOf } from "../transparency/download.js";
import { ROOT } from "./modules.mjs";
import { stop } from "./stop.mjs";

const MODULE = path.join(ROOT, "build", "transparency", "transparency_bg.wasm");
const GLUE = "../build/transparency/transparency.js";
const PAGE = path.join(ROOT, "build", "transparency", "verify.html");
const USAGE = `usage: npm run verify -- <file | address of a public log> [options]
  --key <key | file>      the key of the log, from where you trust it
  --receipt <file>        a visitor's receipt; more than one may be given
  --checkpoint <file>     a checkpoint that you kept; more than one may be given
  --save <file>           writes the log that was read from an address
  --page <file>           writes the verifier as one page for browsers, and needs no log
  --json                  prints the report as JSON`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    key: { type: "string", default: "" },
    receipt: { type: "string", multiple: true, default: [] },
    checkpoint: { type: "string", multiple: true, default: [] },
    save: { type: "string" },
    page: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
if (!fs.existsSync(MODULE)) {
  stop("the verifier is not built: run `npm run build` first, or take a release folder");
}
if (values.page) fs.copyFileSync(PAGE, values.page);
const [log] = positionals;
if (log) await verify(log);
else if (!values.page) stop(USAGE);

async function verify(place) {
  const glue = await import(GLUE);
  glue.initSync({ module: fs.readFileSync(MODULE) });
  const file = /^https?:/.test(place) ? await downloaded(place) : textIn(place);
  if (values.save) fs.writeFileSync(values.save, file);
  const key = fs.existsSync(values.key) ? textIn(values.key) : values.key;
  const texts = [values.receipt, values.checkpoint].map((files) => files.map(textIn));
  const began = performance.now();
  const report = JSON.parse(checked(glue, file, key, texts));
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  if (values.json) console.log(JSON.stringify(report, null, 2));
  else tell(report, seconds, key);
  process.exitCode = report.good ? 0 : 1;
}

function checked(glue, file, key, [receipts, checkpoints]) {
  try {
    return glue.check(file, key, receipts, checkpoints);
  } catch (error) {
    return stop(`this is no log of a sale: ${error.message}`);
  }
}

async function downloaded(address) {
  const read = async (name) => {
    const answer = await fetch(`${address.replace(/\/$/, "")}/${name}`);
    if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
    const { url, status, headers } = answer;
    const problem = new Error(`${url}: ${status} ${(await answer.text()).trim()}`);
    throw Object.assign(problem, { status, retryAfterS: secondsOf(headers.get("retry-after")) });
  };
  try {
    return JSON.stringify(await saleFrom(read));
  } catch (error) {
    return stop(error.message);
  }
}

function textIn(file) {
  if (!fs.existsSync(file)) stop(`there is no file ${file}`);
  return fs.readFileSync(file, "utf8");
}

function tell({ good, origin, size, checks }, seconds, key) {
  console.log(`${origin || "a log without a name"}, ${size} entries, checked in ${seconds} s\n`);
  const longest = Math.max(...checks.map(({ name }) => name.length));
  for (const { name, good: isGood, says } of checks) {
    console.log(`${isGood ? "ok   " : "WRONG"}  ${name.padEnd(longest)}  ${says}`);
  }
  if (!key) {
    console.log("\nThe key is the one in the file: give the one that you trust with --key.");
  }
  console.log(good ? "\nEverything that was checked is right." : "\nNot everything is right.");
}
