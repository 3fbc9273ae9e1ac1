/**
 * One workerd with everything that is compared: each Worker an isolate of its own, each reached on
 * a socket of its own, all before the same origin on loopback. It sends no request.
 */

import path from "node:path";

import { build } from "esbuild";

import { COMPATIBILITY_DATE, SECRETS, durableObjects } from "../tests/harness/deployment.mjs";
import { Miniflare, convertV4MiniflareOptions } from "../tests/harness/miniflare.mjs";
import { BARE, script, workerModules } from "../tests/harness/worker-modules.mjs";
import { workerdPid } from "../tests/harness/workerd-process.mjs";
import { crowdHandlerVars, queueItVars } from "./peer-accounts.mjs";
import { ROOMS } from "./rooms.mjs";

const SETTINGS = { cf: false, telemetry: { enabled: false }, port: 0 };
const COMMON = { compatibilityDate: COMPATIBILITY_DATE, unsafeDirectSockets: [{ port: 0 }] };

/**
 * Starts the services whose names are given, or all.
 *
 * @param {object} options
 * @param {number} options.originPort
 * @param {string[]} [options.only]
 * @param {object[]} [options.rooms] what `rooms.json` of the product holds
 * @param {{ name: string, rooms: object[] }[]} [options.more] the product again, with other rooms
 * @param {"release" | "named"} [options.build] which wasm
 * @param {boolean} [options.inspected] whether there is an inspector
 */
export async function startServices(options) {
  const { originPort, only, rooms = ROOMS, more = [], build, inspected } = options;
  const own = [
    ...["pass-through", "pass-through-again"].map((name) => ({ name, ...script(BARE) })),
    product("hub", { rooms, build }),
    // The visitors' isolate is not that of the objects, as in life.
    product("waiting-room", { rooms, build }, "hub"),
  ];
  const chosen = own.filter(({ name }) => !only || only.includes(name));
  // Bundling the peers takes longer than all the rest.
  if (!only || chosen.length < only.length) {
    const others = await peers(originPort);
    chosen.push(...others.filter(({ name }) => !only || only.includes(name)));
  }
  chosen.push(...more.map(({ name, ...whose }) => product(name, { ...whose, build }, "hub")));
  const workers = chosen.map((one) => ({ ...COMMON, ...one }));
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({ ...SETTINGS, ...(inspected && { inspectorPort: 0 }), workers }),
  );
  await miniflare.ready;
  const ports = {};
  for (const { name, unsafeDirectSockets } of workers) {
    for (const { entrypoint } of unsafeDirectSockets) {
      const url = await miniflare.unsafeGetDirectURL(name, entrypoint);
      ports[entrypoint ? `${name} ${entrypoint}` : name] = Number(url.port);
    }
  }
  const inspector = inspected && (await miniflare.getInspectorURL());
  return { ports, pid: workerdPid(), inspector, stop: () => miniflare.dispose() };
}

function product(name, modules, objectsIn) {
  return {
    name,
    ...workerModules(modules),
    bindings: SECRETS,
    durableObjects: durableObjects(objectsIn),
    unsafeDirectSockets: [{ port: 0 }, { port: 0, entrypoint: "TestDoor" }],
  };
}

async function peers(originPort) {
  const queueIt = {
    ...(await bundled("queue-it.mjs")),
    compatibilityFlags: ["nodejs_compat"],
  };
  const crowdHandler = await bundled("crowdhandler.mjs");
  const fixed = { ...queueIt, bindings: queueItVars({ extends: false }) };
  const extended = { ...queueIt, bindings: queueItVars({ extends: true }) };
  const fromMemory = crowdHandlerVars({ originPort, fromMemory: true });
  const published = crowdHandlerVars({ originPort, fromMemory: false });
  return [
    { ...fixed, name: "queue-it" },
    { ...extended, name: "queue-it-extending" },
    { ...crowdHandler, name: "crowdhandler-from-memory", bindings: fromMemory },
    { ...crowdHandler, name: "crowdhandler", bindings: published },
  ];
}

/** An adapter with the package that it imports, as a deployment would bundle them. */
async function bundled(file) {
  const { outputFiles } = await build({
    entryPoints: [path.join(import.meta.dirname, "peers", file)],
    bundle: true,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    external: ["node:*"],
    // The SHA-256 of CrowdHandler's SDK takes workerd for Node and asks for `require`, unless told.
    define: { "process.versions.node": "undefined" },
    minify: true,
    write: false,
  });
  return script(outputFiles[0].text);
}
