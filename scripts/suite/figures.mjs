// Keeps what each tier of the suite held and how long it took: in target/ after each run; and as
// one file in docs/, from which the tables of the documents are written.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { BILL_TEXTS } from "../../bench/bill/texts.mjs";
import { countsOf } from "./report.mjs";

const ROOT = path.join(import.meta.dirname, "..", "..");
const LAST = path.join(ROOT, "target", "suite", "figures.json");
/** The file that is committed. */
const KEPT = path.join(ROOT, "docs", "figures.json");
/** A place for figures in a document: its name, and what stands there. */
const PLACE = /<!-- figures: begin ([\w-]+) -->\n[^]*?<!-- figures: end -->/g;
/** The documents with figures, and the names of the places in each. */
export const DOCUMENTS = {
  "README.md": ["bill-sale"],
  "docs/costs.md": ["bill-short", "bill-months", "bill-goals", "bill-data-centers"],
  "docs/performance.md": ["change", "gates"],
  "docs/simulation.md": ["nightly"],
};
/** How a tier is run. */
const COMMANDS = {
  change: "npm test",
  gates: "npm test -- --gates",
  nightly: "npm run nightly",
};

/** How long each file of tests took in the last runs, in seconds, by its path. */
export function secondsOfFiles() {
  const seconds = { ...read(KEPT).files, ...read(LAST).files };
  return new Map(Object.entries(seconds));
}

/** Keeps what a tier held and how long it took, as the last run. */
export function keepFigures(tier, steps, wallSeconds) {
  const last = read(LAST);
  const ofSteps = steps.map(({ name, passed, results, seconds, cpuSeconds }) => ({
    name,
    passed,
    tests: results.length,
    seconds: Math.round(seconds),
    cpuSeconds: Math.round(cpuSeconds),
  }));
  const figures = {
    date: new Date().toISOString().slice(0, 10),
    processors: os.availableParallelism(),
    wallSeconds: Math.round(wallSeconds),
    ...countsOf(steps),
    steps: ofSteps,
  };
  const files = { ...last.files };
  for (const { title, seconds } of steps.flatMap(({ pieces }) => pieces)) {
    if (title.endsWith(".test.mjs")) files[title] = Math.round(seconds);
  }
  write(LAST, { ...last, tiers: { ...last.tiers, [tier]: figures }, files });
}

/** Keeps what `npm run bench -- --bill` has measured, case by case, as the last run. */
export function keepBill(cases) {
  const date = new Date().toISOString().slice(0, 10);
  write(LAST, { ...read(LAST), bill: { date, cases } });
}

/** Puts the figures of the last runs into the committed file. */
export function commitFigures() {
  const [kept, last] = [read(KEPT), read(LAST)];
  write(KEPT, {
    bill: last.bill ?? kept.bill,
    tiers: { ...kept.tiers, ...last.tiers },
    files: { ...kept.files, ...last.files },
  });
}

/** Puts the figures of a document into its text; each place that the list names must be there. */
export function withFigures(document, text, kept = read(KEPT)) {
  const names = [...text.matchAll(PLACE)].map(([, name]) => name);
  if (`${names}` !== `${DOCUMENTS[document]}`) {
    throw new Error(`${document} has places for ${names}, not for ${DOCUMENTS[document]}`);
  }
  return text.replaceAll(
    PLACE,
    (_, name) => `<!-- figures: begin ${name} -->\n${figuresOf(name, kept)}\n<!-- figures: end -->`,
  );
}

function figuresOf(name, { tiers, bill }) {
  const told = BILL_TEXTS[name];
  if (!told) return tableOf(name, tiers?.[name]);
  return bill ? told(bill.cases) : "No figures of `npm run bench -- --bill` are kept.";
}

function tableOf(tier, figures) {
  if (!figures) return `No figures of \`${COMMANDS[tier]}\` are kept.`;
  const { date, processors, wallSeconds, passed, failed, skipped, steps } = figures;
  const head =
    `\`${COMMANDS[tier]}\` on ${processors} processors, ${date}: ${minutes(wallSeconds)}; ` +
    `${passed} passed, ${failed} failed, ${skipped} skipped.`;
  const rows = steps.map((step) => {
    const { name, seconds, cpuSeconds } = step;
    const held = step.passed ? "held" : "**failed**";
    const cells = [name, step.tests || "", held, seconds, cpuSeconds];
    return `| ${cells.join(" | ")} |`;
  });
  const columns = ["| step | tests | | seconds of work | of CPU |", "|---|---|---|---|---|"];
  return [head, "", ...columns, ...rows].join("\n");
}

function minutes(seconds) {
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function read(file) {
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : {};
}

function write(file, figures) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);
}
