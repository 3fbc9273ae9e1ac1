/**
 * A deployment whose rooms or variables are wrong: visitors get what ON_FAILURE says, and the
 * operator gets the reason: from health and the API with status 503, and once in the log.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEnv } from "node:util";

import { localSecrets } from "../../scripts/local.mjs";
import { OWNER } from "../harness/api.mjs";
import { send } from "../harness/http.mjs";
import { startPair } from "../harness/pair.mjs";
import { room } from "../harness/rooms.mjs";

const TIMEOUT_MS = 60_000;
const HEALTH = "/_waiting-room/health";
const API = "/_waiting-room/client/v4/waiting_rooms/file";
const PREVIEW = "/_waiting-room/preview/0123456789abcdef0123456789abcdef";
const HOLD_MARK = "This page updates automatically";
const shop = room({ name: "shop" });

check("a wrong room", { rooms: [{ ...shop, total_active_users: 0 }] }, [
  "rooms.json: /0/total_active_users: must be",
]);
check("a wrong key", { vars: { TICKET_KEYS: "abc" } }, ["TICKET_KEYS: key 1 is not 32 bytes"]);
check("no key", { vars: { TICKET_KEYS: "" } }, ["TICKET_KEYS: is not set"]);
check("a wrong bound", { vars: { MAX_ROOMS_PER_ZONE: "many" } }, ["MAX_ROOMS_PER_ZONE: must be"]);
check(
  "everything at once",
  { rooms: [{ ...shop, host: "/" }], vars: { TICKET_KEYS: "abc", ORIGIN_URL: "shop" } },
  ["rooms.json: /0/host: ", "; TICKET_KEYS: ", "; ORIGIN_URL: must be an address"],
);

test("an address of the origin that is none leads nobody there", { timeout: TIMEOUT_MS }, () =>
  withPair({ vars: { ORIGIN_URL: "shop", ON_FAILURE: "pass" } }, async (pair) => {
    const visit = await ask(pair, "/", {}, "shop.example");
    assert.ok(visit.body.includes(HOLD_MARK), `${visit.status} ${visit.body}`);
  }),
);

test("the public secrets count on local hosts alone", { timeout: TIMEOUT_MS }, () => {
  const vars = { ...parseEnv(localSecrets()), ADMIN_HOSTS: "localhost,admin.example" };
  const rooms = [shop, room({ name: "demo", host: "localhost" })];
  return withPair({ vars, rooms }, async (pair) => {
    const headers = { authorization: `Bearer ${vars.API_TOKEN}` };
    assert.equal((await ask(pair, HEALTH)).status, 200);
    assert.equal((await ask(pair, API, headers)).status, 200);
    assert.match((await ask(pair, "/")).body, /the origin/);

    const health = await ask(pair, HEALTH, {}, "admin.example");
    assert.equal(health.status, 503);
    assert.match(JSON.parse(health.body).reason, /^TICKET_KEYS: holds the public key/);
    assert.equal((await ask(pair, API, headers, "admin.example")).status, 403);
    for (const host of [shop.host, "uncovered.example"]) {
      const visit = await ask(pair, "/", {}, host);
      assert.ok(visit.body.includes(HOLD_MARK), `${host}: ${visit.status} ${visit.body}`);
    }
  });
});

test("a variable that holds up no visit is a note of health", { timeout: TIMEOUT_MS }, () =>
  withPair({ vars: { ON_FAILURE: "Pass" } }, async (pair) => {
    const { status, body } = await ask(pair, HEALTH);
    assert.equal(status, 200);
    const notes = ["ON_FAILURE: must be hold or pass; hold counts"];
    assert.deepEqual(JSON.parse(body), { status: "ok", notes });
    assert.equal(await pair.log.countOnceThere(notes[0], 1), 1);
  }),
);

/** A test that the operator gets all these `reasons`, and nobody else any of them. */
function check(name, options, reasons) {
  test(name, { timeout: TIMEOUT_MS }, () =>
    withPair(options, async (pair) => {
      const health = await ask(pair, HEALTH);
      assert.equal(health.status, 503, health.body);
      const { status, reason } = JSON.parse(health.body);
      assert.equal(status, "unusable");
      for (const part of reasons) assert.ok(reason.includes(part), `${part} is not in ${reason}`);

      const answer = await ask(pair, API, OWNER);
      assert.equal(answer.status, 503, answer.body);
      const { success, errors } = JSON.parse(answer.body);
      assert.deepEqual([success, errors.length], [false, 1]);
      assert.ok(errors[0].message.endsWith(reason), answer.body);
      assert.equal((await ask(pair, PREVIEW)).status, 503);
      const guess = await ask(pair, API, { authorization: "Bearer guessed" });
      assert.equal(guess.status, 403, guess.body);

      const visit = await ask(pair, HEALTH, {}, "shop.example");
      assert.ok(!visit.body.includes(reason), "visitors read the reason");
      assert.ok(visit.body.includes(HOLD_MARK), visit.body);
      // The log of tests keeps the beginning of a line.
      const beginning = `the configuration cannot be used: ${reason}`.slice(0, 150);
      assert.equal(await pair.log.countOnceThere(beginning, 1), 1, "the log says it once");
    }),
  );
}

async function withPair(options, body) {
  const origin = (_, response) => response.end("the origin");
  const pair = await startPair({ origin, rooms: [shop], ...options });
  try {
    await body(pair);
  } catch (error) {
    pair.log.show("a wrong configuration");
    throw error;
  } finally {
    await pair.stop();
  }
}

function ask(pair, path, headers = {}, host = "localhost") {
  return send({ port: pair.ports.product, host, path, headers });
}
