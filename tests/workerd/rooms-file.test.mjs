/**
 * `npm run rooms:import` and `rooms:export` against a running Worker: what was written is read back
 * the same, and a file that is wrong changes nothing and says where. And what the log says of a
 * rooms.json that counts no more.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { ROOMS, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { room } from "../harness/rooms.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const shop = room({ name: "shop" });
const options = { rooms: [shop, room({ name: "bar" })], colos: { AMS: 1 } };

// The clock goes on: the answer to a wrong token waits, and the command is none of the cluster's.
const running = { ...options, stopped: false };
clusterTest("rooms go into a file and come back from it", running, async (cluster) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "rooms-"));
  const file = path.join(folder, "rooms.json");
  const url = cluster.address("ams-1", { host: "127.0.0.1", path: "/" });
  const run = (direction, token = SECRETS.API_TOKEN) => {
    const script = path.join(ROOT, "scripts", "rooms.mjs");
    const { API_TOKEN: _, ...others } = process.env;
    const env = token ? { ...others, API_TOKEN: token } : others;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [script, direction, file, "--url", url, "--folder", folder],
      { encoding: "utf8", env },
    );
    return { status, said: stdout + stderr };
  };
  try {
    const said = `asks ${new URL(url).origin}\n2 rooms written to ${file}\n`;
    assert.deepEqual(run("export"), { status: 0, said });
    const rooms = JSON.parse(fs.readFileSync(file, "utf8"));
    const change = (fields) => {
      const changed = rooms.map((one) => (one.id === shop.id ? { ...one, ...fields } : one));
      fs.writeFileSync(file, JSON.stringify(changed));
    };
    change({ total_active_users: 9 });
    assert.match(run("import").said, /^2 rooms of .* are in force; 1 of them changed$/m);
    assert.match(run("import").said, /; 0 of them changed$/m);

    const now = async () => (await call(cluster, "GET", `${ROOMS}/${shop.id}`)).result;
    assert.equal((await now()).total_active_users, 9);
    change({ total_active_users: 0, name: "Shop\n" });
    const refused = run("import");
    assert.equal(refused.status, 1);
    assert.match(refused.said, /^refused \(400\), nothing was changed:$/m);
    assert.match(refused.said, /^ {2}room "Shop\\n", total_active_users: must be /m);
    assert.match(refused.said, /^ {2}room "Shop\\n", name: /m);
    assert.equal((await now()).total_active_users, 9);
    assert.match(run("export", "guessed").said, /^refused \(403\)/m);

    // As `npm run deploy` keeps them: of this host, and then of another one.
    const keep = (name, what) => fs.writeFileSync(path.join(folder, name), JSON.stringify(what));
    keep("secrets.json", { API_TOKEN: SECRETS.API_TOKEN });
    keep("settings.json", { adminHost: "127.0.0.1" });
    assert.equal(run("export", null).status, 0, "the token of the deployment was not found");
    keep("settings.json", { adminHost: "room-admin.shop.example" });
    assert.equal(run("export", null).status, 1, "a token went to another host than its own");
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

clusterTest("a rooms.json edited after the API took over is told", options, async (cluster) => {
  const said = (wanted) => cluster.log.countOnceThere("rooms.json counts no more", wanted);
  const edited = { ...shop, total_active_users: 7 };
  await call(cluster, "GET", ROOMS);
  await cluster.restart({ rooms: [edited, options.rooms[1]] });
  const path = `${ROOMS}/${shop.id}`;
  assert.equal((await call(cluster, "GET", path)).result.total_active_users, 7, "it counts");
  assert.equal(await said(0), 0);

  await call(cluster, "PATCH", path, { total_active_users: 9, new_users_per_minute: 9 });
  await cluster.restart();
  assert.equal((await call(cluster, "GET", path)).result.total_active_users, 9, "not any more");
  assert.equal(await said(1), 1);
});
