/**
 * 1,000 rooms with pages, events, rules, lists, webhooks and settings of zones go through
 * `npm run rooms:export` into a file, through `rooms:import` into an empty installation, and come
 * out of that one as the same bytes. And a part that is refused changes nothing.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { ROOMS, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { startCluster } from "../harness/cluster.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { ZONE } from "../harness/rooms.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const COUNT = 1_000;
/** Over the 4 MiB of a request, as an owner's export was that could not be imported. */
const FILE_BYTES_MIN = 5_000_000;
const MOMENT = "2026-11-20T10:00:00.000Z";
const options = { rooms: [], colos: { AMS: 1 }, stopped: false };
const stamps = { created_on: MOMENT, modified_on: MOMENT };

const id = (kind, at) => `${kind}${at.toString(16).padStart(31, "0")}`;

/** A webhook as an export has it: without its secrets. */
function webhook(at) {
  return { id: id("d", at), url: "https://hooks.example/...", ...stamps };
}

/** A room as an export has it, with one of everything. */
function fullRoom(at) {
  const page = `<!doctype html><title>Room ${at}</title><p>${"wait ".repeat(800)}{{waitTime}}`;
  return {
    id: id("a", at),
    zone_id: ZONE,
    name: `room-${at}`,
    host: `r${at}.example`,
    total_active_users: 100,
    new_users_per_minute: 50,
    custom_page_html: page,
    ...stamps,
    events: [
      {
        id: id("b", at),
        name: "sale",
        event_start_time: "2030-12-01T18:00:00Z",
        event_end_time: "2030-12-01T20:00:00Z",
        ...stamps,
      },
    ],
    bypass_rules: [
      {
        id: id("c", at),
        action: "bypass_waiting_room",
        expression: "ip.src in $office",
        last_updated: MOMENT,
      },
    ],
    ...(at % 100 === 0 && { webhooks: [webhook(at)] }),
  };
}

const given = {
  format: 1,
  lists: [
    {
      id: id("e", 0),
      name: "office",
      kind: "ip",
      ...stamps,
      items: [{ id: id("f", 0), ip: "203.0.113.0/24", ...stamps }],
    },
  ],
  zones: [{ zone_id: ZONE, search_engine_crawler_bypass: true, always_use_https: true }],
  rooms: Array.from({ length: COUNT }, (_, at) => fullRoom(at)),
};

/** Runs the command against a cluster; its tests must not stand still meanwhile. */
function command(cluster, direction, file) {
  const url = cluster.address("ams-1", { host: "127.0.0.1", path: "/" });
  const script = path.join(ROOT, "scripts", "rooms.mjs");
  const env = { ...process.env, API_TOKEN: SECRETS.API_TOKEN };
  const child = spawn(process.execPath, [script, direction, file, "--url", url], { env });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
  return new Promise((resolve) => child.on("close", (status) => resolve({ status, said })));
}

clusterTest(`${COUNT} rooms go out and come in as the same bytes`, options, async (cluster) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "whole-file-"));
  const file = (name) => path.join(folder, `${name}.json`);
  const read = (name) => fs.readFileSync(file(name), "utf8");
  const empty = await startCluster(options);
  try {
    fs.writeFileSync(file("given"), JSON.stringify(given));
    const filled = await command(cluster, "import", file("given"));
    assert.equal(filled.status, 0, filled.said);
    assert.match(filled.said, /^part 2 of \d is in force$/m);
    const whole = /^1000 rooms, 1 list and the settings of 1 zone of .*; 1012 of them/m;
    assert.match(filled.said, whole);
    const told = /^webhook d0+ of room "room-0": .*whsec_.*; it sends nothing until you set url$/m;
    assert.match(filled.said, told);

    const written = await command(cluster, "export", file("first"));
    assert.equal(written.status, 0, written.said);
    assert.match(written.said, /^No secret of a webhook is in it/m);
    assert.ok(read("first").length > FILE_BYTES_MIN, `${read("first").length} bytes`);
    assert.ok(!read("first").includes("whsec_"));
    const seed = await command(cluster, "export", file("rooms"));
    assert.deepEqual([seed.status, fs.existsSync(file("rooms"))], [1, false], seed.said);
    assert.match(seed.said, /^rooms\.json can hold rooms with events and rules alone/m);

    assert.equal((await command(empty, "import", file("first"))).status, 0);
    assert.equal((await command(empty, "export", file("second"))).status, 0);
    assert.ok(read("second") === read("first"), "the second export has other bytes");
    assert.match((await command(empty, "import", file("first"))).said, /; 0 of them changed$/m);
  } finally {
    await empty.stop();
    fs.rmSync(folder, { recursive: true });
  }
});

clusterTest("a refused part changes nothing, and can be run again", options, async (cluster) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "whole-file-"));
  const file = path.join(folder, "everything.json");
  const write = (rooms) => fs.writeFileSync(file, JSON.stringify({ ...given, rooms }));
  const long = (at) => ({ ...fullRoom(at), custom_page_html: "x".repeat(600_000) });
  const count = async () => (await call(cluster, "GET", ROOMS)).result.length;
  try {
    const rooms = [long(0), long(1), long(2), { ...long(3), total_active_users: 0 }];
    write(rooms);
    const refused = await command(cluster, "import", file);
    assert.equal(refused.status, 1);
    const parts = /^part 4 of 4 refused \(400\), nothing of it was changed; what came before it/m;
    assert.match(refused.said, parts);
    assert.match(refused.said, /^ {2}room "room-3", total_active_users: must be /m);
    assert.equal(await count(), 3);
    write([...rooms.slice(0, 3), long(3)]);
    assert.match((await command(cluster, "import", file)).said, /; 2 of them changed$/m);
    assert.equal(await count(), 4);
    fs.writeFileSync(file, "[");
    assert.match((await command(cluster, "import", file)).said, /is not JSON/);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});
