/**
 * `--loop`: what the Worker itself takes for a visit, beside another checkout that was built. Both
 * run in one workerd, where each sends itself the same visit thousands of times before an origin
 * that is not there. Without sockets around it, a change of a few per cent shows on a busy machine.
 */

import fs from "node:fs";
import path from "node:path";

import { COMPATIBILITY_DATE, SECRETS, durableObjects } from "../tests/harness/deployment.mjs";
import { Miniflare, convertV4MiniflareOptions } from "../tests/harness/miniflare.mjs";
import { median, ratioOf } from "../tests/harness/statistics.mjs";
import { ROOT, workerModules } from "../tests/harness/worker-modules.mjs";
import { cpuNs, workerdPid } from "../tests/harness/workerd-process.mjs";
import { ROOMS } from "./rooms.mjs";
import { Visitors } from "./visitors.mjs";

/** Visits in a row: some 10 ms of CPU. */
const VISITS = 2_000;
/** The first cycles meet code that V8 has not compiled yet. */
const WARM_CYCLES = 3;
/** Longer than a cycle takes: no ticket needs to be renewed meanwhile. */
const CYCLE_MAX_MS = 3_000;
/** The header that says how often the visit is repeated. */
const HEADER = "x-loop";

const KINDS = {
  "admitted, unchanged ticket": (visitors) => visitors.unchanged(CYCLE_MAX_MS),
  "no room covers the path": (visitors) => visitors.elsewhere(),
  "queued, page (not due)": (visitors) => visitors.early(),
};

/** An entry around the product's that repeats a visit which asks for it. */
const LOOP = `
import product from "./entry.js";
export * from "./entry.js";
const real = globalThis.fetch;
const ctx = { waitUntil() {} };
export default {
  async fetch(request, env, own) {
    let left = Number(request.headers.get("${HEADER}"));
    if (!left) return product.fetch(request, env, own);
    const visit = new Request(request);
    visit.headers.delete("${HEADER}");
    const answer = new Response("from the origin");
    globalThis.fetch = () => Promise.resolve(answer);
    try {
      // Now and then the promises of the answers have their turn.
      for (; left > 0; left -= 1) {
        const visited = product.fetch(visit, env, ctx);
        const status = left % 200 === 1 ? (await visited).status : 200;
        if (status !== 200) return new Response("", { status });
      }
      return new Response("");
    } finally {
      globalThis.fetch = real;
    }
  },
};
`;

/**
 * Measures this checkout beside another; returns the lines of a table.
 *
 * @param {object} setting the load generator and the port of the origin
 * @param {object} options
 * @param {string} options.against the folder of the other checkout
 * @param {number} options.seconds how long cycles are begun
 */
export async function loopTable({ load, originPort }, { against, seconds }) {
  const before = { name: "before", folder: path.resolve(against) };
  const builds = [before, { name: "now", folder: ROOT }];
  const workers = [worker({ ...before, name: "hub" }), ...builds.map(worker)];
  const settings = { cf: false, telemetry: { enabled: false }, port: 0, workers };
  const miniflare = new Miniflare(convertV4MiniflareOptions(settings));
  try {
    await miniflare.ready;
    for (const build of builds) await arrive(build, { miniflare, load, originPort });
    return report(await play(builds, load, seconds));
  } finally {
    await miniflare.dispose();
  }
}

function worker({ name, folder }) {
  const entry = path.join(folder, "src", "entry-of-the-bench.js");
  // The modules are gathered from files; the product has none that repeats visits.
  fs.writeFileSync(entry, LOOP);
  try {
    return {
      name,
      ...workerModules({ entry, rooms: ROOMS }),
      bindings: SECRETS,
      durableObjects: durableObjects("hub"),
      compatibilityDate: COMPATIBILITY_DATE,
      unsafeDirectSockets: [{ port: 0 }],
    };
  } finally {
    fs.rmSync(entry);
  }
}

async function arrive(build, { miniflare, load, originPort }) {
  build.port = Number((await miniflare.unsafeGetDirectURL(build.name)).port);
  const ports = { "waiting-room": build.port };
  build.visitors = new Visitors({ load, ports, originPort });
  // Takes the only place, so that all others wait.
  await build.visitors.early();
}

/** The CPU microseconds of a visit, by kind and build, cycle by cycle. */
async function play(builds, load, seconds) {
  const samples = Object.fromEntries(
    Object.keys(KINDS).map((kind) => [kind, { before: [], now: [] }]),
  );
  const end = performance.now() + seconds * 1_000;
  for (let cycle = 0; performance.now() < end; cycle += 1) {
    for (const [kind, visit] of Object.entries(KINDS)) {
      for (const build of cycle % 2 ? builds : builds.toReversed()) {
        const us = await measure(build, load, await visit(build.visitors));
        if (cycle >= WARM_CYCLES) samples[kind][build.name].push(us);
      }
    }
  }
  return samples;
}

async function measure({ port }, load, [visit]) {
  const looped = visit.replace("\r\nHost:", `\r\n${HEADER}: ${VISITS}\r\nHost:`);
  const began = cpuNs(workerdPid());
  const { statuses } = await load.ask({ port, requests: [looped], connections: 1, count: 1 });
  if (statuses["200"] !== 1) throw new Error(`a visit was answered ${JSON.stringify(statuses)}`);
  return (cpuNs(workerdPid()) - began) / 1_000 / VISITS;
}

function report(samples) {
  return Object.entries(samples).map(([kind, { before, now }]) => {
    const { middle, low, high } = ratioOf(now.map((us, at) => us / before[at]));
    const ratio = `${middle.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
    const times = [before, now].map((us) => median(us).toFixed(1)).join(" -> ");
    return `${kind.padEnd(28)}${times} us of CPU, ${ratio} of before`;
  });
}
