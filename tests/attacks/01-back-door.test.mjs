/**
 * Threat 1, going round the gate: hosts that nobody listed do not lead to the origin, and an origin
 * with a lock answers only what comes through the waiting room.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import path from "node:path";
import { test } from "node:test";

import { isOurs, serve } from "../../examples/origin-lock/check.mjs";
import { COMPATIBILITY_DATE } from "../harness/deployment.mjs";
import { freePort } from "../harness/free-port.mjs";
import { send } from "../harness/http.mjs";
import { Miniflare, convertV4MiniflareOptions } from "../harness/miniflare.mjs";
import { startPair } from "../harness/pair.mjs";
import { ZONE, room } from "../harness/rooms.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const SECRET = "a secret of at least 32 characters";
const LOCK = "cf-waiting-room-lock";
const shop = room({ name: "shop", host: "www.shop.example", total_active_users: 9 });
const closed = room({ name: "closed", queue_all: true });

/** Runs `body` with the Worker before an origin; `seen` holds the headers of its last request. */
async function withPair(vars, body) {
  const seen = {};
  const origin = (request, response) => {
    seen.headers = request.headers;
    response.end("origin");
  };
  const pair = await startPair({ origin, vars, rooms: [shop, closed] });
  const visit = (host, headers = {}) => {
    seen.headers = undefined;
    return send({ port: pair.ports.product, host, headers });
  };
  try {
    await body({ visit, seen });
  } finally {
    await pair.stop();
  }
}

test("row 1: hosts that nobody listed do not reach ORIGIN_URL", async () => {
  const [ORIGIN_URL, OPEN_HOSTS] = ["http://origin.example", "img.shop.example, old.example"];
  const vars = { ORIGIN_URL, OPEN_HOSTS, ZONES: `${ZONE}=shop.example` };
  await withPair(vars, async ({ visit, seen }) => {
    const others = ["room.someone.workers.dev", "abc-room.someone.workers.dev", "203.0.113.9"];
    // Most sites that are alone on a server answer to any host.
    others.push("a.shop.example", "a.img.shop.example", `a.${closed.host}`);
    for (const host of others) {
      assert.equal((await visit(host)).status, 421, host);
      assert.equal(seen.headers, undefined, host);
    }
    for (const host of ["IMG.shop.example", "old.example:8080", shop.host]) {
      assert.equal((await visit(host)).body, "origin", host);
    }
    assert.notEqual((await visit(closed.host)).body, "origin");
    const led = await visit(`www.${closed.host}`);
    assert.equal(led.status, 307);
    assert.equal(led.headers.location, `//${closed.host}/`);
    assert.equal(seen.headers, undefined);
  });
});

test("row 1: what is passed on carries a header that the origin can check", async () => {
  await withPair({ ORIGIN_LOCK_SECRET: SECRET }, async ({ visit, seen }) => {
    for (const host of [shop.host, "uncovered.example"]) {
      const made = { [LOCK]: `t=9999999999,v1=${"0".repeat(64)}` };
      for (const headers of [{}, made]) {
        assert.equal((await visit(host, headers)).body, "origin");
        const header = seen.headers[LOCK];
        assert.ok(isOurs(header, [SECRET], Date.now()), header);
        assert.ok(isOurs(header, ["another", SECRET], Date.now()), header);
        assert.ok(!isOurs(header, ["another secret"], Date.now()), header);
        assert.ok(!isOurs(header, [SECRET], Date.now() + 121_000), "it does not expire");
        assert.ok(!isOurs(header.replace("t=", "t=1"), [SECRET], Date.now()));
        assert.ok(await workerTakes(header));
      }
    }
    assert.ok(!(await workerTakes("")));
    assert.ok(!(await workerTakes(`t=9999999999,v1=${"0".repeat(64)}`)));
  });
});

test("row 1: while the secret is replaced, the origin takes headers of both", async () => {
  await withPair({ ORIGIN_LOCK_SECRET: SECRET }, async ({ visit, seen }) => {
    await visit(shop.host);
    const header = seen.headers[LOCK];
    const other = "o".repeat(64);
    for (const [secrets, want] of [
      [`${other},${SECRET}`, true],
      [`${SECRET}, ${other}`, true],
      [`${other},${other}`, false],
      [",", false],
    ]) {
      assert.equal(await workerTakes(header, secrets), want, secrets);
      if (secrets.length > 1) assert.equal(await checkTakes(header, secrets), want, secrets);
    }
  });
});

test("row 1: without a secret a visitor's header goes no further", async () => {
  await withPair({}, async ({ visit, seen }) => {
    await visit(shop.host, { [LOCK]: "t=1,v1=2" });
    assert.equal(seen.headers[LOCK], undefined);
  });
});

test("row 1: the command finds an open back door, and a shut one", async () => {
  const open = http.createServer((_, response) => response.end("the site"));
  await new Promise((listening) => open.listen(0, "127.0.0.1", listening));
  const shut = serve(SECRET, 0);
  await new Promise((listening) => shut.once("listening", listening));
  try {
    const [one, other] = [await tryDoor(open), await tryDoor(shut)];
    assert.equal(one.code, 1);
    assert.match(one.output, /OPEN {4}without the header: 200/);
    assert.equal(other.code, 0, other.output);
    assert.doesNotMatch(other.output, /OPEN/);
  } finally {
    open.close();
    shut.close();
  }
});

test("row 1: a door that was not tried is not called shut", async () => {
  let status = 200;
  let isLocked = false;
  const origin = http.createServer(({ headers }, response) => {
    // Of its answers one is another than the rest.
    response.writeHead(isLocked && !headers["x-real-ip"] ? 403 : status).end();
  });
  await new Promise((listening) => origin.listen(0, "127.0.0.1", listening));
  const check = async (answer, code, says) => {
    status = answer;
    const told = await tryDoor(origin);
    assert.equal(told.code, code, `${answer}: ${told.output}`);
    assert.ok(told.output.trimEnd().endsWith(says), `${answer}: ${told.output}`);
  };
  const UNKNOWN = "Unknown: no clear answer, see above.";
  try {
    for (const answer of [400, 405, 408, 429, 500, 502, 503]) await check(answer, 3, UNKNOWN);
    for (const answer of [401, 403, 421]) await check(answer, 0, "The door is shut.");
    for (const answer of [200, 301, 404]) await check(answer, 1, "without the waiting room.");
    isLocked = true;
    await check(429, 3, UNKNOWN);
    await check(200, 1, "without the waiting room.");
  } finally {
    origin.close();
  }
  // Nobody listens there: that is a refusal. A name that is none tells nothing.
  assert.equal((await tryAddress(`http://127.0.0.1:${await freePort()}/`)).code, 0);
  const nowhere = await tryAddress("http://origin.invalid/");
  assert.equal(nowhere.code, 3, nowhere.output);
  const silent = net.createServer(() => {});
  await new Promise((listening) => silent.listen(0, "127.0.0.1", listening));
  const late = await tryDoor(silent);
  silent.close();
  assert.equal(late.code, 3, late.output);
  assert.match(late.output, /unknown without the header: no answer in 10 s/);
  assert.equal((await tryAddress("shop.example")).code, 2);
});

function tryDoor(server) {
  return tryAddress(`http://127.0.0.1:${server.address().port}/`);
}

function tryAddress(address) {
  const script = path.join(ROOT, "scripts", "back-door.mjs");
  return new Promise((resolve) => {
    execFile(process.execPath, [script, address, shop.host], (error, output) => {
      resolve({ code: error?.code ?? 0, output });
    });
  });
}

/** Whether the example beside nginx and Caddy lets a request with this header in. */
async function checkTakes(header, secrets) {
  const server = serve(secrets, 0);
  await new Promise((listening) => server.once("listening", listening));
  const address = `http://127.0.0.1:${server.address().port}/`;
  const { status } = await fetch(address, { headers: { [LOCK]: header } });
  server.close();
  return status === 204;
}

/** Whether the example of an origin that is a Worker answers a request with this header. */
async function workerTakes(header, secrets = SECRET) {
  const file = path.join(ROOT, "examples", "origin-lock", "worker.mjs");
  const contents = fs.readFileSync(file, "utf8");
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      telemetry: { enabled: false },
      port: 0,
      compatibilityDate: COMPATIBILITY_DATE,
      modules: [{ type: "ESModule", path: "worker.mjs", contents }],
      bindings: { ORIGIN_LOCK_SECRET: secrets },
    }),
  );
  try {
    await miniflare.ready;
    const answer = await miniflare.dispatchFetch("http://shop.example/", {
      headers: { [LOCK]: header },
    });
    return answer.status === 200;
  } finally {
    await miniflare.dispose();
  }
}
