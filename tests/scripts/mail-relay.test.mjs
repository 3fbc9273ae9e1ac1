/**
 * The relay of `examples/alerts-by-email`: a genuine message becomes an e-mail, and no other, also
 * after `sendmail` has failed or somebody has broken off a request.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { headersOf } from "../../webhooks/body.js";
import { ROOT } from "../harness/worker-modules.mjs";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const RELAY = path.join(ROOT, "examples", "alerts-by-email", "relay.mjs");

/** Makes the relay wait for no pause between two e-mails. */
const AT_ONCE = `data:text/javascript,${encodeURIComponent(
  "const wait = setTimeout; globalThis.setTimeout = (work) => wait(work, 0);",
)}`;

/** Moves the relay's clock on by three hours at each signal. */
const HOURS_MS = 3 * 3_600_000;
const CLOCK = `data:text/javascript,${encodeURIComponent(
  `const now = Date.now;
  let more = 0;
  Date.now = () => now() + more;
  process.on("SIGUSR2", () => (more += ${HOURS_MS}));`,
)}`;

/** Starts a relay whose `sendmail` is this script, and writes into the file `mails`. */
async function startRelay(context, script, args = []) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "mail-relay-"));
  const [mails, sendmail] = ["mails", "sendmail"].map((name) => path.join(folder, name));
  fs.writeFileSync(sendmail, `#!/bin/sh\ncd ${folder}\n${script}\n`, { mode: 0o755 });
  const settings = { SECRET, TO: "ops@shop.example", PORT: "0", SENDMAIL: sendmail };
  const env = { ...process.env, ...settings };
  const relay = spawn(process.execPath, [...args, RELAY], { env });
  context.after(() => {
    relay.kill();
    fs.rmSync(folder, { recursive: true });
  });
  const [told] = await relay.stdout.setEncoding("utf8").take(1).toArray();
  const [address] = /http:\S+/.exec(told);
  const send = async (id, { name = "shop", secret = SECRET, at = Date.now(), cut = 0 } = {}) => {
    const said = { type: "hold_started", timestamp: "now", summary: "It is held." };
    const body = JSON.stringify({ ...said, data: { room_name: name } });
    const headers = await headersOf(id, body, secret, at);
    const answer = await fetch(address, { method: "POST", headers, body: body.slice(cut) });
    return answer.status;
  };
  const written = async () => {
    for (let left = 200; left > 0 && !fs.existsSync(mails); left -= 1) await sleep(25);
    return fs.readFileSync(mails, "utf8").split("\n\n");
  };
  return { relay, address, send, written };
}

/** Writes an e-mail and its call; the first one appears whole. */
const WRITES = `cat > mail
echo "-- $*" >> mail
if [ -e mails ]; then cat mail >> mails; else mv mail mails; fi`;

test("a genuine message becomes one e-mail, and nothing else does", async (context) => {
  const { address, send, written } = await startRelay(context, WRITES);
  const other = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
  assert.equal(await send("msg_0", { secret: other }), 400, "signed by others");
  assert.equal(await send("msg_0", { at: Date.now() - 400_000 }), 400, "old");
  assert.equal(await send("msg_0", { cut: 1 }), 400, "changed");
  assert.equal((await fetch(address)).status, 400, "no message");
  assert.equal(await send("msg_1", { name: "shop\r\nBcc: all@shop.example" }), 204);
  assert.equal(await send("msg_1"), 204, "the same once more");
  await written();
  assert.equal(await send("msg_2"), 204, "it waits for the next e-mail");
  await sleep(100);
  const [head, body, ...rest] = await written();
  assert.deepEqual(rest, []);
  assert.match(head, /^From: ops@shop\.example\nTo: ops@shop\.example\nSubject: =\?utf-8\?B\?/);
  assert.ok(!/^Bcc/m.test(head), head);
  const [lines, call] = body.split("\n-- ");
  assert.equal(Buffer.from(lines, "base64").toString(), "now\nIt is held.");
  assert.equal(call.trim(), "-i -t");
});

test("a message that comes once more hours later is the same", async (context) => {
  const args = ["--import", AT_ONCE, "--import", CLOCK];
  const { relay, send, written } = await startRelay(context, WRITES, args);
  const mails = async () => (await written()).join("").split("-- ").length - 1;
  const come = async (want) => {
    for (let left = 200; left > 0 && (await mails()) < want; left -= 1) await sleep(25);
    assert.equal(await mails(), want);
  };
  assert.equal(await send("msg_1"), 204);
  await come(1);
  const at = Date.now() + HOURS_MS;
  relay.kill("SIGUSR2");
  const isTaken = async () => (await send("msg_2", { at })) === 204;
  for (let left = 200; left > 0 && !(await isTaken()); left -= 1) await sleep(25);
  await come(2);
  assert.equal(await send("msg_1", { at }), 204);
  await sleep(200);
  await come(2);
});

test("what sendmail did not take goes into the next e-mail", async (context) => {
  const fails = "[ -e tried ] || { touch tried; exit 75; }";
  const { send, written } = await startRelay(context, `${fails}\n${WRITES}`, ["--import", AT_ONCE]);
  assert.equal(await send("msg_1"), 204);
  const [, body] = await written();
  const [lines] = body.split("\n-- ");
  assert.equal(Buffer.from(lines, "base64").toString(), "now\nIt is held.");
});

test("a request that breaks off does not end the relay", async (context) => {
  const { relay, address, send } = await startRelay(context, WRITES);
  const socket = net.connect(new URL(address).port, "127.0.0.1");
  await once(socket, "connect");
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");
  // It has begun to read.
  await once(socket, "data");
  socket.destroy();
  assert.equal(await send("msg_1"), 204);
  assert.equal(relay.exitCode, null);
});
