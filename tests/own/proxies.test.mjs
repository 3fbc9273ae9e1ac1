/**
 * The examples for Caddy, nginx, HAProxy and systemd, with the real programs: visitors come by
 * HTTPS, claim what they like, and meet no error while workerd is killed.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import https from "node:https";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { freePort } from "../harness/free-port.mjs";
import { makeCertificate, opensslMissing } from "../harness/https.mjs";
import { OwnServer, until } from "../harness/own-server.mjs";
import { room } from "../harness/rooms.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const ALL = { timeout: 300_000 };
const EXAMPLES = path.join(ROOT, "examples", "own-machines");
const HOST = "shop.example";
const OFFICE = "203.0.113.9";
const rooms = [
  room({
    name: "shop",
    total_active_users: 1,
    bypass_rules: [
      { id: "1".repeat(32), action: "bypass_waiting_room", expression: `ip.src eq ${OFFICE}` },
    ],
  }),
];
const CLAIMS = {
  "cf-connecting-ip": OFFICE,
  "x-forwarded-for": OFFICE,
  "x-forwarded-proto": "http",
  "x-real-ip": OFFICE,
  "x-forwarded-host": "other.example",
  forwarded: "host=other.example",
};
/** How many requests come while workerd is killed. */
const REQUESTS = 60;
const READY_WITHIN_MS = 60_000;
/** Some proxies refuse more than a megabyte, unless they are told otherwise. */
const UPLOAD_BYTES = 3_000_000;
/** A form that the site takes its time for: workerd is killed meanwhile. */
const ORDER = "/order?delay-ms=10000";

/** Each proxy: its example made ready for this test, and how it is started. */
const PROXIES = {
  caddy: {
    file: "Caddyfile",
    made: (text, { port, cert, key }) =>
      "{\n\tadmin off\n\tauto_https off\n}\n" +
      text.replace("shop.example {", `https://shop.example:${port} {\n\ttls ${cert} ${key}`),
    parameters: (file) => ["run", "--adapter", "caddyfile", "--config", file],
  },
  nginx: {
    file: "nginx.conf",
    // Its workers keep the user of this test, whose folder it is: only root may choose another.
    made: (text, { folder, port, cert, key }) =>
      `user ${os.userInfo().username};\ndaemon off;\npid ${folder}/nginx.pid;\n` +
      `error_log ${folder}/error.log;\nevents {}\n` +
      `http {\naccess_log off;\n${temporary(folder)}` +
      text
        .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
        .replace("/etc/ssl/shop.example.pem", cert)
        .replace("/etc/ssl/shop.example.key", key) +
      "}\n",
    parameters: (file, folder) => ["-p", folder, "-e", `${folder}/error.log`, "-c", file],
  },
  haproxy: {
    file: "haproxy.cfg",
    made: (text, { folder, port, cert, key }) => {
      const both = path.join(folder, "both.pem");
      fs.writeFileSync(both, fs.readFileSync(cert, "utf8") + fs.readFileSync(key, "utf8"));
      return text
        .replace("bind :443", `bind 127.0.0.1:${port}`)
        .replace("/etc/ssl/shop.example.both.pem", both);
    },
    parameters: (file) => ["-db", "-f", file],
  },
};

for (const [program, proxy] of Object.entries(PROXIES)) {
  test(`${program}: the example keeps who visitors are, and bridges a kill`, ALL, async (t) => {
    const missing = lacks(program) ?? opensslMissing();
    if (missing && process.env.CI) throw new Error(`CI must run this test: ${missing}`);
    if (missing) return t.skip(`SKIPPED: ${missing}`);
    const server = await OwnServer.make(t, { rooms });
    await server.start({ "trusted-proxies": "127.0.0.1,::1" });
    const port = await startProxy(t, program, proxy, server);
    const first = await visit(port);
    assert.equal(first.status, 200);
    assert.match(first.headers["set-cookie"][0], /; Secure/);
    const { headers } = server.origin.arrivals.at(-1);
    assert.deepEqual([headers.host, headers["x-forwarded-proto"]], [HOST, "https"]);
    assert.equal(headers["x-forwarded-for"], "127.0.0.1");
    assert.deepEqual([headers["x-forwarded-host"], headers.forwarded], [HOST, undefined]);
    assert.equal(headers["cf-connecting-ip"], undefined);
    const { length } = server.origin.arrivals;

    const answers = [];
    const killed = server.killWorkerd();
    for (let at = 0; at < REQUESTS; at += 1) {
      answers.push(visit(port).catch(({ code }) => ({ status: code })));
      await sleep(10);
    }
    await killed;
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    assert.deepEqual([...new Set(statuses)], [200]);
    assert.equal(server.origin.arrivals.length, length, "whoever claims to be of the office waits");
    const [cookie] = first.headers["set-cookie"][0].split(";");
    await sendForms(server, port, cookie);
  });
}

test("the units of systemd are valid", ALL, (t) => {
  const missing = lacks("systemd-analyze");
  if (missing && process.env.CI) throw new Error(`CI must run this test: ${missing}`);
  if (missing) return t.skip(`SKIPPED: ${missing}`);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "own-units-"));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const units = ["waiting-room.service", "waiting-room.socket"];
  for (const name of units) {
    const text = fs.readFileSync(path.join(EXAMPLES, name), "utf8");
    // The program must be there.
    const node = "/opt/waiting-room/node_modules/node/bin/node";
    fs.writeFileSync(path.join(folder, name), text.replace(node, process.execPath));
  }
  const verify = ["verify", "--man=no", ...units.map((name) => path.join(folder, name))];
  const { status, stderr } = spawnSync("systemd-analyze", verify, { encoding: "utf8" });
  const own = stderr.split("\n").filter((line) => line.includes("waiting-room"));
  assert.deepEqual(own, []);
  assert.equal(status, 0, stderr);
});

/** A visitor inside sends a large form, and one while workerd is killed: the site gets it once. */
async function sendForms(server, port, cookie) {
  const post = (below, body) => visit(port, below, { method: "POST", cookie, body });
  assert.equal((await post("/upload", Buffer.alloc(UPLOAD_BYTES))).status, 200);
  const orders = () => server.origin.arrivals.filter(({ url }) => url === ORDER).length;
  const answer = post(ORDER, "order=1").catch(({ code }) => ({ status: code }));
  await until(() => orders() > 0, "the order does not arrive");
  await server.killWorkerd();
  const { status } = await answer;
  assert.equal(orders(), 1, "the site gets an order once");
  assert.notEqual(status, 200, "the answer got lost");
}

/** Starts a proxy with its example in front of the server; returns its port once it answers. */
async function startProxy(t, program, { file, made, parameters }, server) {
  const { folder } = server;
  const [port, pair] = [await freePort(), makeCertificate(folder, HOST)];
  const example = fs.readFileSync(path.join(EXAMPLES, file), "utf8");
  const text = made(example, { folder, port, ...pair });
  const configuration = path.join(folder, file);
  fs.writeFileSync(configuration, text.replaceAll("127.0.0.1:8787", `127.0.0.1:${server.port}`));
  const env = { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(program, parameters(configuration, folder), { env });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
  const ended = new Promise((resolve) => child.on("close", resolve));
  t.after(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const end = Date.now() + READY_WITHIN_MS;
  for (;;) {
    if (child.exitCode !== null || Date.now() > end) throw new Error(`${program} failed:\n${said}`);
    const path = "/_waiting-room/health";
    const ready = await visit(port, path).catch(() => undefined);
    if (ready) return port;
    await sleep(50);
  }
}

/** One visit by HTTPS, with all claims; without a cookie, unless there is one in `sent`. */
function visit(port, below = "/", { method = "GET", cookie, body = "" } = {}) {
  return new Promise((resolve, reject) => {
    const purpose = cookie || below === "/" ? "" : "prefetch";
    const headers = { host: HOST, ...CLAIMS, "sec-purpose": purpose, ...(cookie && { cookie }) };
    const where = { host: "127.0.0.1", port, servername: HOST, path: below, method, headers };
    const how = { ...where, rejectUnauthorized: false, agent: false };
    const request = https.request(how, (answer) => {
      answer.resume();
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers }));
      answer.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

function lacks(program) {
  const { status } = spawnSync("sh", ["-c", `command -v ${program}`]);
  return status === 0 ? undefined : `no ${program} (Debian: apt-get install ${program})`;
}

/** Where nginx keeps what it cannot hold in memory, as a user of its own. */
function temporary(folder) {
  return ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};\n`)
    .join("");
}
