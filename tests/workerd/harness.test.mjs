/**
 * The tests of the tests: the clock moves, the measures count, and a Worker without a limit does
 * not pass.
 */

import assert from "node:assert/strict";
import http from "node:http";
import path from "node:path";
import { test } from "node:test";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { lineRoom, playLine } from "../harness/line.mjs";
import { mostEnteredInAMinute, mostInside, orderOfEntry } from "../harness/measure.mjs";
import { Rest } from "../harness/rest.mjs";
import { Wake } from "../harness/wake.mjs";
import { workerModules } from "../harness/worker-modules.mjs";

const MINUTE_MS = 60_000;
const entry = path.join(import.meta.dirname, "..", "harness", "admit-everybody.mjs");
const options = { rooms: [lineRoom], entry };

test("visitors inside are counted until their sessions end", () => {
  const check = (story, inside, entered) => {
    assert.equal(mostInside(arrivalsOf(story), MINUTE_MS), inside, story);
    assert.equal(mostEnteredInAMinute(arrivalsOf(story), MINUTE_MS), entered, story);
  };
  check("", 0, 0);
  check("0 a, 0 b", 2, 2);
  // The session of `a` ends in the millisecond in which `b` begins, and one before.
  check("0 a, 60000 b", 1, 1);
  check("0 a, 59999 b", 2, 2);
  // A visitor who returns in time stays inside and does not enter again.
  check("0 a, 59999 a, 60001 b", 2, 1);
  check("0 a, 60000 a, 60001 b", 2, 2);
});

test("visitors enter in the order of their first arrival", () => {
  assert.deepEqual(orderOfEntry(arrivalsOf("3 b, 1 a, 9 a, 4 c")), ["a", "b", "c"]);
});

clusterTest("the clock of workerd moves with the clock of the tests", options, async (cluster) => {
  const before = (await cluster.door()).now;
  await cluster.advance(10 * MINUTE_MS, MINUTE_MS);
  const passed = (await cluster.door()).now - before;
  assert.ok(passed >= 10 * MINUTE_MS && passed < 11 * MINUTE_MS, `${passed} ms passed`);
});

test("wakes go over one connection, which may be closed between them", async (context) => {
  const connections = [];
  const asked = [];
  const server = http.createServer((request, response) => {
    asked.push(request.url);
    const length = { "content-length": 2 };
    // The whole answer may come in two parts.
    response.writeHead(200, length).write("{");
    setImmediate(() => response.end("}"));
  });
  server.on("connection", (socket) => connections.push(socket));
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise((begun) => server.listen(0, "127.0.0.1", begun));
  const wake = new Wake(server.address().port);
  await wake.up();
  await Promise.all([wake.up(), wake.up()]);
  assert.deepEqual([asked.length, connections.length], [3, 1]);
  connections[0].destroy();
  await wake.up();
  assert.deepEqual([asked.length, connections.length], [4, 2]);
  server.on("connection", (socket) => socket.destroy());
  connections[1].destroy();
  await assert.rejects(wake.up(), /workerd closed the connection|ECONNRESET|EPIPE/);
  assert.ok(connections.length <= 4, "it tries oftener than once more");
});

test("a wake that is answered with an error fails with its status", async (context) => {
  const server = http.createServer((_, response) => {
    response.writeHead(500, { "content-length": 1 }).end("x");
  });
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise((begun) => server.listen(0, "127.0.0.1", begun));
  await assert.rejects(new Wake(server.address().port).up(), /answers HTTP\/1\.1 500 /);
});

test("Workers of one kind share all modules but their rooms", () => {
  const of = (rooms, more) => workerModules({ rooms, ...more }).modules;
  const [one, other, debug] = [of([1]), of([2]), of([1], { build: "debug" })];
  const differ = one.filter((module, at) => module.contents !== other[at].contents);
  assert.deepEqual(differ.map((module) => path.basename(module.path)), ["rooms.json"]);
  assert.equal(differ[0].contents, "export default [1];");
  const bytes = (modules) => modules.reduce((sum, { contents }) => sum + contents.length, 0);
  assert.ok(bytes(debug) > bytes(one), "the other build is the same one");
});

const product = { rooms: [lineRoom] };
clusterTest("a killed object begins anew with the next call", product, async (cluster) => {
  const crowd = new Crowd(cluster, { count: 2, host: lineRoom.host });
  await crowd.arrive();
  const incarnations = async () => {
    const { began } = await cluster.door();
    return began[`GlobalAggregator ${lineRoom.id}`];
  };
  assert.equal(await incarnations(), 1);
  await cluster.killObjects("GlobalAggregator");
  await cluster.advance(3_000);
  assert.equal(await incarnations(), 2);
});

const looks = "however many requests come, one look at workerd is under way";
clusterTest(looks, product, async (cluster) => {
  let [underWay, most] = [0, 0];
  const { comes } = Rest.prototype;
  Rest.prototype.comes = async function () {
    underWay += 1;
    most = Math.max(most, underWay);
    await comes.call(this);
    underWay -= 1;
  };
  try {
    const [{ name }] = cluster.isolates;
    for (let at = 0; at < 50; at += 1) await cluster.send(name, { host: lineRoom.host });
  } finally {
    Rest.prototype.comes = comes;
  }
  assert.equal(most, 1);
});

clusterTest("a Worker that admits everybody is noticed by the limit", options, async (cluster) => {
  const crowd = new Crowd(cluster, { count: 50, host: lineRoom.host });
  await crowd.arrive();
  assert.equal(mostInside(await cluster.arrivals(), MINUTE_MS), 50);
  assert.equal(mostEnteredInAMinute(await cluster.arrivals(), MINUTE_MS), 50);
});

clusterTest(
  "a Worker that admits everybody does not pass the story of the line",
  options,
  (cluster) => assert.rejects(playLine(cluster), /too many inside/),
);

/** Arrivals written as text: the millisecond and the visitor of each. */
function arrivalsOf(story) {
  return [...story.matchAll(/(\d+) (\w)/g)].map(([, at, visitor]) => ({ at: Number(at), visitor }));
}
