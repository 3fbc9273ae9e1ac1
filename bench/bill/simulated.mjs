/**
 * What a large room uses that is half full in 30 data centers, in the simulated world
 * (docs/simulation.md): that many isolates are too many for one machine.
 */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { ROOT } from "../../tests/harness/worker-modules.mjs";
import { mean } from "../../tests/harness/statistics.mjs";

const DATA_CENTERS = 30;
const SEEDS = "201..205";
/** The scenarios: the platform may take the memory of an object that sleeps for 10 s, or not. */
const [REMEMBERS, FORGETS] = ["half", "half-forgets"];
/** A sale for which a million come, and the one run of it that is told. */
const [SALE, SALE_SEED] = ["sale", "201"];

/**
 * The means of a few runs in which objects remember all, and in which they forget in their sleep.
 *
 * @returns {Record<"remembering" | "forgetting", import("./stories.mjs").Measured & {
 *   entries: number, entryCalls: number }>}
 */
export function halfFullIn30() {
  const runs = played([REMEMBERS, FORGETS], SEEDS);
  const forgetting = means(runs.filter(({ scenario }) => scenario === FORGETS));
  const remembering = means(runs.filter(({ scenario }) => scenario === REMEMBERS));
  // Where nothing is forgotten the simulator writes no more than a sample: there are no more rows.
  return { forgetting, remembering: { ...remembering, rows: forgetting.rows } };
}

/** What everybody's asking costs in a sale for which a million come. */
export function saleOfAMillion() {
  return means(played([SALE], SALE_SEED));
}

function means(runs) {
  const of = (name) => mean(runs.map(({ cost }) => cost[name]));
  return {
    seconds: of("measured_ms") / 1_000,
    requests: of("page_views"),
    calls: of("calls") + of("registry_calls"),
    registryCalls: of("registry_calls"),
    entries: of("entries"),
    entryCalls: of("entry_calls"),
    awakeS: of("awake_ms") / 1_000,
    rows: of("rows"),
    objects: of("objects"),
  };
}

function played(scenarios, seeds) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "waiting-room-bill-"));
  const file = path.join(folder, "runs.json");
  try {
    const cargo = ["run", "--quiet", "--locked", "--profile", "simulator", "-p", "room-sim"];
    const world = ["--scenario", `${scenarios}`, "--data-centers", `${DATA_CENTERS}`];
    const choice = ["compare", "--algorithm", "escrow", ...world, "--seeds", seeds, "--json", file];
    const options = { cwd: ROOT, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" };
    const { status, stderr, error } = spawnSync("cargo", [...cargo, "--", ...choice], options);
    if (status !== 0) throw new Error(`the simulator did not run: ${error ?? stderr}`);
    return JSON.parse(fs.readFileSync(file, "utf8"));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
