/**
 * The Worker with its objects in one isolate, and beside it a bare pass-through in JavaScript, both
 * before one origin in Node that shows every byte. For what needs no clock, no crowd and no second
 * data center.
 */

import http from "node:http";

import { Miniflare, convertV4MiniflareOptions } from "miniflare";

import { developmentVars } from "./cluster.mjs";
import { WorkerLog } from "./worker-log.mjs";
import { workerModules } from "./worker-modules.mjs";

const COMPATIBILITY_DATE = "2026-11-01";
const OBJECTS = {
  DATA_CENTER_COUNTER: "DataCenterCounter",
  DATA_CENTER_AGGREGATOR: "DataCenterAggregator",
  GLOBAL_AGGREGATOR: "GlobalAggregator",
  REGISTRY: "Registry",
};
/** What "untouched" means: the answer and the origin's view of the simplest Worker there is. */
const BARE = "export default { fetch(request) { return fetch(request); } };";
/** Outbound requests of Miniflare's Workers need a service that leads to the origin. */
const EGRESS = "export default { fetch(request, env) { return env.NODE.fetch(request); } };";

/**
 * Starts both Workers and the origin.
 *
 * @param {object} options
 * @param {http.RequestListener} options.origin
 * @param {Function} [options.upgrade] for WebSocket handshakes: called with request and socket
 * @param {object[]} options.rooms
 * @param {Record<string, string>} [options.vars]
 * @param {"release" | "debug"} [options.build]
 * @param {boolean} [options.boundOrigin] gives the Worker the origin as the service binding ORIGIN
 * @returns {Promise<{ ports: Record<string, number>, log: WorkerLog, stop: () => Promise<void> }>}
 *   the ports of `product` and `bare`
 */
export async function startPair({ origin, upgrade, rooms, vars = {}, build, boundOrigin }) {
  const server = http.createServer(origin);
  if (upgrade) server.on("upgrade", upgrade);
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address();
  const edge = { compatibilityDate: COMPATIBILITY_DATE, unsafeDirectSockets: [{ port: 0 }] };
  const product = {
    ...edge,
    ...workerModules({ build, rooms }),
    name: "product",
    bindings: { ...developmentVars(), ...vars },
    durableObjects: Object.fromEntries(
      Object.entries(OBJECTS).map(([name, className]) => [name, { className, useSQLite: true }]),
    ),
    // A Worker whose origin is bound must not find it by any other way.
    ...(boundOrigin ? { serviceBindings: { ORIGIN: "egress" } } : { outboundService: "egress" }),
  };
  const external = { external: { address: `127.0.0.1:${port}`, http: {} } };
  const egress = { ...script(EGRESS), name: "egress", serviceBindings: { NODE: external } };
  const bare = { ...edge, ...script(BARE), name: "bare", outboundService: "egress" };
  const log = new WorkerLog();
  const quiet = { telemetry: { enabled: false }, handleStructuredLogs: log.keep };
  const options = { cf: false, port: 0, ...quiet };
  const workers = [product, bare, egress];
  const miniflare = new Miniflare(convertV4MiniflareOptions({ ...options, workers }));
  await miniflare.ready;
  const portOf = async (name) => Number((await miniflare.unsafeGetDirectURL(name)).port);
  const ports = { product: await portOf("product"), bare: await portOf("bare") };
  const stop = async () => {
    await miniflare.dispose();
    server.closeAllConnections();
    server.close();
  };
  return { ports, log, stop };
}

function script(contents) {
  return {
    compatibilityDate: COMPATIBILITY_DATE,
    modules: [{ type: "ESModule", path: "script.mjs", contents }],
  };
}
