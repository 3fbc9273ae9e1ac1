/**
 * Rules that look at the body: the visitor's request reaches the origin as a bare pass-through
 * would bring it, whatever rules have read of it, and no other request waits for its body.
 */

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import { after, afterEach, before, test } from "node:test";

import { startPair } from "../harness/pair.mjs";
import { room } from "../harness/rooms.mjs";

const TIMEOUT_MS = 60_000;
const FORM = "application/x-www-form-urlencoded";
/** What rules see of a body. */
const SEEN_BYTES = 128 * 1_024;

const expressions = [
  'http.request.uri.path eq "/free"',
  'http.request.body.form["code"][0] eq "VIP 7"',
  'lookup_json_string(http.request.body.raw, "user", "role") eq "staff"',
  'http.request.uri.path eq "/signed" and starts_with(http.request.body.raw, "signed:")',
  'http.request.uri.path eq "/large" and http.request.body.truncated',
  'http.request.uri.path eq "/picture" and http.request.body.mime eq "image/png"',
  // Of a body that does not come, these would be true if it counted as an empty one.
  'http.request.uri.path eq "/other" and not (http.request.body.raw contains "order")',
  'http.request.uri.path eq "/short" and http.request.body.size lt 10',
];
const rule = (expression, place) => ({
  id: String(place + 1).padStart(32, "0"),
  action: "bypass_waiting_room",
  expression,
});
const shop = room({ name: "bodies", queue_all: true, bypass_rules: expressions.map(rule) });

let pair;
/** The last request at the origin: its method, headers and the hash of its body. */
let seen;
/** Called with each part of a body that reaches the origin. */
let onPart = () => {};

before(async () => {
  pair = await startPair({ origin, rooms: [shop], vars: { ON_FAILURE: "hold" } });
});
afterEach((context) => pair.log.afterTest(context));
after(() => pair.stop());

async function origin(request, response) {
  const hash = createHash("sha256");
  for await (const part of request) {
    hash.update(part);
    onPart();
  }
  const { method, url, rawHeaders } = request;
  const headers = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at].toLowerCase();
    if (name !== "cf-worker") headers.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  seen = { method, url, headers: headers.sort(), body: hash.digest("hex") };
  response.writeHead(200, { "x-origin": "1" });
  response.end();
}

function begin(worker, path, headers = {}) {
  const to = { host: "127.0.0.1", port: pair.ports[worker], agent: false, method: "POST", path };
  return http.request({ ...to, headers: { host: shop.host, ...headers } });
}

/** Whether the origin has answered. */
async function passed(request) {
  const [response] = await once(request, "response");
  response.resume();
  await once(response, "end");
  return response.headers["x-origin"] === "1";
}

/** Sends the same request through the Worker and a bare pass-through. */
async function check(path, body, headers, want) {
  const sent = { ...headers, "content-length": Buffer.byteLength(body) };
  const bare = begin("bare", path, sent);
  bare.end(body);
  assert.ok(await passed(bare));
  const wanted = seen;
  seen = undefined;
  const request = begin("product", path, sent);
  request.end(body);
  assert.equal(await passed(request), want, `${path} ${headers["content-type"]}`);
  assert.deepEqual(seen, want ? wanted : undefined);
}

test("a body decides and arrives as it was sent", { timeout: TIMEOUT_MS }, async () => {
  const form = { "content-type": FORM };
  await check("/order", "code=VIP 7&n=1", form, true);
  await check("/order", "code=VIP 8&n=1", form, false);
  await check("/order", "code=VIP 7&n=1", { "content-type": "text/plain" }, false);
  const json = { "content-type": "application/json" };
  await check("/order", '{"user":{"role":"staff"}}', json, true);
  await check("/order", '{"user":{"role":"guest"}}', json, false);
  await check("/order", "", form, false);
  const large = Buffer.concat([Buffer.from("signed:"), randomBytes(8 * 1_024 * 1_024)]);
  await check("/signed", large, {}, true);
  await check("/large", large, {}, true);
  await check("/large", large.subarray(0, SEEN_BYTES), {}, false);
  await check("/picture", Buffer.from("\x89PNG\r\n\x1a\nrest", "latin1"), {}, true);
});

test("a long body goes on to the origin before its end", { timeout: TIMEOUT_MS }, async () => {
  const hash = createHash("sha256");
  const request = begin("product", "/signed");
  const send = (part) => {
    hash.update(part);
    return new Promise((sent) => request.write(part, sent));
  };
  const arrives = new Promise((resolve) => {
    onPart = resolve;
  });
  await send("signed:");
  await send(randomBytes(2 * SEEN_BYTES));
  // The rest is sent only when the origin has got something.
  await arrives;
  await send(randomBytes(SEEN_BYTES));
  request.end();
  assert.ok(await passed(request));
  assert.equal(seen.body, hash.digest("hex"));
});

test("a body that does not come opens nothing", { timeout: TIMEOUT_MS }, async () => {
  const late = begin("product", "/signed");
  late.on("error", () => {});
  late.write("signed:");
  const first = [];
  const answered = passed(late).then((isPassed) => first.push(["late", isPassed]));
  await new Promise((wake) => setTimeout(wake, 100));
  // Rules that do not come to the body decide at once.
  const other = begin("product", "/free");
  other.write("never ends");
  const arrives = new Promise((resolve) => {
    onPart = resolve;
  });
  await arrives;
  assert.deepEqual(first, [], "it waited for a body that no rule wanted");
  await answered;
  assert.deepEqual(first, [["late", false]]);
  other.end();
  assert.ok(await passed(other));
  late.destroy();
  for (const path of ["/other", "/short"]) {
    const stalled = begin("product", path);
    stalled.on("error", () => {});
    stalled.write("a part");
    assert.equal(await passed(stalled), false, path);
    stalled.destroy();
  }
});
