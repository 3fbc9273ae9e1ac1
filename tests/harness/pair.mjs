/**
 * The Worker with its objects in one isolate, and beside it a bare pass-through in JavaScript, both
 * in front of one origin in Node that sees every byte. For tests that need no clock, no crowd and
 * no second data center.
 */

import http from "node:http";

import { COMPATIBILITY_DATE, SECRETS, durableObjects } from "./deployment.mjs";
import { Miniflare, convertV4MiniflareOptions } from "./miniflare.mjs";
import { Rest } from "./rest.mjs";
import { WorkerLog } from "./worker-log.mjs";
import { BARE, script, workerModules } from "./worker-modules.mjs";
import { workerdPid } from "./workerd-process.mjs";

/** The service that leads outbound requests of the Workers to the origin, as Miniflare demands. */
const EGRESS = "export default { fetch(request, env) { return env.NODE.fetch(request); } };";

/**
 * Starts both Workers and the origin.
 *
 * @param {object} options
 * @param {http.RequestListener} options.origin answers as the origin
 * @param {Function} [options.upgrade] for WebSocket handshakes: called with request and socket
 * @param {object[]} options.rooms
 * @param {Record<string, string>} [options.vars]
 * @param {"release" | "debug"} [options.build]
 * @param {boolean} [options.boundOrigin] gives the Worker the origin as the service binding ORIGIN
 * @returns {Promise<{ ports: Record<string, number>, log: WorkerLog, rest: Rest,
 *   stop: () => Promise<void> }>} the ports of `product` and `bare`
 */
export async function startPair({ origin, upgrade, rooms, vars = {}, build, boundOrigin }) {
  const server = http.createServer(origin);
  if (upgrade) server.on("upgrade", upgrade);
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address();
  const dated = { compatibilityDate: COMPATIBILITY_DATE };
  const edge = { ...dated, unsafeDirectSockets: [{ port: 0 }] };
  const product = {
    ...edge,
    ...workerModules({ build, rooms }),
    name: "product",
    bindings: { ...SECRETS, ...vars },
    durableObjects: durableObjects(),
    // A Worker whose origin is bound must not reach it in any other way.
    ...(boundOrigin ? { serviceBindings: { ORIGIN: "egress" } } : { outboundService: "egress" }),
  };
  const external = { external: { address: `127.0.0.1:${port}`, http: {} } };
  const toNode = { serviceBindings: { NODE: external } };
  const egress = { ...dated, ...script(EGRESS), name: "egress", ...toNode };
  const bare = { ...edge, ...script(BARE), name: "bare", outboundService: "egress" };
  const log = new WorkerLog();
  const quiet = { telemetry: { enabled: false }, handleStructuredLogs: log.keep };
  const options = { cf: false, port: 0, ...quiet };
  const workers = [product, bare, egress];
  const miniflare = new Miniflare(convertV4MiniflareOptions({ ...options, workers }));
  await miniflare.ready;
  const portOf = async (name) => Number((await miniflare.unsafeGetDirectURL(name)).port);
  const ports = { product: await portOf("product"), bare: await portOf("bare") };
  const rest = new Rest(workerdPid());
  const stop = async () => {
    rest.close();
    await miniflare.dispose();
    server.closeAllConnections();
    server.close();
  };
  return { ports, log, rest, stop };
}
