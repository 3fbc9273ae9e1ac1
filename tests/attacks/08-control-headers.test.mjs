/**
 * Threat 8, control headers: what a visitor sends of them reaches no origin, what an origin sends
 * reaches no visitor, and only what a browser's preflight looks like passes as one.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { send } from "../harness/http.mjs";
import { startPair } from "../harness/pair.mjs";
import { room } from "../harness/rooms.mjs";

const COMMAND = "cf-waiting-room-command";
const open = room({ name: "open", total_active_users: 99 });
const stripped = room({ name: "stripped", total_active_users: 99, strip_cookie: true });
const held = room({ name: "held", queue_all: true });

let pair;
/** The last request that reached the origin. */
let seen;

before(async () => {
  const origin = (request, response) => {
    seen = request;
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("set-cookie", "session=1");
    response.setHeader(COMMAND, "revoke");
    response.end("origin");
  };
  pair = await startPair({ origin, rooms: [open, stripped, held] });
});
after(() => pair.stop());

function visit(host, request = {}) {
  seen = undefined;
  return send({ port: pair.ports.product, host, ...request });
}

test("row 8: an origin's command reaches no visitor where the room takes none", async () => {
  for (const host of [open.host, stripped.host, "uncovered.example"]) {
    const first = await visit(host);
    assert.equal(first.body, "origin");
    const cookie = first.headers["set-cookie"].at(-1).split(";")[0];
    const second = await visit(host, { headers: { cookie } });
    assert.equal(second.body, "origin");
    for (const { headers } of [first, second]) assert.equal(headers[COMMAND], undefined, host);
  }
});

test("row 8: no header makes the origin serve another path", async () => {
  const names = ["X-Original-URL", "X-Rewrite-URL", "X-Original-Uri", "X-Ms-Original-Url"];
  names.push("x-invoke-path", "x-matched-path", "X_Original_URL", "x_rewrite-url");
  for (const name of names) {
    const headers = { [name]: "/checkout", "x-other": "1" };
    for (const host of [open.host, stripped.host, "uncovered.example"]) {
      assert.equal((await visit(host, { headers })).body, "origin", host);
      assert.equal(seen.headers[name.toLowerCase()], undefined, `${name} of ${host}`);
      assert.equal(seen.headers["x-other"], "1", host);
    }
    const all = { ...PREFLIGHT, headers: { ...PREFLIGHT.headers, ...headers } };
    await visit(held.host, all);
    assert.equal(seen.headers[name.toLowerCase()], undefined, name);
  }
});

test("row 8: no header makes the origin serve another host", async () => {
  const names = ["X-Forwarded-Host", "Forwarded", "X-Original-Host", "X-Host", "X-Forwarded-Uri"];
  names.push("X-Forwarded-Server", "X-HTTP-Host-Override", "X_Forwarded_Host", "x-forwarded_host");
  for (const name of names) {
    for (const host of [open.host, "uncovered.example"]) {
      const headers = { [name]: "host=held.example", "x-other": "1" };
      assert.equal((await visit(host, { headers })).body, "origin", host);
      assert.equal(seen.headers[name.toLowerCase()], undefined, name);
      assert.equal(seen.headers["x-other"], "1");
    }
  }
});

test("row 8: no header makes the origin cut off the beginning of a path", async () => {
  const names = ["X-Forwarded-Prefix", "X-Forwarded-Path", "X-Forwarded-PathBase"];
  names.push("X-Forwarded-Context", "X-Script-Name", "Script_Name", "X_Script_Name");
  names.push("X-Envoy-Original-Path", "X-Original-Path", "X-Replaced-Path", "X-Forwarded-Url");
  const passed = [];
  for (const name of names) {
    const headers = { [name]: "/x", "x-other": "1", x_other: "2" };
    assert.equal((await visit("uncovered.example", { path: "/x/a", headers })).body, "origin");
    if (seen.headers[name.toLowerCase()] !== undefined) passed.push(name);
    assert.deepEqual([seen.headers["x-other"], seen.headers.x_other], ["1", "2"]);
  }
  assert.deepEqual(passed, []);
});

const PREFLIGHT = {
  method: "OPTIONS",
  headers: { origin: "https://other.example", "access-control-request-method": "POST" },
};
const without = (name) => ({ ...PREFLIGHT, headers: { ...PREFLIGHT.headers, [name]: undefined } });
const sent = ({ headers, ...rest }) => ({
  ...rest,
  headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
});

test("row 8: only what a browser's preflight looks like passes a held room", async () => {
  await visit(held.host, PREFLIGHT);
  assert.equal(seen.method, "OPTIONS");
  for (const [name, request] of Object.entries({
    "no Origin": without("origin"),
    "no Access-Control-Request-Method": without("access-control-request-method"),
    "a body": {
      ...PREFLIGHT,
      headers: { ...PREFLIGHT.headers, "content-length": 7 },
      body: "order=1",
    },
    "a chunked body": {
      ...PREFLIGHT,
      headers: { ...PREFLIGHT.headers, "transfer-encoding": "chunked" },
      body: "order=1",
    },
    "another method": { ...PREFLIGHT, method: "POST" },
  })) {
    await visit(held.host, sent(request));
    assert.ok(seen === undefined, `a preflight with ${name} passed`);
  }
});

test("row 8: a preflight brings a visitor without a place no page and no session", async () => {
  for (const cookie of [undefined, "session=1"]) {
    const asked = sent({ ...PREFLIGHT, headers: { ...PREFLIGHT.headers, cookie } });
    const { status, body, headers } = await visit(held.host, asked);
    assert.equal(seen.method, "OPTIONS");
    assert.deepEqual([status, body, headers["set-cookie"]], [200, "", undefined]);
    assert.equal(headers["access-control-allow-origin"], "*");
  }
});

test("row 8: a preflight brings the origin no cookie and no other method", async () => {
  const headers = {
    ...PREFLIGHT.headers,
    cookie: "session=1; __cfwaitingroom=2",
    "x-http-method-override": "POST",
    "x-http-method": "POST",
    "x-method-override": "POST",
    x_http_method_override: "POST",
    "x-http_method": "POST",
    "x-other": "kept",
  };
  await visit(held.host, { ...PREFLIGHT, headers });
  assert.equal(seen.method, "OPTIONS");
  assert.equal(seen.headers["x-other"], "kept");
  const methods = Object.keys(headers).filter((one) => /method$|override$/.test(one));
  for (const name of ["cookie", ...methods]) {
    const isOwn = name === "access-control-request-method";
    assert.equal(seen.headers[name], isOwn ? "POST" : undefined, name);
  }
});
