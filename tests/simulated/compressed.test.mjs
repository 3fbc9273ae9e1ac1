/**
 * Thousands of visitors and ten data centers in compressed time: what the origin saw keeps the
 * limits and the order, also while objects restart, and the places that stay idle and the error of
 * the estimates are what room-sim predicts for the same load (its scenario `compressed`).
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { clusterTest } from "../harness/cluster-test.mjs";
import { mostEnteredInAMinute, mostInside } from "../harness/measure.mjs";
import { Population } from "../harness/population.mjs";
import { room } from "../harness/rooms.mjs";
import { isWhole } from "../harness/sample.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const MINUTE_MS = 60_000;
const SESSION_MS = MINUTE_MS;
const PLACES = 400;
const COLOS = ["AMS", "CDG", "DFW", "FRA", "GRU", "IAD", "JNB", "NRT", "SIN", "SYD"];
/** `npm run nightly` has four. Two show the same, for six tenths of the processor time. */
const ISOLATES = isWhole() ? 4 : 2;
/** A call between objects takes about one step of the clock, a tenth of a second, and often two. */
const DELAY_MS = 4;
const SEEDS = [1, 2, 3];
/** The page tells whole minutes, always rounded up. */
const ROUNDED_MS = MINUTE_MS / 2;
/** Two runs of such a load differ by so many percent of the places, whoever plays them. */
const IDLE_APART = 2;

const hall = room({
  name: "hall",
  total_active_users: PLACES,
  custom_page_html: "{{#waitTimeKnown}}in {{waitTime}} min{{/waitTimeKnown}}",
});
const options = {
  rooms: [hall],
  colos: Object.fromEntries(COLOS.map((colo) => [colo, ISOLATES])),
};

clusterTest("thousands of visitors in ten data centers", options, async (cluster) => {
  const { host } = hall;
  const visitors = { host, seed: 1, perMinute: 350, stayMs: MINUTE_MS };
  const population = new Population(cluster, visitors);
  await cluster.breakCalls(
    ...["DataCenterCounter", "DataCenterAggregator", "GlobalAggregator"].map((className) => ({
      className,
      delayMs: DELAY_MS,
    })),
  );
  await population.play(3 * MINUTE_MS, { arrive: true });
  await cluster.killObjects("GlobalAggregator");
  await population.play(1.5 * MINUTE_MS, { arrive: true });
  await cluster.killObjects("DataCenterCounter");
  await cluster.killObjects("DataCenterAggregator");
  await population.play(1.5 * MINUTE_MS, { arrive: true });
  await population.play(6 * MINUTE_MS, { arrive: false });

  const arrivals = await population.arrivals();
  const found = { ...figures(population.visitors, arrivals), visitors: population.visitors.length };
  const predicted = prediction();
  console.log(`in workerd ${shown(found)}; predicted ${shown(predicted)}`);
  assert.ok(found.visitors > 1_900, `${found.visitors} visitors`);
  assert.ok(population.visitors.every(({ entered }) => entered), "somebody never entered");
  const most = mostInside(arrivals, SESSION_MS);
  assert.ok(most <= PLACES, `${most} inside`);
  const entered = mostEnteredInAMinute(arrivals, SESSION_MS);
  assert.ok(entered <= PLACES, `${entered} in one minute`);
  assert.ok(found.overtaken <= 1, "overtaken");
  assert.ok(found.idle <= predicted.idle + IDLE_APART, "more places stayed idle than predicted");
  const rounding = 100 * mean(waits(population.visitors).map(({ truth }) => ROUNDED_MS / truth));
  assert.ok(found.estimate <= predicted.estimate + rounding, "the times told are worse");
});

/** What the origin and the visitors saw, in percent, as room-sim measures it. */
function figures(visitors, arrivals) {
  return {
    idle: idle(visitors, arrivals),
    estimate: estimateError(visitors),
    overtaken: overtaken(visitors),
  };
}

/** Places that both limits left free while somebody waited, on average over the seconds. */
function idle(visitors, arrivals) {
  const last = new Map();
  for (const { at, visitor } of arrivals) last.set(visitor, at);
  const queued = visitors.filter(({ told }) => told);
  const begin = Math.min(...queued.map(({ told }) => told.at));
  const end = Math.max(...queued.map(({ entered }) => entered));
  const parts = [];
  for (let now = begin; now < end; now += 1_000) {
    if (!queued.some(({ told, entered }) => told.at <= now && now < entered)) continue;
    const entered = visitors.filter((one) => one.entered <= now);
    const inside = entered.filter(({ name }) => now < last.get(name) + SESSION_MS);
    const lately = entered.filter((one) => one.entered > now - MINUTE_MS);
    parts.push(Math.max(0, Math.min(1 - inside.length / PLACES, 1 - lately.length / PLACES)));
  }
  return 100 * mean(parts);
}

/** How wrong the first time told was, as a part of the true one; none told is wholly wrong. */
function estimateError(visitors) {
  const error = ({ told, truth }) => (told === undefined ? 1 : Math.abs(told - truth) / truth);
  return 100 * mean(waits(visitors).map(error));
}

/** Every wait as it was told first and as it was, below a minute as a minute. */
function waits(visitors) {
  return visitors
    .filter(({ told }) => told)
    .map(({ told: { at, since = at, minutes }, entered }) => ({
      told: minutes && minutes * MINUTE_MS,
      truth: Math.max(entered - since, MINUTE_MS),
    }));
}

/** Visitors who entered after somebody who came at least a minute later. */
function overtaken(visitors) {
  const behind = ({ joined, entered }) =>
    visitors.some((other) => other.joined >= joined + MINUTE_MS && other.entered < entered);
  return (100 * visitors.filter(behind).length) / visitors.length;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** What room-sim says of the same load, on average over some seeds. */
function prediction() {
  const file = path.join(ROOT, "build", "compressed.json");
  const words = "run --quiet --locked -p room-sim -- compare --algorithm escrow";
  const which = `--scenario compressed --data-centers 10 --seeds ${SEEDS.at(0)}..${SEEDS.at(-1)}`;
  const parameters = [...`${words} ${which} --json`.split(" "), file];
  const { status, stderr } = spawnSync("cargo", parameters, { cwd: ROOT, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const runs = JSON.parse(fs.readFileSync(file, "utf8")).map(({ measures }) => measures);
  const of = (key) => mean(runs.map((measures) => measures[key]));
  return {
    idle: of("idle_whole_run_percent"),
    estimate: of("estimate_mape_percent"),
    overtaken: of("overtaken_percent"),
  };
}

function shown(found) {
  const names = ["idle", "estimate", "overtaken"];
  return names.map((name) => `${name} ${found[name].toFixed(1)} %`).join(", ");
}
