// Runs the tests that the official Python client has for waiting rooms against this API:
// `node scripts/sdk-tests.mjs`. They come with the client's source from the package index. Each
// of their calls finds the room, event and rule that it names, whatever the one before did.
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";

import { OWNER } from "../tests/harness/api.mjs";
import { startCluster } from "../tests/harness/cluster.mjs";
import { room } from "../tests/harness/rooms.mjs";

const CLIENT = "cloudflare==5.9.0";
const TOOLS = [
  ...["pytest==9.2.0", "pytest-asyncio==1.5.0", "pytest-xdist==3.8.0", "respx==0.23.1"],
  ...["httpx-aiohttp==0.2.0", "time-machine==3.6.0", "nest-asyncio==1.6.0", "dirty-equals==0.11"],
];
const TESTS = "tests/api_resources";
const API = "/_waiting-room/client/v4/";
/** The names in the client's tests. */
const ZONE = "023e105f4ecef8ad9ca31a8372d0c353";
const ROOM = "699d98642c564d2e855e9661899b7252";
const PART = "25756b2dfe6e378a06b033b670413757";
const ROOMS = `zones/${ZONE}/waiting_rooms`;
const FILE = "waiting_rooms/file";
const KEPT_HEADERS = ["content-type", "accept"];
/** What a server writes by itself. */
const OWN_HEADERS = /^(?:content-length|transfer-encoding|connection)$/;
const DAY_MS = 86_400_000;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "sdk-tests-"));
const first = room({ name: "first", id: ROOM, zone_id: ZONE, total_active_users: 200 });
const cluster = await startCluster({ rooms: [first], colos: { AMS: 1 } });
const server = http.createServer((request, response) => void inTurn(request, response));
let last = Promise.resolve();
/** What each call finds, as a file of all rooms. */
let found;
let code = 1;
try {
  found = await named();
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  code = await clientsTests(`http://127.0.0.1:${server.address().port}`);
} finally {
  server.close();
  server.closeAllConnections();
  await cluster.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}
process.exit(code);

/** Makes an event and a rule; returns the whole configuration with the names of the tests. */
async function named() {
  const at = (days) => new Date(Date.now() + days * DAY_MS).toISOString();
  const event = { name: "first", event_start_time: at(10), event_end_time: at(11) };
  const rule = { action: "bypass_waiting_room", expression: "ip.src in {192.0.2.1}" };
  const made = [
    await owner("POST", `${ROOMS}/${ROOM}/events`, event),
    await owner("POST", `${ROOMS}/${ROOM}/rules`, rule),
  ];
  const ids = made.flatMap(({ result }) => [result].flat()).map(({ id }) => id);
  const { result } = await owner("GET", FILE);
  return JSON.parse(ids.reduce((text, id) => text.replaceAll(id, PART), JSON.stringify(result)));
}

/** Makes a call that must succeed. */
async function owner(method, where, body) {
  const answer = await asked(method, where, body && JSON.stringify(body));
  if (answer.status !== 200) throw new Error(`${method} ${where}: ${answer.body}`);
  return JSON.parse(answer.body);
}

function asked(method, where, body, headers = { "content-type": "application/json" }) {
  const to = { host: "127.0.0.1", path: `${API}${where}`, method };
  const [{ name }] = cluster.isolates;
  return cluster.send(name, { ...to, headers: { ...headers, ...OWNER }, body });
}

/** Answers a call of the client's tests once those before are answered. */
async function inTurn(request, response) {
  const before = last;
  last = before.then(() => passOn(request, response)).catch((error) => response.destroy(error));
  await last;
}

async function passOn(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { method } = request;
  const where = request.url.slice(1);
  for (const { id } of (await owner("GET", ROOMS)).result) await owner("DELETE", `${ROOMS}/${id}`);
  // What makes a room needs its host and path.
  if (method !== "POST" || where !== ROOMS) await owner("PUT", FILE, found);
  const headers = Object.entries(request.headers).filter(([name]) => KEPT_HEADERS.includes(name));
  const body = Buffer.concat(chunks).toString() || undefined;
  const answer = await asked(method, where, body, Object.fromEntries(headers));
  if (answer.status >= 400) console.error(`${answer.status} ${method} ${where}: ${answer.body}`);
  const told = Object.entries(answer.headers).filter(([name]) => !OWN_HEADERS.test(name));
  response.writeHead(answer.status, Object.fromEntries(told));
  response.end(answer.body);
}

/** Runs the tests in an environment of their own; resolves with their status. */
async function clientsTests(address) {
  const python = path.join(folder, "environment", "bin", "python");
  const pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"];
  await must(["python3", "-m", "venv", path.join(folder, "environment")]);
  await must([...pip, "install", CLIENT, ...TOOLS]);
  await must([...pip, "download", CLIENT, "--no-binary", "cloudflare", "--no-deps", "-d", folder]);
  const source = fs.readdirSync(folder).find((name) => name.endsWith(".tar.gz"));
  await must(["tar", "xzf", path.join(folder, source), "-C", folder]);
  const tests = [`${TESTS}/test_waiting_rooms.py`, `${TESTS}/waiting_rooms`];
  // One after the other: each call puts everything back.
  const options = ["-m", "pytest", "-o", "addopts=--tb=short", ...tests];
  const cwd = path.join(folder, source.replace(/\.tar\.gz$/, ""));
  return run([python, ...options], { cwd, env: { ...process.env, TEST_API_BASE_URL: address } });
}

async function must(command) {
  const status = await run(command, {});
  if (status !== 0) throw new Error(`${command[0]} ended with status ${status}`);
}

function run([program, ...parameters], options) {
  const child = spawn(program, parameters, { stdio: "inherit", ...options });
  return new Promise((resolve, reject) => child.on("close", resolve).on("error", reject));
}
