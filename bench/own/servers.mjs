/**
 * The servers that `--own` compares, each in processes of its own in front of the same origin: the
 * product as `npm run serve` serves it, alone and as a cluster, a bare pass-through, and plain
 * reverse proxies. It sends no request but to see that they answer.
 */

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Bucket, bucketMissing } from "../../tests/harness/bucket.mjs";
import { COMPATIBILITY_DATE } from "../../tests/harness/deployment.mjs";
import { freePort } from "../../tests/harness/free-port.mjs";
import { OwnServer } from "../../tests/harness/own-server.mjs";
import { BARE } from "../../tests/harness/worker-modules.mjs";
import { ROOMS } from "../rooms.mjs";
import { CONTROL, REFERENCE } from "../variants.mjs";

/** The host of all rooms. */
export const HOST = "shop.example";
/** The load generator stands where a proxy would, and tells what a proxy tells. */
const TRUSTED = { "trusted-proxies": "127.0.0.1,::1" };
/** Where on this machine no proxy is. */
export const NO_PROXY = "127.0.0.2";
const POLL_MS = 50;
const READY_WITHIN_MS = 30_000;

/** Each plain proxy: its configuration, one thread, connections kept on both sides. */
const PROXIES = {
  nginx: {
    parameters: (file, folder) => ["-p", folder, "-e", path.join(folder, "error.log"), "-c", file],
    configuration: ({ folder, port, originPort }) => `
      daemon off; master_process off; pid ${folder}/nginx.pid;
      events { worker_connections 1024; }
      http {
        access_log off;
        ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
          .map((name) => `${name}_temp_path ${folder}/${name};`)
          .join(" ")}
        keepalive_requests 1000000000;
        upstream site {
          server 127.0.0.1:${originPort}; keepalive 64; keepalive_requests 1000000000;
        }
        server {
          listen 127.0.0.1:${port};
          location / {
            proxy_pass http://site; proxy_http_version 1.1;
            proxy_set_header Connection ""; proxy_set_header Host $host;
          }
        }
      }`,
  },
  haproxy: {
    parameters: (file) => ["-db", "-f", file],
    configuration: ({ port, originPort }) => `
global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
listen site
  bind 127.0.0.1:${port}
  server site 127.0.0.1:${originPort}
`,
  },
};

/**
 * Starts all that this machine has the programs for.
 *
 * @param {object} options
 * @param {number} options.originPort
 * @param {number} options.instances processes of the cluster
 * @param {{ after: (stop: () => void) => void }} options.context what is to be stopped in the end
 * @returns {Promise<object>} `ports` and `pidsOf` by service; the `alone` server and its
 *   `cluster`; `absent`: a sentence for each that is not there
 */
export async function startServers({ originPort, instances, context }) {
  const [servers, absent] = [new Map(), []];
  const origin = `http://127.0.0.1:${originPort}`;
  const rooms = ROOMS.map((room) => ({ ...room, host: HOST }));
  for (const [name, proxy] of Object.entries(PROXIES)) {
    const isThere = spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;
    if (isThere) servers.set(name, await startProgram(name, proxy, { originPort, context }));
    else absent.push(`${name} is not installed here (Debian: apt-get install ${name})`);
  }
  for (const name of [REFERENCE, CONTROL]) {
    servers.set(name, await startProgram(workerd(), PASS_THROUGH, { originPort, context }));
  }
  const alone = await OwnServer.make(context, { rooms });
  await alone.start({ origin, ...TRUSTED });
  servers.set("alone", served(alone));
  const missing = await bucketMissing();
  if (missing) absent.push(`no cluster: ${missing}`);
  else servers.set("cluster", served(await startCluster({ origin, rooms, instances, context })));
  const ports = Object.fromEntries([...servers].map(([name, { port }]) => [name, port]));
  return { ports, pidsOf: (name) => servers.get(name).pids(), alone, absent };
}

const PASS_THROUGH = {
  parameters: (file) => ["serve", "--experimental", file],
  configuration: ({ port, originPort }) => `
    using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [
        (name = "bare", worker = .bare),
        (name = "origin", external = (address = "127.0.0.1:${originPort}", http = ())),
      ],
      sockets = [(name = "http", address = "127.0.0.1:${port}", service = "bare", http = ())],
    );
    const bare :Workerd.Worker = (
      modules = [(name = "bare.mjs", esModule = ${JSON.stringify(BARE)})],
      compatibilityDate = "${COMPATIBILITY_DATE}",
      globalOutbound = "origin",
    );`,
};

async function startCluster({ origin, rooms, instances, context }) {
  const bucket = await Bucket.start(context);
  const server = await OwnServer.make(context, { rooms });
  const flags = { ...bucket.flags, instances: String(instances) };
  await server.start({ origin, ...TRUSTED, ...flags }, bucket.credentials);
  return server;
}

function served(server) {
  return { port: server.port, pids: () => server.workerds() };
}

/** Starts a program with its configuration; resolves once its port is open. */
async function startProgram(program, { parameters, configuration }, { originPort, context }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "bench-own-"));
  const port = await freePort();
  const file = path.join(folder, "configuration");
  fs.writeFileSync(file, configuration({ folder, port, originPort }));
  const child = spawn(program, parameters(file, folder), { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (data) => (said += data));
  const ended = new Promise((resolve) => child.on("close", resolve));
  context.after(async () => {
    child.kill("SIGTERM");
    await ended;
    fs.rmSync(folder, { recursive: true, force: true });
  });
  const end = Date.now() + READY_WITHIN_MS;
  while (!(await isOpen(port))) {
    const failed = child.exitCode !== null || Date.now() > end;
    if (failed) throw new Error(`${program} does not listen:\n${said}`);
    await sleep(POLL_MS);
  }
  return { port, pids: () => [child.pid] };
}

function isOpen(port) {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: "127.0.0.1" });
    socket.on("connect", () => resolve(true));
    socket.on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}

function workerd() {
  return createRequire(import.meta.url)("workerd").default;
}
