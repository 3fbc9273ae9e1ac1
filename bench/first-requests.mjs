/**
 * The very first answer of processes that were just started, beside that of a bare pass-through,
 * and if wanted beside another checkout that was built. Each round starts one process of each kind,
 * in shuffled order: times of one request differ by half from run to run, the medians of many
 * rounds by little.
 */

import path from "node:path";
import { pathToFileURL } from "node:url";

import { median } from "../tests/harness/statistics.mjs";
import { cpuNs } from "../tests/harness/workerd-process.mjs";
import { ROOMS, many } from "./rooms.mjs";
import { shuffled } from "./rounds.mjs";
import { startServices } from "./services.mjs";
import { REFERENCE } from "./variants.mjs";

/** Longer than a process takes to its first answer: the ticket must not need to be renewed. */
const START_MAX_MS = 5_000;
const NS_PER_MS = 1e6;
/** Whose first requests are measured. */
const WHO = {
  admitted: "an admitted visitor",
  newcomer: "a newcomer",
  waiting: "a waiting visitor, with a page",
};
/** What each of them sends. */
const REQUESTS = {
  admitted: (visitors) => visitors.unchanged(START_MAX_MS),
  newcomer: (visitors) => visitors.newcomer(),
  waiting: (visitors) => visitors.early(),
};
/** By how much a first answer may be later than the pass-through's, in milliseconds. */
const GOALS_MS = { admitted: 25, newcomer: 55 };
/** By how much more CPU time an isolate may take to start than an empty Worker, in milliseconds. */
const START_GOAL_MS = 40;

/**
 * Measures the first answers.
 *
 * @param {object} setting what `main.mjs` started
 * @param {object} options
 * @param {number} options.processes how many of each kind are started
 * @param {number} [options.rooms] how many rooms they serve
 * @param {string} [options.against] the folder of another checkout
 * @returns {Promise<{ text: string, held: boolean }[]>} a figure for each kind
 */
export async function firstRequests(setting, { processes, rooms = ROOMS.length, against }) {
  const kinds = [{ start: startServices, only: [REFERENCE] }];
  const add = (start, whose) => {
    const only = ["hub", "waiting-room"];
    for (const who of Object.keys(WHO)) {
      kinds.push({ start, only, who, whose, rooms: many(rooms), samples: [] });
    }
  };
  add(startServices, "");
  if (against) add(await startersOf(against), " of the other checkout");
  const bare = [];
  // Visits and objects in one isolate, which is what an isolate loads.
  const alone = { start: startServices, only: ["hub"], samples: [] };
  kinds.push(alone);
  // Whoever comes first is let in.
  await setting.visitors.early();
  for (let round = 0; round < processes; round += 1) {
    for (const kind of shuffled(kinds)) {
      const requests = await REQUESTS[kind.who ?? "newcomer"](setting.visitors);
      const sample = await firstAnswer(setting, kind, requests);
      (kind.samples ?? bare).push(sample);
    }
  }
  const named = kinds.filter(({ whose }) => whose !== undefined);
  const figures = named.map((kind) => figure(kind, bare));
  return [...figures, startFigure(alone.samples, bare)].map((text) => ({ text, held: true }));
}

async function startersOf(folder) {
  const file = path.resolve(folder, "bench", "services.mjs");
  return (await import(pathToFileURL(file))).startServices;
}

/** Starts a process, sends it one request, and ends it. */
async function firstAnswer({ load, originPort }, { only, start, rooms }, requests) {
  const services = await start({ originPort, only, rooms });
  try {
    const startCpuMs = cpuNs(services.pid) / NS_PER_MS;
    const port = services.ports[only.at(-1)];
    const { elapsedMs, statuses } = await load.ask({ port, requests, connections: 1, count: 1 });
    if (statuses["200"] !== 1) throw new Error(`first answer: ${JSON.stringify(statuses)}`);
    return { elapsedMs, startCpuMs };
  } finally {
    await services.stop();
  }
}

function figure({ who, whose, samples }, bare) {
  const overMs = samples.map(({ elapsedMs }, round) => elapsedMs - bare[round].elapsedMs);
  const goal = who in GOALS_MS ? `; goal +${GOALS_MS[who]}` : "";
  return (
    `first request of a process, ${WHO[who]}${whose}: +${median(overMs).toFixed(1)} ms ` +
    `(${quartiles(overMs)}${goal}) to the pass-through's ${of(bare, "elapsedMs").toFixed(1)} ms`
  );
}

function startFigure(alone, bare) {
  const [cpuMs, bareCpuMs] = [alone, bare].map((samples) => of(samples, "startCpuMs"));
  return (
    `start of a process with one isolate: +${(cpuMs - bareCpuMs).toFixed(0)} ms of CPU ` +
    `(goal +${START_GOAL_MS}) to an empty Worker's ${bareCpuMs.toFixed(0)} ms`
  );
}

function of(samples, name) {
  return median(samples.map((sample) => sample[name]));
}

/** Between which two values the middle half of all lies. */
function quartiles(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (part) => `+${sorted[Math.round(part * (sorted.length - 1))].toFixed(0)}`;
  return `half of them ${at(0.25)} to ${at(0.75)}`;
}
