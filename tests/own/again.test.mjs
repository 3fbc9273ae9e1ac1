/** A served folder: its configuration is shown, it ends well, goes on where it was, and once. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import https from "node:https";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { expireCertificate, makeCertificate, opensslMissing } from "../harness/https.mjs";
import { send } from "../harness/http.mjs";
import { OwnServer, isRunning, until } from "../harness/own-server.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";

/** Each takes less, on a slow machine too. A command that hangs still ends the run. */
const ALL = { timeout: 300_000 };
const missing = opensslMissing();
if (missing && process.env.CI) throw new Error(`CI must run this test: ${missing}`);
const HTTPS = { ...ALL, skip: missing && `SKIPPED: ${missing}` };
/** workerd takes up a new certificate within so much time. */
const FOLLOWS_MS = 60_000;
const HOST = "shop.example";
const SECRETS = ["API_TOKEN", "TICKET_KEYS"];

test("by each signal it ends well, and started again it goes on", ALL, async (t) => {
  const server = await OwnServer.make(t);
  await server.start();
  assert.match(server.said, /These secrets were made: TICKET_KEYS, API_TOKEN\./);
  const visitors = ["one", "two", "three", "four"].map(
    (name) => new Visitor(server, { name, host: HOST }),
  );
  for (const one of visitors) await one.visit();
  const seen = () => visitors.map((one) => one.seen);
  assert.deepEqual(seen(), ["origin", "origin", "queue", "queue"]);
  const { id } = (await server.api("GET", "waiting_rooms")).result[0];
  const renamed = await server.api("PATCH", `waiting_rooms/${id}`, { description: "kept" });
  assert.equal(renamed.status, 200, JSON.stringify(renamed));
  const kept = SECRETS.map((name) => server.json("secrets.json")[name]);

  for (const signal of ["SIGTERM", "SIGINT"]) {
    const pid = server.workerd();
    assert.equal(await server.stop(signal), 0, server.said);
    assert.ok(!isRunning(pid), "workerd has ended");
    await assert.rejects(server.send("own", { host: HOST }), { code: "ECONNREFUSED" });
    await server.start();
    assert.doesNotMatch(server.said, /secrets were made/);
    assert.deepEqual(SECRETS.map((name) => server.json("secrets.json")[name]), kept);
    for (const one of visitors) await one.visit();
    assert.deepEqual(seen(), ["origin", "origin", "queue", "queue"]);
  }
  const [shown] = (await server.api("GET", "waiting_rooms")).result;
  assert.equal(shown.description, "kept");
  const address = `http://localhost:${server.port}`;
  const asked = ["scripts/doctor.mjs", address, "--folder", server.folder, "--json"];
  const doctor = await promisify(execFile)(process.execPath, asked);
  // A loaded machine is slow.
  const isIll = ({ verdict, figure }) => verdict !== "ok" && !/slow/.test(figure);
  assert.deepEqual(JSON.parse(doctor.stdout).lines.filter(isIll), []);
});

test("a folder is served once, and a workerd without its command is ended", ALL, async (t) => {
  const server = await OwnServer.make(t);
  await server.start();
  const { folder } = server;
  const second = server.run({ folder });
  assert.equal(await second.ended, 1);
  assert.match(server.said, /is served already, by process \d+/);

  const left = server.workerd();
  process.kill(server.json("running.json").command, "SIGKILL");
  await server.child.exited;
  assert.ok(isRunning(left));
  await server.start();
  assert.match(server.said, new RegExp(`Ending workerd ${left}`));
  assert.ok(!isRunning(left));
  // And where the command itself is killed, all that it started ends.
  const next = server.workerd();
  server.child.kill("SIGKILL");
  await until(() => !isRunning(next), "workerd goes on without its command");
});

test("the configuration is shown whole, without a secret or a start", ALL, async (t) => {
  const server = await OwnServer.make(t);
  const flags = { folder: server.folder, origin: "https://127.0.0.1:3000", host: HOST };
  const child = server.run({ ...flags, "trusted-proxies": "10.0.0.0/8", "print-config": true });
  assert.equal(await child.ended, 0, server.said);
  assert.match(server.said, /^# Written by .npm run serve./);
  for (const part of [
    'address = "127.0.0.1:3000", https = ',
    'sockets = [(name = "http", address = "127.0.0.1:8787"',
    '(name = "cf-connecting-ip")',
    '(name = "TRUSTED_PROXIES", text = "10.0.0.0/8")',
    'disk = (path = "data", writable = true)',
  ]) {
    assert.ok(server.said.includes(part), part);
  }
  assert.deepEqual(fs.readdirSync(server.folder), []);

  await server.start();
  const written = fs.readFileSync(path.join(server.folder, "workerd.capnp"), "utf8");
  for (const name of SECRETS) {
    assert.ok(written.includes(`(name = "${name}", fromEnvironment = "${name}")`), name);
    assert.ok(!written.includes(server.json("secrets.json")[name]), name);
  }
});

test("a terminal is asked for what is missing", ALL, async (t) => {
  const server = await OwnServer.make(t);
  const flags = { folder: server.folder, origin: "http://127.0.0.1:3000", "print-config": true };
  const asked = server.run(flags, { answer: "Shop.Example" });
  assert.equal(await asked.ended, 0, server.said);
  assert.match(server.said, /By which host do visitors know it\?[^]*ZONES[^]*=shop\.example"/);
  const refused = server.run(flags);
  assert.equal(await refused.ended, 1, server.said);
  assert.match(server.said, /--host/);
});

test("what cannot be used is said, and nothing is written", ALL, async (t) => {
  const server = await OwnServer.make(t);
  const { folder } = server;
  const limits = { limit: "2", "per-minute": "2" };
  const good = { folder, origin: "http://127.0.0.1:3000", host: HOST, ...limits };
  const check = async (flags, want) => {
    const child = server.run({ ...good, ...flags });
    assert.equal(await child.ended, 1, server.said);
    assert.match(server.said, want);
    assert.deepEqual(fs.readdirSync(folder), []);
  };
  await check({ origin: "127.0.0.1:3000" }, /--origin: .* is no address like http/);
  for (const origin of ["http://127.0.0.1:8787", "http://localhost:8787"]) {
    await check({ origin }, /--origin: at \S+:8787 the room itself listens: name the site/);
  }
  await check({ origin: "http://[::1]:90", port: "90", address: "*" }, /the room itself listens/);
  await check({ origin: "http://10.0.0.9:90", port: "90", address: "10.0.0.9" }, /itself listens/);
  await check({ host: "https://shop.example" }, /--host: .* is no host/);
  await check({ "per-minute": "3" }, /--per-minute must be at most --limit/);
  await check({ port: "70000" }, /--port must be at most 65535/);
  await check({ "trusted-proxies": "10.0.0.0/40" }, /--trusted-proxies: "10.0.0.0\/40" is no/);
  await check({ "client-address-header": "x-real-ip" }, /--trusted-proxies must say who/);
  await check({ "tls-cert": "a.pem" }, /--tls-cert and --tls-key belong together/);
});

test("a backup of a served folder is a folder that can be served", ALL, async (t) => {
  const server = await OwnServer.make(t);
  await server.start();
  const { id } = (await server.api("GET", "waiting_rooms")).result[0];
  await server.api("PATCH", `waiting_rooms/${id}`, { description: "before" });
  const inside = new Visitor(server, { name: "one", host: HOST });
  await inside.visit();
  const to = `${server.folder}.copy`;
  t.after(() => fs.rmSync(to, { recursive: true, force: true }));
  const run = async (flags, status) => {
    const child = server.run({ folder: server.folder, ...flags });
    assert.equal(await child.ended, status, server.said);
    return server.said;
  };
  await run({ backup: to }, 0);
  await server.api("PATCH", `waiting_rooms/${id}`, { description: "after" });
  assert.match(await run({ restore: to }, 1), /is being served: end that first/);
  await server.stop();
  const told = await run({ restore: to }, 0);
  const [, aside] = /is in (\S+\.before-\S+)\./.exec(told);
  t.after(() => fs.rmSync(aside, { recursive: true, force: true }));
  assert.equal(modeOf(server.folder), 0o700);
  fs.chmodSync(server.folder, 0o755);
  await server.start();
  assert.equal(modeOf(server.folder), 0o700, "a start shuts the folder to others");
  const [shown] = (await server.api("GET", "waiting_rooms")).result;
  assert.equal(shown.description, "before");
  await inside.visit();
  assert.ok(inside.inside, "the keys are the same");
});

test("what an owner may want otherwise is said, and holds nothing up", ALL, async (t) => {
  const open = { id: "1".repeat(32), action: "bypass_waiting_room", expression: "not ssl" };
  const server = await OwnServer.make(t, { rooms: [room({ name: "shop", bypass_rules: [open] })] });
  server.origin.server.close();
  await server.start();
  assert.match(server.said, /Beware: shop\.example\/ answers 502, and not the room/);
  assert.match(server.said, /Beware: the site \S+ does not answer \(.*ECONNREFUSED/);
  const { id } = (await server.api("GET", "waiting_rooms")).result[0];
  assert.equal((await server.api("DELETE", `waiting_rooms/${id}`)).status, 200);
  await server.stop();
  await server.start();
  assert.match(server.said, /Beware: no room covers shop\.example: everybody passes/);
});

test("a site that leads back to the room is warned of", ALL, async (t) => {
  const server = await OwnServer.make(t);
  const { server: site } = server.origin;
  site.removeAllListeners("request").on("request", async ({ headers, url }, response) => {
    const { status, ...answer } = await send({ port: server.port, path: url, headers });
    response.writeHead(status, answer.headers).end(answer.body);
  });
  await server.start();
  assert.match(server.said, /Beware: the site \S+ answers as a waiting room does/);
});

test("limits that do not count, since the API has changed the room, are said", ALL, async (t) => {
  const server = await OwnServer.make(t);
  await server.start();
  await server.stop();
  await server.start({ limit: "4", "per-minute": "3" });
  assert.doesNotMatch(server.said, /Beware/);
  const [{ id }] = (await server.api("GET", "waiting_rooms")).result;
  const changed = await server.api("PATCH", `waiting_rooms/${id}`, { total_active_users: 200 });
  assert.equal(changed.status, 200, JSON.stringify(changed));
  await server.stop();
  await server.start({ limit: "50", "per-minute": "3" });
  const why = "the cockpit or the API has changed the room since, and 200 counts";
  const said = `Beware: --limit 50 does not count: ${why}. Change it there.`;
  assert.ok(server.said.includes(said), server.said);
  assert.doesNotMatch(server.said, /--per-minute 3 does not/);
  const [{ total_active_users: counts }] = (await server.api("GET", "waiting_rooms")).result;
  assert.equal(counts, 200);
  // Who gives none is told nothing.
  await server.stop();
  await server.start();
  assert.doesNotMatch(server.said, /does not count/);
});

test("HTTPS of its own, with a new certificate at SIGHUP", HTTPS, async (t) => {
  const server = await OwnServer.make(t);
  const folder = certificateFolder(t);
  const names = `${HOST},DNS:localhost`;
  const { key, cert } = makeCertificate(folder, names);
  const flags = { "tls-cert": cert, "tls-key": key, address: "127.0.0.1" };
  // The command itself looks at the certificate as a browser does.
  await server.start(flags, { NODE_EXTRA_CA_CERTS: cert });
  const first = await secure(server.port);
  assert.match(first.cookie, /; Secure/);

  makeCertificate(folder, names);
  const pid = server.workerd();
  server.child.kill("SIGHUP");
  let [last, broken] = [first, 0];
  const end = Date.now() + FOLLOWS_MS;
  while (last.certificate === first.certificate) {
    assert.ok(Date.now() < end, "the old certificate stays");
    last = await secure(server.port).catch(() => {
      broken += 1;
      return last;
    });
  }
  assert.notEqual(server.workerd(), pid);
  // workerd closes a connection that has sent nothing yet: here there is one at a time.
  assert.ok(broken <= 1, `${broken} broken connections`);
});

test("a certificate without its key is refused, and used by no SIGHUP", HTTPS, async (t) => {
  const server = await OwnServer.make(t);
  const [folder, otherFolder] = [certificateFolder(t), certificateFolder(t)];
  const names = `${HOST},DNS:localhost`;
  const { key, cert } = makeCertificate(folder, names);
  const other = makeCertificate(otherFolder, names);
  const flags = { "tls-cert": cert, "tls-key": key, address: "127.0.0.1" };
  const needed = { ...server.first, folder: server.folder, origin: server.origin.address };
  const refused = async (more, want) => {
    const child = server.run({ ...needed, ...more });
    assert.equal(await child.ended, 1, server.said);
    assert.match(server.said, want);
  };
  const noPair = /--tls-cert and --tls-key: .* do not belong together: name a chain/;
  await refused({ ...flags, "tls-key": other.key }, noPair);
  await refused({ ...flags, "tls-cert": key }, /key\.pem is no certificate chain in PEM/);
  await refused({ ...flags, "tls-key": cert }, /cert\.pem is no private key in PEM/);
  await refused({ ...flags, "tls-key": `${key}.gone` }, /gone cannot be read \(ENOENT\)/);
  assert.deepEqual(fs.readdirSync(server.folder), []);

  await server.start(flags, { NODE_EXTRA_CA_CERTS: cert });
  const [first, pid] = [await secure(server.port), server.workerd()];
  fs.copyFileSync(other.cert, cert);
  server.child.kill("SIGHUP");
  await until(() => server.said.includes("the old one stays in use"), "nothing is said");
  assert.match(server.said, /the certificate and the key do not belong together: the old one/);
  // It would be replaced within that time.
  await sleep(2_000);
  assert.equal(server.workerd(), pid);
  assert.equal((await secure(server.port)).certificate, first.certificate);
  await server.stop();
  await refused({}, noPair);
});

test("an expired certificate is warned of, and served", HTTPS, async (t) => {
  const server = await OwnServer.make(t);
  const pair = makeCertificate(certificateFolder(t), `${HOST},DNS:localhost`);
  expireCertificate(pair);
  await server.start({ "tls-cert": pair.cert, "tls-key": pair.key, address: "127.0.0.1" });
  assert.match(server.said, /Beware: the certificate \S+ has expired \(.*\): browsers refuse it/);
  const pid = server.workerd();
  server.child.kill("SIGHUP");
  await until(() => server.workerd() !== pid, "the old one stays");
  assert.equal(server.said.match(/has expired/g).length, 2, server.said);
});

function modeOf(file) {
  return fs.statSync(file).mode & 0o777;
}

/** A folder for a certificate and its key. */
function certificateFolder(context) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "own-certificate-"));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

/** One visit by HTTPS: the cookie that it brings, and the certificate that it saw. */
function secure(port) {
  return new Promise((resolve, reject) => {
    const where = { host: "127.0.0.1", port, servername: HOST, headers: { host: HOST } };
    const request = https.get({ ...where, rejectUnauthorized: false, agent: false }, (answer) => {
      const { fingerprint: certificate } = answer.socket.getPeerCertificate();
      const [cookie] = answer.headers["set-cookie"];
      answer.resume();
      answer.on("end", () => resolve({ cookie, certificate }));
    });
    request.on("error", reject);
  });
}
