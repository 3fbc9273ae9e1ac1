/**
 * `npm run bench`: the built Worker beside a bare pass-through and two connectors, in one workerd
 * and one run; and what a month costs. The flags in `options.mjs` choose parts of it and others.
 */

import { sendForJson } from "../tests/harness/http.mjs";
import { monthlyBill } from "./bill/bill.mjs";
import { Child } from "./child.mjs";
import { firstRequests } from "./first-requests.mjs";
import { ownLines } from "./own.mjs";
import { ownersTable } from "./owner.mjs";
import { crowdHandlerRooms } from "./peer-accounts.mjs";
import { loopTable } from "./loop.mjs";
import { benchOptions } from "./options.mjs";
import { table, verdicts } from "./report.mjs";
import { joined, playCycles } from "./rounds.mjs";
import { scaleTable } from "./scale.mjs";
import { startServices } from "./services.mjs";
import { capacity, objectCalls, wasmSize } from "./single-figures.mjs";
import { QUEUE_IT, REFERENCE } from "./variants.mjs";
import { Visitors } from "./visitors.mjs";

const options = benchOptions(process.argv.slice(2));
const seconds = Number(options.seconds ?? (options.gate ? 60 : 100));
const first = {
  processes: Number(options.processes),
  rooms: options.serve && Number(options.serve),
  against: options.against,
};
const { variants } = options;

/** A broken gate is measured again as often: more cycles are nearer to the truth. */
const PLAYS_MORE_MAX = 2;

const started = [];
try {
  if (options.first) await tellFirst();
  else if (options.loop) await tellLoop();
  else if (options.own) await tellOwn();
  else if (options.owner) console.log(await ownersTable());
  else if (options.scale) process.exitCode = (await tellScale()) ? 0 : 1;
  else {
    const held = [options.bill || (await bench()), options.only || (await tellBill())];
    process.exitCode = held.every(Boolean) ? 0 : 1;
  }
} finally {
  for (const one of started.reverse()) await one.stop();
}

/** The ratios and figures of visits; false if a gate breaks. */
async function bench() {
  const setting = await prepare();
  const figures = [await capacity(setting), await objectCalls(setting)];
  let samples = await playCycles(setting, variants, { seconds, progress });
  for (let play = 0; options.gate && play < PLAYS_MORE_MAX; play += 1) {
    const broken = verdicts(samples).filter(({ held }) => !held);
    if (broken.length === 0) break;
    for (const { text } of broken) console.error(`measured once more: ${text}`);
    const more = await playCycles(setting, again(broken), { seconds: seconds / 2, progress });
    samples = joined(samples, more);
  }
  figures.push(wasmSize(), ...(await firstRequests(setting, first)));
  const all = [...verdicts(samples), ...figures];
  print(samples, all);
  return !options.gate || all.every(({ held }) => held);
}

/** The first requests of processes, with nothing else. */
async function tellFirst() {
  const setting = await prepare([REFERENCE, "hub", "waiting-room"]);
  for (const { text } of await firstRequests(setting, first)) console.log(text);
}

/** Visits in a loop, beside those of another checkout. */
async function tellLoop() {
  const lines = await loopTable(await prepareOrigin(), { against: options.against, seconds });
  console.log(lines.join("\n"));
}

/** What visits cost on machines of their owner. */
async function tellOwn() {
  const context = { after: (stop) => started.push({ stop }) };
  const waiting = Number(options.waiting);
  const setting = { ...(await prepareOrigin()), seconds, waiting, progress, context };
  console.log((await ownLines(setting)).join("\n"));
}

/** What grows with rooms, rules and event streams, with nothing else; false if a gate breaks. */
async function tellScale() {
  const setting = { ...(await prepareOrigin()), seconds, processes: first.processes, progress };
  const { lines, held } = await scaleTable(setting);
  console.log(lines.join("\n"));
  return !options.gate || held;
}

/** What a month costs; false if a goal is missed. */
async function tellBill() {
  const { text, verdicts: found } = await monthlyBill(options);
  console.log([text, "", ...found.map((one) => one.text)].join("\n"));
  return found.every(({ held }) => held);
}

/** What broke a gate, and Queue-it, beside which the table sets everybody. */
function again(broken) {
  const names = [QUEUE_IT, ...broken.map(({ variant }) => variant)];
  return variants.filter(({ name }) => names.includes(name));
}

/** Starts all processes; unless only some services are needed, everybody arrives as well. */
async function prepare(only) {
  const { origin, load, originPort } = await prepareOrigin();
  const services = await startServices({ originPort, only });
  started.push(services);
  const visitors = new Visitors({ load, ports: services.ports, originPort });
  if (!only) await visitors.arrive();
  const roomCalls = () => callsOfRooms({ port: services.ports["hub TestDoor"] });
  return { origin, load, services, visitors, roomCalls, originPort };
}

/** Starts the origin and the load generator. */
async function prepareOrigin() {
  const [origin, load] = [new Child("origin.mjs"), new Child("load.mjs")];
  started.push(origin, load);
  const { port: originPort } = await origin.ask({});
  const body = crowdHandlerRooms(originPort);
  await origin.ask({ ask: "serve", beginning: "GET /v1/rooms/", body });
  return { origin, load, originPort };
}

/** How many calls have reached the objects of rooms. */
async function callsOfRooms(door) {
  const { calls } = await sendForJson(door);
  const ofRooms = Object.entries(calls).filter(([name]) => !name.startsWith("Registry "));
  return ofRooms.reduce((sum, [, count]) => sum + count, 0);
}

function progress(cycle) {
  if (!process.stderr.isTTY) return;
  process.stderr.write(cycle === undefined ? "\r\x1b[K" : `\rcycle ${cycle + 1} `);
}

function print(samples, all) {
  const cycles = samples.get(REFERENCE).length;
  console.log(`
Ratios of CPU time to a bare pass-through in the same workerd, from ${cycles} cycles in which each
serves one slice of requests; "speed" is the inverse. 95 % tells where 95 of 100 such runs end.
`);
  console.log(table(samples));
  console.log();
  for (const { text } of all) console.log(text);
}
