/**
 * A cluster: several processes of workerd that count together, by a bucket. One is killed, one is
 * told to end, under visitors; strangers and open files are refused. The long stories are in
 * `tests/stories/own/cluster.test.mjs`.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { Bucket, bucketMissing } from "../harness/bucket.mjs";
import { OwnCrowd, mostInAMinute, mostInside } from "../harness/own-crowd.mjs";
import { OwnServer, until } from "../harness/own-server.mjs";
import { FREQUENT_CHECK_INS, room } from "../harness/rooms.mjs";
import { send } from "../harness/http.mjs";
import { Visitor } from "../harness/visitor.mjs";

const run = promisify(execFile);
const HOST = "shop.example";
const missing = await bucketMissing();
if (missing && process.env.CI) throw new Error(`CI must run this test: ${missing}`);
const ALL = { timeout: 300_000, skip: missing && `SKIPPED: ${missing}` };
/** On a slow machine. What goes on for longer than a lease of workerd, goes on for ever. */
const [REPLACED_WITHIN_MS, ENTERS_WITHIN_MS] = [120_000, 60_000];
const LIMIT = 20;
const shop = room({ name: "shop", total_active_users: LIMIT, ...FREQUENT_CHECK_INS });

test("instances count together, and strangers at their ports get nothing", ALL, async (t) => {
  const bucket = await Bucket.start(t);
  const server = await OwnServer.make(t);
  await server.start({ ...bucket.flags, instances: "2" }, bucket.credentials);
  assert.equal(server.workerds().length, 2);
  const visitors = ["one", "two", "three", "four"].map(
    (name) => new Visitor(server, { name, host: HOST }),
  );
  for (const one of visitors) await one.visit();
  assert.deepEqual(visitors.map(({ seen }) => seen), ["origin", "origin", "queue", "queue"]);

  const written = fs.readFileSync(path.join(server.folder, "workerd.capnp"), "utf8");
  for (const [name, secret] of Object.entries(server.json("secrets.json"))) {
    assert.ok(!written.includes(secret), name);
    assert.ok(!server.said.includes(secret), name);
  }
  assert.equal(fs.statSync(path.join(server.folder, "cluster.key")).mode & 0o777, 0o600);
  const before = server.origin.arrivals.length;
  for (const port of peerPorts(server)) {
    assert.equal((await send({ port, host: "localhost", path: "/ready" })).status, 200);
    for (const method of ["GET", "POST"]) {
      const { status } = await send({ port, host: HOST, method });
      assert.ok(status >= 400, `${method} at a peer's port answers ${status}`);
    }
  }
  assert.equal(server.origin.arrivals.length, before);
  const asked = [`http://localhost:${server.port}`, "--folder", server.folder, "--json"];
  const doctor = await run(process.execPath, ["scripts/doctor.mjs", ...asked]);
  const line = JSON.parse(doctor.stdout).lines.find(({ what }) => what.startsWith("Instances"));
  assert.deepEqual([line.verdict, line.figure], ["ok", "2 of 2 here, s3://rooms/shop"]);
});

test("one is killed and one ends: limits hold, and nobody inside notices", ALL, async (t) => {
  const bucket = await Bucket.start(t);
  const server = await OwnServer.make(t, { rooms: [shop] });
  await server.start({ ...bucket.flags, instances: "3" }, bucket.credentials);
  const arriveMs = (at) => at * 250;
  const crowd = new OwnCrowd([server], shop, { count: 80, arriveMs, browsers: 5 });
  const plot = async () => {
    await sleep(8_000);
    const before = server.workerds();
    process.kill(before[0], "SIGKILL");
    process.kill(before[1], "SIGTERM");
    await sleep(40_000);
    const isSame = () => server.workerds().map((pid, at) => pid === before[at]);
    await until(() => !isSame()[0] && !isSame()[1], "one does not come back");
    assert.deepEqual(isSame(), [false, false, true], server.said);
  };
  await crowd.play(plot());
  const visits = crowd.visits();
  const told = JSON.stringify(crowd.told);
  t.diagnostic(`${visits.length} entered; ${told} ${[...crowd.problems].join("; ")}`);
  assert.ok(visits.length >= LIMIT / 2, `only ${visits.length} entered`);
  assert.ok(mostInside(visits) <= LIMIT, `${mostInside(visits)} inside`);
  assert.ok(mostInAMinute(visits) <= LIMIT, `${mostInAMinute(visits)} entered in 60 s`);
  assert.equal(crowd.told.thrownOut, 0, told);
  assert.equal(crowd.told.pages, 0, told);
});

test("SIGHUP replaces instances in turn under visitors, and the next enters", ALL, async (t) => {
  const bucket = await Bucket.start(t);
  const large = room({ name: "shop", total_active_users: 1_000, ...FREQUENT_CHECK_INS });
  const server = await OwnServer.make(t, { rooms: [large] });
  await server.start({ ...bucket.flags, instances: "2" }, bucket.credentials);
  const come = async (name) => {
    const one = new Visitor(server, { name, host: HOST });
    await one.visit();
    return one;
  };
  // workerd does not tell an object its name where a call from another process has begun it.
  const before = server.workerds();
  server.child.kill("SIGHUP");
  let end = Date.now() + REPLACED_WITHIN_MS;
  const isLeft = () => server.workerds().some((pid, at) => pid === before[at]);
  for (let count = 0; isLeft() && Date.now() < end; count += 1) {
    await come(`visitor ${count}`);
    await sleep(50);
  }
  assert.ok(!isLeft(), server.said);
  const last = await come("last");
  end = Date.now() + ENTERS_WITHIN_MS;
  while (!last.inside && Date.now() < end) {
    await sleep(1_000);
    await last.visit();
  }
  assert.ok(last.inside, server.said);
});

test("what a cluster cannot be made of is said, and nothing is written", ALL, async (t) => {
  const server = await OwnServer.make(t);
  const { folder } = server;
  const cluster = "s3://bucket/shop";
  const limits = { limit: "2", "per-minute": "2" };
  const good = { folder, origin: "http://127.0.0.1:3000", host: HOST, ...limits };
  const keys = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
  const check = async (flags, want, variables = keys) => {
    const none = { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", AWS_CREDENTIALS_FILE: "" };
    const environment = { ...process.env, ...none, ...variables };
    const child = server.run({ ...good, ...flags }, { environment });
    assert.equal(await child.ended, 1, server.said);
    assert.match(server.said, want);
    assert.ok(!fs.existsSync(path.join(folder, "settings.json")));
  };
  await check({ cluster: "bucket" }, /--cluster: "bucket" is no bucket like s3:/);
  await check({ cluster, instances: "65" }, /--instances must be at most 64/);
  await check({ instances: "2" }, /--instances is for a cluster/);
  await check({ cluster, "cluster-endpoint": "store" }, /--cluster-endpoint: "store" is no/);
  await check({ cluster, "cluster-endpoint": "http://a:b@store" }, /is no address of a store/);
  await check({ cluster, "cluster-address": "10.0.0.1:80" }, /--cluster-address: .* is no address/);
  await check({ cluster }, /the keys of the bucket are missing/, {});
  const file = path.join(folder, "bucket-credentials");
  fs.writeFileSync(file, "AWS_ACCESS_KEY_ID=a\n", { mode: 0o644 });
  await check({ cluster }, /bucket-credentials can be read by others: chmod 600/);
  fs.rmSync(file);
  fs.mkdirSync(path.join(folder, "data", "waiting-room-Registry"), { recursive: true });
  await check({ cluster }, /holds what one process has stored, .*rooms:export.*rooms:import/);
});

/** The ports at which the instances of a served folder listen for each other. */
function peerPorts(server) {
  const own = new Set(server.workerds().flatMap(socketsOf));
  const lines = fs.readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
  const ports = lines.flatMap((line) => {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    const port = Number.parseInt(local.split(":")[1], 16);
    return state === "0A" && own.has(inode) && port !== server.port ? [port] : [];
  });
  assert.equal(ports.length, server.workerds().length);
  return ports;
}

function socketsOf(pid) {
  const folder = `/proc/${pid}/fd`;
  const links = fs.readdirSync(folder).map((name) => fs.readlinkSync(path.join(folder, name)));
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
}
