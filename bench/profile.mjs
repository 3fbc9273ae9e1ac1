/**
 * `npm run profile`: where the CPU time of one kind of visit goes, as a table of functions and a
 * flame graph (`build/profile-<visit>.svg`), beside what a bare pass-through spends on a request.
 *
 * V8 takes a sample every 0.1 ms, which makes all a little slower: the shares count, not the sums.
 */

import fs from "node:fs";
import path from "node:path";

import { inspect } from "../tests/harness/inspector.mjs";
import { ROOT } from "../tests/harness/worker-modules.mjs";
import { Child } from "./child.mjs";
import { flameGraph } from "./flame-graph.mjs";
import { profileOptions } from "./options.mjs";
import { CONNECTIONS } from "./rounds.mjs";
import { startServices } from "./services.mjs";
import { PASS_THROUGH, REFERENCE } from "./variants.mjs";
import { Visitors } from "./visitors.mjs";

const SAMPLE_US = 100;
/** Longer than all visits take: no ticket needs to be renewed meanwhile. */
const VISITS_MS = 5_000;
/** Rows of the table; what takes less is summed up. */
const ROWS = 30;
/** What V8 calls the time in which nothing runs. */
const IDLE = "(idle)";

const { variant, count } = profileOptions(process.argv.slice(2));

const started = [];
try {
  await main();
} finally {
  for (const one of started.reverse()) await one.stop();
}

async function main() {
  const [origin, load] = [new Child("origin.mjs"), new Child("load.mjs")];
  started.push(origin, load);
  const { port: originPort } = await origin.ask({});
  const only = [REFERENCE, "hub", variant.service];
  const services = await startServices({ originPort, only, build: "named", inspected: true });
  started.push(services);
  const visitors = new Visitors({ load, ports: services.ports, originPort });
  await visitors.arrive();
  // The same requests to both.
  const requests = await variant.requests(visitors, VISITS_MS, count);
  const own = await profiled({ load, services }, variant, requests);
  const bare = await profiled({ load, services }, PASS_THROUGH, requests);
  const file = path.join(ROOT, "build", `profile-${variant.name}.svg`);
  fs.writeFileSync(file, flameGraph(own, `${variant.title}: CPU time of ${count} visits`));
  print(own, bare);
  console.log(`\nflame graph: ${path.relative(process.cwd(), file)}`);
}

/** Returns the CPU profile of the service that answers, while it does. */
function profiled({ load, services }, { service }, requests) {
  const port = services.ports[service];
  const visit = () => load.ask({ port, requests, connections: CONNECTIONS, count });
  return inspect(services.inspector, service, async (ask) => {
    // Whoever is measured is warm.
    await visit();
    await ask("Profiler.enable");
    await ask("Profiler.setSamplingInterval", { interval: SAMPLE_US });
    await ask("Profiler.start");
    await visit();
    return (await ask("Profiler.stop")).profile;
  });
}

function print(own, bare) {
  const [ours, theirs] = [byFunction(own), byFunction(bare)];
  const rows = [...ours].sort(([, one], [, other]) => other - one);
  console.log(`microseconds of a visit (${variant.title}), and of the pass-through's request\n`);
  const line = (us, bareUs, what) => {
    const cells = [us, bareUs].map((one) => (one ? one.toFixed(1) : "").padStart(8));
    console.log(`${cells.join("")}  ${what}`);
  };
  for (const [name, us] of rows.slice(0, ROWS)) line(us, theirs.get(name), name);
  const sum = (values) => values.reduce((all, us) => all + us, 0);
  line(sum(rows.slice(ROWS).map(([, us]) => us)), 0, "all other functions");
  line(sum([...ours.values()]), sum([...theirs.values()]), "all");
  const ofWasm = rows.filter(([name]) => name.startsWith("wasm "));
  line(sum(ofWasm.map(([, us]) => us)), 0, "of which in wasm");
}

/** Microseconds of a visit by function, without those of the functions that it calls. */
function byFunction({ nodes, samples, timeDeltas }) {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const us = new Map();
  samples.forEach((id, at) => {
    const name = names.get(id);
    if (name !== IDLE) us.set(name, (us.get(name) ?? 0) + timeDeltas[at] / count);
  });
  return us;
}

/** The name of a function, and where it stands. */
function nameOf({ functionName, url }) {
  if (url.startsWith("wasm:")) return `wasm ${functionName}`;
  const file = url && ` (${path.basename(url)})`;
  return `${functionName || "(between functions)"}${file}`;
}
