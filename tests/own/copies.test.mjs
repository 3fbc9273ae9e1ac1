/** Copies of a folder: what they leave alone, and what is said where a disk takes nothing. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { fileProblem } from "../../scripts/file-problem.mjs";
import { OwnServer } from "../harness/own-server.mjs";
import { builtPreload, preloadMissing } from "../harness/preload.mjs";

const ALL = { timeout: 300_000 };
const KEYS = "bucket-credentials";

test("a restore leaves a cluster the keys of the same bucket", ALL, async (t) => {
  const server = await OwnServer.make(t);
  const { folder } = server;
  const write = (name, text) => fs.writeFileSync(path.join(folder, name), text, { mode: 0o600 });
  const settingsOf = (bucket) => JSON.stringify({ cluster: { bucket } });
  const copyOf = (name) => `${folder}.${name}`;
  t.after(() => removeBeside(folder));
  const run = async (flags) => {
    const child = server.run({ folder, ...flags });
    assert.equal(await child.ended, 0, server.said);
    return server.said;
  };
  write("settings.json", settingsOf("s3://one/shop"));
  write(KEYS, "AWS_ACCESS_KEY_ID=a\n");
  await run({ backup: copyOf("copy") });
  assert.ok(!fs.existsSync(path.join(copyOf("copy"), KEYS)), "no copy has the keys");
  assert.match(await run({ restore: copyOf("copy") }), /The keys of the bucket stay: /);
  const kept = path.join(folder, KEYS);
  assert.equal(fs.readFileSync(kept, "utf8"), "AWS_ACCESS_KEY_ID=a\n");
  assert.equal(fs.statSync(kept).mode & 0o777, 0o600);

  write("settings.json", settingsOf("s3://two/shop"));
  assert.doesNotMatch(await run({ restore: copyOf("copy") }), /keys/);
  assert.ok(!fs.existsSync(kept), "other keys are of another bucket");
});

test("a copy onto a full disk is said in a sentence, and leaves nothing", ALL, async (t) => {
  const missing = preloadMissing("full-disk");
  if (missing && process.env.CI) throw new Error(`CI must run this test: ${missing}`);
  if (missing) return t.skip(`SKIPPED: ${missing}`);
  const server = await OwnServer.make(t);
  const { folder } = server;
  t.after(() => removeBeside(folder));
  await server.start();
  const full = path.join(folder, "full");
  fs.writeFileSync(full, "");
  const preload = { LD_PRELOAD: builtPreload("full-disk"), TEST_FULL_DISK: full };
  const environment = { ...process.env, ...preload };
  const child = server.run({ folder, backup: `${folder}.copy` }, { environment });
  assert.equal(await child.ended, 1, server.said);
  assert.match(server.said, /its disk is full \(ENOSPC\): make room on it/);
  assert.doesNotMatch(server.said, /^ +at /m);
  assert.deepEqual(beside(folder), []);
});

test("a folder that cannot be used is said in a sentence", ALL, async (t) => {
  const server = await OwnServer.make(t);
  const file = path.join(server.folder, "file");
  fs.writeFileSync(file, "");
  const flags = { ...server.first, origin: server.origin.address, folder: path.join(file, "own") };
  for (const more of [{}, { backup: `${file}.copy` }]) {
    const child = server.run({ ...flags, ...more });
    assert.equal(await child.ended, 1, server.said);
    assert.match(server.said, /a part of this path is a file and no folder \(ENOTDIR\): name/);
    assert.doesNotMatch(server.said, /^ +at /m);
  }
});

test("errors of files name the path, the reason and the remedy", () => {
  const [path, dest] = ["/srv/a", "/mnt/b"];
  const check = (error, want) => assert.equal(fileProblem(error), want);
  const elsewhere = "make room on it, or name a path on another disk";
  check({ code: "ENOSPC", path, dest }, `/mnt/b: its disk is full (ENOSPC): ${elsewhere}`);
  const asUser = "run the command as a user who may read and write there";
  const denied = `this user may not use it (EACCES): ${asUser}`;
  check({ code: "EACCES", path }, `/srv/a: ${denied}`);
  check({ code: "EACCES", path, dest }, `/srv/a (to /mnt/b): ${denied}`);
  const readOnly = "its disk can only be read (EROFS): name a path on another disk";
  check({ code: "EROFS", path }, `/srv/a: ${readOnly}`);
  const ofSqlite = { code: "ERR_SQLITE_ERROR", path, dest };
  check({ ...ofSqlite, errcode: 8 | (3 << 8) }, `/mnt/b: ${readOnly}`);
  for (const other of [{ ...ofSqlite, errcode: 26 }, { code: "EACCES" }, new TypeError("a")]) {
    check(other, "");
  }
});

/** What stands beside a folder that begins with its name. */
function beside(folder) {
  const all = fs.readdirSync(path.dirname(folder));
  return all.filter((name) => name.startsWith(`${path.basename(folder)}.`));
}

function removeBeside(folder) {
  for (const name of beside(folder)) {
    fs.rmSync(path.join(path.dirname(folder), name), { recursive: true, force: true });
  }
}
