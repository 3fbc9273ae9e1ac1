/**
 * `--own`: what a visit costs on an owner's machine, by one process of `npm run serve` and by as
 * many as there are processors, beside a bare pass-through in the same workerd and beside plain
 * reverse proxies; and the memory with many waiting visitors. All are measured in turn, slice by
 * slice, so that a slow moment of the machine hits all alike.
 */

import os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

import { residentBytes } from "../tests/harness/workerd-process.mjs";
import { CONNECTIONS, playCycles } from "./rounds.mjs";
import { SLOW } from "./rooms.mjs";
import { CONTROL, PASS_THROUGH, VARIANTS } from "./variants.mjs";
import { Visitors } from "./visitors.mjs";
import { WITHOUT_PROXY, linesOf } from "./own/report.mjs";
import { HOST, NO_PROXY, startServers } from "./own/servers.mjs";

/** The kinds of visits, of those of the whole benchmark. */
const KINDS = ["uncovered", "admitted", "renewed", "early"];
/** Requests of a slice. */
const REQUESTS = 500;
/** Visitors who renew: so many that none comes twice in one activity bucket of `rooms.mjs`. */
const CROWD = 16_000;
/** What a proxy in front tells with each request. */
const WHERE = [`Host: ${HOST}`, "X-Forwarded-For: 203.0.113.9", "X-Forwarded-Proto: https"];
/** In which all that have joined are reported, and how often that is looked at. */
const [REPORTED_WITHIN_MS, LOOK_MS] = [60_000, 1_000];

/**
 * Measures everything; returns the lines to print.
 *
 * @param {object} options
 * @param {object} options.origin the process of the origin
 * @param {object} options.load the process of the load generator
 * @param {number} options.originPort
 * @param {number} options.seconds how long visits are compared
 * @param {number} options.waiting how many wait while memory is measured
 * @param {(cycle?: number) => void} options.progress
 * @param {{ after: (stop: () => void) => void }} options.context
 */
export async function ownLines(options) {
  const { origin, load, originPort, seconds, waiting, progress, context } = options;
  const instances = os.availableParallelism();
  const servers = await startServers({ originPort, instances, context });
  const { absent, alone, pidsOf, ports } = servers;
  const visitorsOf = async (service) => {
    const all = { ...ports, "waiting-room": ports[service] };
    const visitors = new Visitors({ load, ports: all, where: WHERE, crowd: CROWD });
    await visitors.arrive();
    return visitors;
  };
  const visitors = await visitorsOf("alone");
  const variants = [
    ...Object.keys(ports).filter(isPlain).map((name) => ({ ...PASS_THROUGH, name, service: name })),
    ...ofProduct("alone", visitors),
    ...ofProduct("alone", visitors, { from: NO_PROXY }).filter(isWithoutProxy),
  ];
  if (ports.cluster) {
    const connections = CONNECTIONS * instances;
    variants.push(...ofProduct("cluster", await visitorsOf("cluster"), { connections }));
  }
  const setting = { origin, load, visitors, services: { ports, pidsOf } };
  const samples = await playCycles(setting, variants, { seconds, progress, count: REQUESTS });
  const memory = await memoryOf({ alone, load, visitors, waiting });
  return linesOf({ samples, kinds: KINDS, instances, absent, memory });
}

/** Whether a server only passes requests on; the yardstick itself is measured in any case. */
function isPlain(name) {
  return !["alone", "cluster", PASS_THROUGH.name].includes(name) || name === CONTROL;
}

/** All kinds of visits to one server of the product. */
function ofProduct(service, visitors, how = {}) {
  return VARIANTS.filter(({ name }) => KINDS.includes(name)).map((variant) => ({
    ...variant,
    ...how,
    name: [service, variant.name, ...(how.from ? [WITHOUT_PROXY] : [])].join(" "),
    service,
    requests: (_, ms, count) => variant.requests(visitors, ms, count),
  }));
}

/** Without a proxy in front each request is made anew: one kind tells what that costs. */
function isWithoutProxy({ name }) {
  return name.includes("admitted");
}

/** Lets so many join the line of one process, and looks at its memory before and after. */
async function memoryOf({ alone, load, visitors, waiting }) {
  const bytes = () => residentBytes(alone.workerd());
  const room = (await alone.api("GET", "waiting_rooms?per_page=50")).result.find(
    ({ name }) => name === SLOW.name,
  );
  const told = async () => {
    const { result } = await alone.api("GET", `waiting_rooms/${room.id}/status`);
    return result.estimated_queued_users;
  };
  const before = bytes();
  const began = performance.now();
  const job = { port: alone.port, requests: visitors.joining(), connections: CONNECTIONS };
  const { requests } = await load.ask({ ...job, count: waiting });
  const seconds = (performance.now() - began) / 1_000;
  const end = Date.now() + REPORTED_WITHIN_MS;
  let [queued, last] = [await told(), -1];
  while (queued !== last && Date.now() < end) {
    await sleep(LOOK_MS * 5);
    [queued, last] = [await told(), queued];
  }
  return { before, after: bytes(), joined: requests, queued, seconds };
}
