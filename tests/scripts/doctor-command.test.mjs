/**
 * `npm run doctor` where there is nobody to examine: one sentence with what to do, and no token in
 * the clear.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import http from "node:http";
import path from "node:path";
import { test } from "node:test";

import { freePort } from "../harness/free-port.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const DEPLOYED = "https://room-admin.shop.example";
const HEALTHY = { status: 200, body: { status: "ok" } };
const refused = (status, code) => ({
  status,
  body: { success: false, errors: [{ code, message: "no" }], messages: [], result: null },
});

test("nothing runs on this machine", async () => {
  const port = await freePort();
  await check([], "start it with `npm start`", { PORT: String(port) });
});

test("the token goes to nobody in the clear", async () => {
  await check(["http://room-admin.shop.example"], "must not travel in the clear");
});

test("what is no address, plan or number is told", async () => {
  await check(["https://"], "is no address like");
  await check([DEPLOYED, DEPLOYED], "too many words for npm run doctor -- [https://<admin host>]");
  await check([DEPLOYED, "--plan", "gold"], '--plan must be one of free, paid, but is "gold"');
  await check([DEPLOYED, "--requests", "0"], "--requests must be a whole number from 1");
  await check([DEPLOYED, "--verbose"], "All flags: npm run doctor -- --help");
});

test("without a network", async () => {
  const port = await freePort();
  const nowhere = ["--live-address", `http://127.0.0.1:${port}`];
  await check([DEPLOYED, ...nowhere], "cannot be reached (room-admin.shop.example: ECONNREFUSED)");
});

answered("a site that is no waiting room", [{ status: 200, body: {} }], "not as a waiting room");
answered("a Worker without a token at hand", [HEALTHY], "set the variable API_TOKEN", "");
answered("a wrong token", [HEALTHY, refused(403, 10_000)], "not that of this Worker");
answered("too many wrong tokens", [HEALTHY, refused(429, 10_429)], "the token is wrong");
answered("a Worker that is older", [HEALTHY, refused(404, 7_003)], "older than the doctor");
answered("a Worker that fails", [HEALTHY, refused(503, 1_000)], "answered 503: no");

/** Checks the sentence where a Worker gives these answers, the last again and again. */
function answered(name, answers, sentence, token = "a-token") {
  test(name, async (context) => {
    const left = [...answers];
    const server = http.createServer((_, response) => {
      const { status, body } = left.length > 1 ? left.shift() : left[0];
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    });
    context.after(() => server.close());
    await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
    const live = `http://127.0.0.1:${server.address().port}`;
    await check([DEPLOYED, "--live-address", live], sentence, { API_TOKEN: token });
  });
}

/** The doctor ends with 1 and one sentence, which holds this part. */
async function check(parameters, part, vars = {}) {
  const { API_TOKEN: _, ...rest } = process.env;
  const env = { ...rest, ...(vars.API_TOKEN === "" ? {} : vars) };
  const file = path.join(ROOT, "scripts", "doctor.mjs");
  const child = spawn(process.execPath, [file, ...parameters], { cwd: ROOT, env });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => (said += chunk));
  }
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.equal(code, 1, said);
  assert.ok(said.includes(part), said);
  assert.equal(said.trim().split("\n").length, 1, said);
}
