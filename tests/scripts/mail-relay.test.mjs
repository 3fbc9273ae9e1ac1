/** The relay of `examples/alerts-by-email`: a genuine message becomes an e-mail, and no other. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { headersOf } from "../../webhooks/body.js";
import { ROOT } from "../harness/worker-modules.mjs";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const RELAY = path.join(ROOT, "examples", "alerts-by-email", "relay.mjs");

test("a genuine message becomes one e-mail, and nothing else does", async (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "mail-relay-"));
  const [mails, sendmail] = ["mails", "sendmail"].map((name) => path.join(folder, name));
  const script = `#!/bin/sh\ncat >> ${mails}\necho "-- $*" >> ${mails}\n`;
  fs.writeFileSync(sendmail, script, { mode: 0o755 });
  const settings = { SECRET, TO: "ops@shop.example", PORT: "0", SENDMAIL: sendmail };
  const relay = spawn(process.execPath, [RELAY], { env: { ...process.env, ...settings } });
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
  const other = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
  assert.equal(await send("msg_0", { secret: other }), 400, "signed by others");
  assert.equal(await send("msg_0", { at: Date.now() - 400_000 }), 400, "old");
  assert.equal(await send("msg_0", { cut: 1 }), 400, "changed");
  assert.equal((await fetch(address)).status, 400, "no message");
  assert.equal(await send("msg_1", { name: "shop\r\nBcc: all@shop.example" }), 204);
  assert.equal(await send("msg_1"), 204, "the same once more");
  for (let left = 200; left > 0 && !fs.existsSync(mails); left -= 1) await sleep(25);
  assert.equal(await send("msg_2"), 204, "it waits for the next e-mail");
  await sleep(100);
  const [head, body, ...rest] = fs.readFileSync(mails, "utf8").split("\n\n");
  assert.deepEqual(rest, []);
  assert.match(head, /^From: ops@shop\.example\nTo: ops@shop\.example\nSubject: =\?utf-8\?B\?/);
  assert.ok(!/^Bcc/m.test(head), head);
  const [lines, call] = body.split("\n-- ");
  assert.equal(Buffer.from(lines, "base64").toString(), "now\nIt is held.");
  assert.equal(call.trim(), "-i -t");
});
