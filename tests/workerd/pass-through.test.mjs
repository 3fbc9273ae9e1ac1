/**
 * What the Worker does not answer itself, it leaves alone: request and answer are those of a bare
 * pass-through Worker in the same workerd, byte for byte. Only visits outside every room are made
 * here.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import http from "node:http";
import { after, afterEach, before, describe, test } from "node:test";
import zlib from "node:zlib";

import { startPair } from "../harness/pair.mjs";
import { room } from "../harness/rooms.mjs";

const BIG_BYTES = 100 * 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, "waiting room ");
const TIMEOUT_MS = 60_000;
/** These two differ from run to run, or from Worker to Worker, and say nothing about content. */
const UNEQUAL_HEADERS = new Set(["date", "cf-worker"]);

/** What the origin does, by path. Each also tells what it saw. */
const ORIGIN = {
  "/echo": (request, response) => response.writeHead(200, { "content-type": "text/plain" }),
  "/text": (request, response) => response.writeHead(404, "Nobody Home"),
  "/empty": (request, response) => response.writeHead(204),
  "/unchanged": (request, response) => response.writeHead(304, { etag: '"1"' }),
  "/moved": (request, response) =>
    response.writeHead(302, { location: "https://elsewhere.example/x" }),
  "/part": (request, response) => response.writeHead(206, { "content-range": "bytes 0-3/10" }),
  "/cookies": (request, response) =>
    response.writeHead(200, ["set-cookie", "a=1", "set-cookie", "b=2; Path=/"]),
  "/packed": (request, response) =>
    response.writeHead(200, { "content-encoding": "gzip", etag: '"z"' }),
  "/failing": (request, response) => response.writeHead(503, { "retry-after": "7" }),
};
const BODIES = {
  "/part": "0123",
  "/packed": zlib.gzipSync("packed by the origin"),
  "/text": "404",
};

let pair;
/** What the last request looked like when it reached the origin. */
let seen;

before(async () => {
  const vars = { ON_FAILURE: "hold" };
  pair = await startPair({ origin, upgrade, vars, rooms: [room({ name: "elsewhere" })] });
});
afterEach((context) => pair.log.afterTest(context));
after(() => pair.stop());

describe("a request and its answer", () => {
  const cases = [
    ...["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"].map((method) => ({
      method,
      path: "/echo?a=1&b=%2F..%2f&a=2",
      body: ["GET", "HEAD", "OPTIONS"].includes(method) ? undefined : "body of the request",
    })),
    { path: "/echo//two/../dots/%2e%2e/;p=1", headers: { "x-forwarded-for": "203.0.113.9" } },
    { path: "/echo", headers: { cookie: "a=1; b=2", "accept-encoding": "br", range: "bytes=0-3" } },
    ...Object.keys(ORIGIN).map((path) => ({ path, headers: { "accept-encoding": "gzip" } })),
    { path: "/packed" },
    { path: "/part", method: "HEAD" },
  ];
  for (const request of cases) {
    test(`${request.method ?? "GET"} ${request.path}`, { timeout: TIMEOUT_MS }, async () => {
      const bare = await visit("bare", request);
      const bareSeen = seen;
      const product = await visit("product", request);
      assert.deepEqual(product, bare);
      assert.deepEqual(seen, bareSeen);
    });
  }

  test("a control header of the client does not reach the origin", async () => {
    const headers = { "cf-waiting-room-command": "revoke", "x-other": "kept" };
    await visit("product", { method: "POST", path: "/echo", body: "order", headers });
    assert.equal(seen.body, sha256("order"));
    assert.ok(!seen.headers.some((text) => text.startsWith("cf-waiting-room")), seen.headers);
    assert.ok(seen.headers.includes("x-other: kept"));
  });
});

describe("bodies are streamed", () => {
  test("100 MB to the origin", { timeout: TIMEOUT_MS }, async () => {
    const all = createHash("sha256");
    const request = begin("product", { method: "POST", path: "/echo" });
    for (let sent = 0; sent < BIG_BYTES; sent += CHUNK.length) {
      all.update(CHUNK);
      if (!request.write(CHUNK)) await new Promise((drained) => request.once("drain", drained));
    }
    request.end();
    assert.equal((await finished(request)).status, 200);
    assert.equal(seen.body, all.digest("hex"));
  });

  test("100 MB from the origin", { timeout: TIMEOUT_MS }, async () => {
    const bare = await visit("bare", { path: "/big" });
    assert.deepEqual(await visit("product", { path: "/big" }), bare);
  });

  test(
    "each event of a stream arrives before the next is sent",
    { timeout: TIMEOUT_MS },
    async () => {
      const request = begin("product", { path: "/events" });
      request.end();
      const response = await new Promise((resolve) => request.once("response", resolve));
      for (const event of ["one", "two", "three"]) {
        // The origin sends the next event only when it was asked to.
        assert.equal(String(await new Promise((got) => response.once("data", got))), event);
        nextEvent();
      }
      response.destroy();
    },
  );
});

test("a WebSocket is connected through", { timeout: TIMEOUT_MS }, async () => {
  const headers = {
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  const request = begin("product", { path: "/socket", headers });
  request.end();
  const [response, socket] = await new Promise((resolve, reject) => {
    request.once("upgrade", (...both) => resolve(both));
    request.once("error", reject);
  });
  assert.equal(response.statusCode, 101);
  // A text frame "hi" to the client; frames from a client must be masked, here with zeros.
  socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]));
  const echoed = await new Promise((resolve) => socket.once("data", resolve));
  assert.deepEqual([...echoed], [0x81, 2, 0x68, 0x69]);
  socket.destroy();
});

for (const [name, options] of Object.entries({
  "the service binding ORIGIN": () => ({ boundOrigin: true }),
  "the address in ORIGIN_URL": () => ({
    vars: { ORIGIN_URL: "http://shop-origin.example:8000", OPEN_HOSTS: "plain.example" },
  }),
})) {
  test(`the origin can be ${name}`, { timeout: TIMEOUT_MS }, async () => {
    const other = await startPair({ origin, rooms: [room({ name: "elsewhere" })], ...options() });
    try {
      const request = { method: "POST", path: "//evil.example/x?y=1", body: "order" };
      assert.equal((await visit("product", request, other)).status, 200);
      assert.deepEqual([seen.method, seen.url, seen.body], ["POST", request.path, sha256("order")]);
      const host = name.includes("URL") ? "shop-origin.example:8000" : "plain.example";
      assert.ok(seen.headers.includes(`host: ${host}`), String(seen.headers));
    } finally {
      await other.stop();
    }
  });
}

/** One whole visit: everything of the answer that a client can see. */
function visit(worker, { body, ...request }, where = pair) {
  const begun = begin(worker, request, where);
  begun.end(body);
  return finished(begun);
}

function begin(worker, { method = "GET", path, headers = {} }, { ports } = pair) {
  const to = { host: "127.0.0.1", port: ports[worker], agent: false };
  return http.request({ ...to, method, path, headers: { host: "plain.example", ...headers } });
}

function finished(request) {
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      const hash = createHash("sha256");
      response.on("data", (chunk) => hash.update(chunk));
      response.on("end", () => {
        const { statusCode: status, statusMessage: text, rawHeaders } = response;
        resolve({ status, text, headers: pairs(rawHeaders), body: hash.digest("hex") });
      });
    });
  });
}

function pairs(rawHeaders) {
  const lines = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at].toLowerCase();
    if (!UNEQUAL_HEADERS.has(name)) lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  return lines.sort();
}

async function origin(request, response) {
  const hash = createHash("sha256");
  for await (const chunk of request) hash.update(chunk);
  const { method, url, rawHeaders } = request;
  seen = { method, url, headers: pairs(rawHeaders), body: hash.digest("hex") };
  const { pathname } = new URL(url.replace(/^\/+/, "/"), "http://plain.example");
  if (pathname === "/big") return big(response);
  if (pathname === "/events") return events(response);
  (ORIGIN[pathname] ?? ORIGIN["/echo"])(request, response);
  response.end(BODIES[pathname]);
}

async function big(response) {
  for (let sent = 0; sent < BIG_BYTES; sent += CHUNK.length) {
    if (!response.write(CHUNK)) await new Promise((drained) => response.once("drain", drained));
  }
  response.end();
}

/** Lets the origin send the next event. */
let nextEvent;

async function events(response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of ["one", "two", "three"]) {
    response.write(event);
    await new Promise((resolve) => (nextEvent = resolve));
  }
  response.end();
}

/** A socket that sends every text of up to 125 bytes back. */
function upgrade(request, socket) {
  const accept = createHash("sha1")
    .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest("base64");
  const head = ["HTTP/1.1 101 Switching Protocols", "connection: upgrade", "upgrade: websocket"];
  socket.write([...head, `sec-websocket-accept: ${accept}`, "", ""].join("\r\n"));
  socket.on("error", () => {});
  socket.on("data", (frame) => {
    const length = frame[1] & 0x7f;
    const mask = frame.subarray(2, 6);
    const text = frame.subarray(6, 6 + length).map((byte, at) => byte ^ mask[at % 4]);
    if ((frame[0] & 0x0f) === 1) socket.write(Buffer.concat([Buffer.from([0x81, length]), text]));
  });
}

function sha256(text) {
  return createHash("sha256").update(text).digest("hex");
}
