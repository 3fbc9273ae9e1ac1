// What a run of `npm run mutants` found: the share of mutants that a test noticed, for the files
// that decide and for the rest of the core, and those that none noticed.
import fs from "node:fs";
import path from "node:path";

/** The folder whose code is broken. */
export const CORE = "room-core/src";

/**
 * The files that decide: who enters, when, and how many, by `docs/algorithm.md`. The rest reads and
 * writes texts, checks configurations and draws pages.
 */
const DECIDES = /^(?:admission|capacity|machines|order|queue|ticket|visit)(?:\/|\.rs$)/;
const GROUPS = [
  { name: "files that decide", least: 0.95, has: (file) => DECIDES.test(file) },
  { name: "rest of the core", least: 0.9, has: (file) => !DECIDES.test(file) },
];

/** The kinds in which cargo-mutants sorts mutants; who made a test wait for ever was noticed. */
const NOTICED = ["caught", "timeout"];
/** What does not compile says nothing about tests. */
const UNVIABLE = "unviable";
const MISSED = "missed";

/** Reads the names of the mutants of one kind that one run of cargo-mutants left. */
function mutantsOf(found, kind) {
  const file = path.join(found, "mutants.out", `${kind}.txt`);
  if (!fs.existsSync(file)) return [];
  return fs.readFileSync(file, "utf8").split("\n").filter(Boolean);
}

/** What several runs found together, each with other tests on what those before had missed. */
export class Tally {
  noticed = new Set();
  unviable = new Set();
  /** What every run so far has tried and missed. */
  missed = undefined;
  chosen = new Set();

  /** Adds what the newest run of cargo-mutants left. */
  add(found) {
    const listed = path.join(found, "mutants.out", "mutants.json");
    const all = fs.existsSync(listed) ? JSON.parse(fs.readFileSync(listed, "utf8")) : [];
    for (const { name } of all) this.chosen.add(name);
    for (const name of NOTICED.flatMap((kind) => mutantsOf(found, kind))) this.noticed.add(name);
    for (const name of mutantsOf(found, UNVIABLE)) this.unviable.add(name);
    const missed = new Set(mutantsOf(found, MISSED));
    const wasMissed = (name) => this.missed === undefined || this.missed.has(name);
    this.missed = new Set([...missed].filter(wasMissed));
  }

  /** Returns how many were chosen and not tried to the end. */
  get untried() {
    const { chosen, noticed, unviable, missed } = this;
    return chosen.size - noticed.size - unviable.size - missed.size;
  }

  /** Says it in words. */
  get text() {
    const lines = GROUPS.flatMap((group) => this.#group(group));
    const left = [...this.missed].sort().map((name) => `  ${name}`);
    if (left.length > 0) lines.push("no test noticed:", ...left);
    if (this.untried > 0) lines.push(`${this.untried} of ${this.chosen.size} were not tried`);
    return lines.join("\n");
  }

  #group({ name, least, has }) {
    const of = (mutants) => [...mutants].filter((one) => has(one.slice(CORE.length + 1))).length;
    const [noticed, missed] = [of(this.noticed), of(this.missed)];
    if (noticed + missed === 0) return [];
    const share = percent(noticed / (noticed + missed));
    const wanted = `wanted ${percent(least)}`;
    return [`${name}: ${noticed} of ${noticed + missed} noticed, ${share} (${wanted})`];
  }
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}
