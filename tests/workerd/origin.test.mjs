/**
 * An origin that gives no answer: the visitor gets a page of ours, not the platform's error, and
 * keeps the ticket. And commands in answers that a cache kept are for nobody.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { unreachable } from "../../src/origin.js";
import { send } from "../harness/http.mjs";
import { startPair } from "../harness/pair.mjs";
import { room } from "../harness/rooms.mjs";

const TIMEOUT_MS = 60_000;
const limits = { total_active_users: 1, session_duration: 5 };
const shop = room({ name: "shop", ...limits });
const revoking = room({ name: "revoking", ...limits, enabled_origin_commands: ["revoke"] });
const UNCOVERED = "uncovered.example";
const RESET = "/connection-ends";
const STRANGE = "/status-700";
const PAGE_MARK = "The site does not answer";

test("a broken connection to the origin costs nobody the place", { timeout: TIMEOUT_MS }, () =>
  withPair({ rooms: [shop, revoking] }, async (pair) => {
    for (const { host } of [shop, revoking]) {
      const first = await ask(pair, { host, path: RESET });
      broken(first);
      const cookie = ticketOf(first);
      assert.ok(cookie, "whoever was admitted is inside");
      const again = await ask(pair, { host, path: RESET, headers: { cookie } });
      broken(again);
      const after = await ask(pair, { host, headers: { cookie } });
      assert.equal(after.body, "the origin");
      const other = await ask(pair, { host });
      assert.match(other.body, /line/i, "the place is taken");
    }
    broken(await ask(pair, { host: UNCOVERED, path: RESET }));
    broken(await ask(pair, { host: UNCOVERED, path: RESET, method: "POST", body: "order" }));
    assert.ok((await pair.log.countOnceThere("the origin cannot be reached", 1)) > 0);
  }),
);

const strange = "nor does an answer with a status that no answer of ours can have";
test(strange, { timeout: TIMEOUT_MS }, () =>
  withPair({ rooms: [shop, revoking] }, async (pair) => {
    for (const { host } of [shop, revoking]) {
      const first = await ask(pair, { host, path: STRANGE });
      broken(first);
      const after = await ask(pair, { host, headers: { cookie: ticketOf(first) } });
      assert.equal(after.body, "the origin");
    }
    assert.equal((await ask(pair, { host: UNCOVERED, path: STRANGE })).status, 700);
  }),
);

test("nor does it where everybody passes", { timeout: TIMEOUT_MS }, () =>
  withPair({ vars: { TICKET_KEYS: "abc", ON_FAILURE: "pass" } }, async (pair) => {
    assert.equal((await ask(pair, { host: shop.host })).body, "the origin");
    broken(await ask(pair, { host: shop.host, path: RESET }));
  }),
);

test("what is logged of it names no address", (context) => {
  const logged = context.mock.method(console, "error", () => {});
  unreachable(new TypeError("cannot load https://shop.example/a?name=eve, nor (http://b.example)"));
  const [line] = logged.mock.calls[0].arguments;
  assert.equal(
    line,
    "the origin cannot be reached: TypeError: cannot load an address nor (an address",
  );
});

for (const [name, isCopy, headers] of [
  ["an answer of the origin", false, {}],
  ["an answer that was in no cache", false, { "cf-cache-status": "MISS", age: "0" }],
  ["an answer that may not be cached", false, { "cf-cache-status": "DYNAMIC" }],
  ["a cached answer", true, { "cf-cache-status": "HIT" }],
  ["a cached answer that was looked at again", true, { "cf-cache-status": "REVALIDATED" }],
  ["an old answer, in lower case", true, { "cf-cache-status": "stale" }],
  ["an answer of another cache", true, { age: "7" }],
]) {
  const does = isCopy ? "ends no session" : "ends the session that it orders to end";
  test(`${name} ${does}`, { timeout: TIMEOUT_MS }, () =>
    withPair({ rooms: [revoking], answered: headers }, async (pair) => {
      const cookie = ticketOf(await ask(pair, { host: revoking.host }));
      const answer = await ask(pair, { host: revoking.host, path: "/out", headers: { cookie } });
      assert.equal(answer.headers["cf-waiting-room-command"], undefined);
      assert.equal(answer.body, "the origin");
      assert.equal(ticketOf(answer) === "__cfwaitingroom=", !isCopy);
    }),
  );
}

async function withPair({ answered = {}, ...options }, body) {
  const origin = (request, response) => {
    if (request.url === RESET) return request.socket.destroy();
    if (request.url === STRANGE) return response.writeHead(700).end("?");
    const command = request.url === "/out" ? { "cf-waiting-room-command": "revoke" } : {};
    response.writeHead(200, { ...answered, ...command }).end("the origin");
  };
  const pair = await startPair({ origin, rooms: [shop], ...options });
  try {
    await body(pair);
  } catch (error) {
    pair.log.show("an origin that does not answer");
    throw error;
  } finally {
    await pair.stop();
  }
}

function broken({ status, headers, body }) {
  assert.equal(status, 502, body);
  assert.ok(body.includes(PAGE_MARK), body);
  assert.equal(headers["cache-control"], "private, no-store");
  assert.equal(headers["retry-after"], "10");
}

/** The ticket that an answer sets: "__cfwaitingroom=..."; nothing if it sets none. */
function ticketOf({ headers }) {
  return headers["set-cookie"]?.[0].split(";")[0];
}

function ask(pair, { host, path = "/", ...request }) {
  return send({ port: pair.ports.product, host, path, ...request });
}
