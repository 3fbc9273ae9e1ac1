/**
 * The guard around the wasm: whatever breaks inside it, every request is answered, and the next one
 * works. Needs the debug build, whose panic hooks break it on order. It says nothing about who
 * waits and who enters.
 */

import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import zlib from "node:zlib";

import { clusterTest } from "../harness/cluster-test.mjs";
import { CLASSES } from "../harness/deployment.mjs";
import { send } from "../harness/http.mjs";
import { startPair } from "../harness/pair.mjs";
import { room } from "../harness/rooms.mjs";

/** What can end an instance: a panic, a trap, an exception of JavaScript that crosses it. */
const BREAKS = ["panic", "trap", "throw"];
const OBJECTS = Object.keys(CLASSES);
const HOLD_MARK = "This page updates automatically";
/** On most machines a request is inside the wasm by then. */
const UNDER_WAY_MS = 150;
/** Far less than the limits that would end the calls anyway: they ended because of the break. */
const AT_ONCE_MS = 3_000;
const SLOW_ORIGIN_MS = 600;
const TIMEOUT_MS = 60_000;

const debug = { origin, build: "debug", rooms: [room({ name: "shop", total_active_users: 100 })] };
let shared;
before(async () => {
  shared = await startPair(debug);
});
afterEach((context) => shared.log.afterTest(context));
after(() => shared.stop());

describe("a break in the synchronous question", () => {
  for (const how of BREAKS) {
    check(`${how}: the page that holds, then service as usual`, async () => {
      assertHeld(await get(`/__glance/${how}`));
      assertFromOrigin(await get("/__glance/nothing"));
    });
  }

  check("everybody else in flight is answered", async () => {
    const held = [get("/__handle/hang"), get("/__object/GLOBAL_AGGREGATOR/hang")];
    const slowOrigin = get("/__glance/nothing?slow");
    await areUnderWay();
    for (const answer of await atOnce([get("/__glance/panic"), ...held])) assertHeld(answer);
    assertFromOrigin(await slowOrigin);
  });
});

describe("a break in the question that waits", () => {
  for (const how of BREAKS) {
    check(`${how}: all in flight are answered at once`, async () => {
      const held = [
        get("/__handle/hang"),
        get("/__handle/hang", { method: "POST", body: "order" }),
        ...OBJECTS.map((binding) => get(`/__object/${binding}/hang`)),
      ];
      const slowOrigin = get("/__glance/nothing?slow");
      const posted = get("/__glance/nothing?slow", { method: "POST", body: "order" });
      await areUnderWay();
      for (const answer of await atOnce([get(`/__handle/${how}`), ...held])) assertHeld(answer);
      assertFromOrigin(await slowOrigin);
      assert.equal(assertFromOrigin(await posted), "POST order");
      assertFromOrigin(await get("/__handle/nothing"));
    });
  }

  check("a decision that never comes is given up alone", async () => {
    const never = get("/__handle/hang");
    await sleep(4_500);
    const other = get("/__handle/slow");
    assertHeld(await never);
    assertFromOrigin(await other);
  });

  check("an instance that lost its wake-up is rebuilt", async () => {
    await get("/__handle/wedge");
    const stuck = await Promise.all([1, 2, 3].map(() => get("/__handle/nothing")));
    stuck.forEach(assertHeld);
    assertFromOrigin(await get("/__handle/nothing"));
  });

  check("a slow origin is not a slow decision", async () => {
    assertFromOrigin(await get("/__handle/nothing?slower"));
  });
});

describe("a break in an object", () => {
  for (const binding of OBJECTS) {
    for (const how of BREAKS) {
      check(`${binding}, ${how}: nobody waits for an answer that cannot come`, async () => {
        const held = [get("/__handle/hang"), get(`/__object/${binding}/hang`)];
        await areUnderWay();
        // The object shares the instance with the visits here, as it may in a data center.
        const broken = get(`/__object/${binding}/${how}`);
        for (const answer of await atOnce([broken, ...held])) assertHeld(answer);
        assert.match((await get(`/__object/${binding}/hello`)).body, /^object answered/);
      });
    }
  }
});

clusterTest("an object that breaks far away answers its callers", debug, async (cluster) => {
  const ask = (path) => cluster.send("ams-1", { host: "shop.example", path });
  for (const binding of OBJECTS) {
    for (const how of BREAKS) {
      const held = OBJECTS.map((one) => ask(`/__object/${one}/hang`));
      const visit = ask("/__handle/slow");
      await sleep(UNDER_WAY_MS);
      await cluster.rests();
      const broken = ask(`/__object/${binding}/${how}`);
      for (const { body } of await atOnce([broken, ...held])) assert.match(body, /^object failed/);
      // The visit's own instance is another one.
      assertFromOrigin(await visit);
      assert.match((await ask(`/__object/${binding}/hello`)).body, /^object answered/);
    }
  }
});

describe("verdicts", () => {
  check("a page has its status, headers and body; HEAD has no body", async () => {
    const { status, headers, body } = await get("/__glance/page");
    assert.deepEqual([status, headers["content-type"]], [202, "text/plain"]);
    assert.equal(body, "first\n\nsecond");
    const head = await get("/__glance/page", { method: "HEAD" });
    assert.deepEqual(
      [head.status, head.headers["content-type"], head.body],
      [202, "text/plain", ""],
    );
  });

  check("a cookie rides on the origin's answer, which no cache may keep", async () => {
    const answer = await get("/__glance/cookie?packed");
    assert.equal(answer.status, 203);
    assert.deepEqual(answer.headers["set-cookie"], ["theirs=1", "test=renewed; Path=/"]);
    assert.equal(answer.headers["cache-control"], "private, no-store");
    assert.equal(answer.headers["content-encoding"], "gzip");
    assert.equal(answer.body, zlib.gzipSync("packed by the origin").toString());
    assert.equal((await get("/__glance/cookie?empty")).status, 204);
  });

  check("what is left to do after the answer does not delay or break it", async () => {
    assertFromOrigin(await get("/__glance/after"));
  });
});

describe("ON_FAILURE = pass", () => {
  checkAlone("a break lets the visitor pass", { vars: { ON_FAILURE: "pass" } }, async (pair) => {
    assertFromOrigin(await get("/__glance/panic", {}, pair));
    const order = { method: "POST", body: "order" };
    assert.equal(assertFromOrigin(await get("/__handle/panic", order, pair)), "POST order");
  });
});

describe("a configuration that cannot be used", () => {
  const rooms = [{ ...debug.rooms[0], total_active_users: -1 }];
  checkAlone("holds everybody", { rooms }, async (pair) => {
    assertHeld(await get("/", {}, pair));
  });
  const passing = { rooms, vars: { ON_FAILURE: "pass" } };
  checkAlone("lets everybody pass if so chosen", passing, async (pair) => {
    assertFromOrigin(await get("/", {}, pair));
  });
});

function check(name, body) {
  test(name, { timeout: TIMEOUT_MS }, body);
}

/** A test with Workers of its own. */
function checkAlone(name, options, body) {
  check(name, async () => {
    const pair = await startPair({ ...debug, ...options });
    try {
      await body(pair);
    } catch (error) {
      pair.log.show(name);
      throw error;
    } finally {
      await pair.stop();
    }
  });
}

function get(path, request = {}, { ports } = shared) {
  return send({ port: ports.product, host: "shop.example", path, ...request });
}

async function origin(request, response) {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { search } = new URL(request.url, "http://shop.example");
  if (search === "?slow") await sleep(SLOW_ORIGIN_MS);
  if (search === "?slower") await sleep(5_500);
  if (search === "?empty") return response.writeHead(204).end();
  if (search === "?packed") {
    const headers = { "content-encoding": "gzip", "cache-control": "public, max-age=60" };
    response.writeHead(203, { ...headers, "set-cookie": "theirs=1" });
    return response.end(zlib.gzipSync("packed by the origin"));
  }
  response.writeHead(200, { "x-origin": "1" }).end(`${request.method} ${body}`);
}

function assertHeld({ status, headers, body }) {
  assert.ok(body.includes(HOLD_MARK), `not the page that holds: ${status} ${body}`);
  assert.equal(status, 200);
  assert.equal(headers.refresh, "5");
  assert.equal(headers["cache-control"], "private, no-store");
  assert.equal(headers["set-cookie"], undefined);
}

function assertFromOrigin({ status, headers, body }) {
  assert.equal(headers["x-origin"], "1", `not the origin: ${status} ${body}`);
  assert.equal(status, 200);
  return body;
}

/** Waits until the requests that were sent are inside the wasm, on a slow machine too. */
async function areUnderWay() {
  await sleep(UNDER_WAY_MS);
  await shared.rest.comes();
}

async function atOnce(promises) {
  const late = sleep(AT_ONCE_MS, "late", { ref: false });
  const answers = await Promise.race([Promise.all(promises), late]);
  assert.notEqual(answers, "late", `still in flight ${AT_ONCE_MS} ms after the break`);
  return answers;
}
