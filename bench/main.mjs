/**
 * `npm run bench`: the built Worker beside a bare pass-through and two connectors, in one workerd
 * and one run. `--gate` measures what CI guards and fails if a gate breaks; `--rounds <n>` and
 * `--run-ms <ms>` change the length.
 */

import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import zlib from "node:zlib";

import { sendForJson } from "../tests/harness/http.mjs";
import { Child } from "./child.mjs";
import { crowdHandlerRooms } from "./peer-accounts.mjs";
import { promises, table } from "./report.mjs";
import { playRounds } from "./rounds.mjs";
import { startServices } from "./services.mjs";
import { GATED, VARIANTS } from "./variants.mjs";
import { Visitors } from "./visitors.mjs";

const WASM = path.join(import.meta.dirname, "../build/worker/gen/waiting_room_bg.wasm");
/** The budget of the wasm after gzip, as in `scripts/build.mjs`. */
const GZIP_KB_MAX = 400;
/** Visits of each kind whose object calls are counted. */
const QUIET_VISITS = 2_000;
/** Longer than the pauses between two reports. */
const QUIET_MS = 3_000;

const { values: options } = parseArgs({
  options: {
    gate: { type: "boolean", default: false },
    rounds: { type: "string", default: "8" },
    "run-ms": { type: "string" },
  },
});
const runMs = Number(options["run-ms"] ?? (options.gate ? 1_000 : 2_000));
const variants = options.gate ? GATED : VARIANTS;

const origin = new Child("origin.mjs");
const load = new Child("load.mjs");
let services;
try {
  process.exitCode = await bench();
} finally {
  await services?.stop();
  origin.stop();
  load.stop();
}

async function bench() {
  const { port: originPort } = await origin.ask({});
  const body = crowdHandlerRooms(originPort);
  await origin.ask({ ask: "serve", beginning: "GET /v1/rooms/", body });
  services = await startServices({ originPort });
  const visitors = new Visitors({ load, ports: services.ports, originPort });
  const door = { port: services.ports["waiting-room TestDoor"] };
  const asked = async () => (await sendForJson(door)).asked;
  await visitors.arrive();
  const calls = await objectCalls(visitors, asked);
  const progress = (round) => process.stderr.write(`\rround ${round} of ${options.rounds} `);
  const rounds = { rounds: Number(options.rounds), runMs, progress };
  const samples = await playRounds({ origin, load, services, visitors }, variants, rounds);
  process.stderr.write("\r\x1b[K");
  console.log(`\nRatios to a bare pass-through in the same workerd; ${options.rounds} shuffled pairs`);
  console.log(`of ${runMs / 1_000} s, the reference on both sides of each; medians.\n`);
  console.log(table(samples));
  console.log();
  const kept = promises(samples);
  for (const { text } of kept) console.log(text);
  console.log(`object calls in ${2 * QUIET_VISITS} visits, unchanged or not due: ${calls}`);
  const held = [...kept.map((one) => one.held), calls === 0, wasmSize()];
  return options.gate && held.includes(false) ? 1 : 0;
}

/** Object calls of the visitors' isolate during visits that need none. */
async function objectCalls(visitors, asked) {
  const kinds = [await visitors.unchanged(2 * QUIET_MS), await visitors.early()];
  await quiet(asked);
  const before = await asked();
  for (const requests of kinds) {
    const count = QUIET_VISITS;
    await load.ask({ port: services.ports["waiting-room"], requests, connections: 16, count });
  }
  return (await asked()) - before;
}

/** Waits until the reports of those who arrived are all sent. */
async function quiet(asked) {
  for (let last = -1, now = await asked(); last !== now; now = await asked()) {
    last = now;
    await sleep(QUIET_MS);
  }
}

function wasmSize() {
  const gzipped = zlib.gzipSync(fs.readFileSync(WASM), { level: 9 }).length;
  const kb = Math.ceil(gzipped / 1_024);
  console.log(`wasm: ${kb} KB gzip (at most ${GZIP_KB_MAX})`);
  return kb <= GZIP_KB_MAX;
}
