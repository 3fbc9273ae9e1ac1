/**
 * Sign-in by Cloudflare Access: only a token that Access has signed for this deployment and this
 * moment counts, no other site's page can use it, and its keys cost few questions.
 */

import assert from "node:assert/strict";
import { after } from "node:test";

import { OWNER, ROOMS, ask, call } from "../harness/api.mjs";
import { startAccess } from "../harness/access.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";

const shop = room({ name: "shop" });
const SHOP = `${ROOMS}/${shop.id}`;
const DAY_S = 86_400;
const ANNA = "anna@shop.example";
const ROLES = { [ANNA]: "admin", "gone@shop.example": "none" };
/** What a browser says of a call of the cockpit itself. */
const OWN = { "sec-fetch-site": "same-origin" };
const access = await startAccess();
after(() => access.stop());
const options = (vars) => ({
  rooms: [shop],
  ...access.options({ ACCESS_ROLES: JSON.stringify(ROLES), ...vars }),
});

/** Asks for the rooms with a token of Access, and returns the status. */
async function statusWith(cluster, token) {
  const headers = { ...OWN, "cf-access-jwt-assertion": token };
  const { status, body } = await ask(cluster, "GET", ROOMS, undefined, headers);
  assert.ok(status === 200 || status === 403, `${status} ${body}`);
  return status;
}

const forged = "row 47: a token counts only if Access has signed it, for this application, for now";
clusterTest(forged, options(), async (cluster) => {
  const now = cluster.clock.now();
  const seconds = Math.floor(now / 1_000);
  const good = access.token(now);
  assert.equal(await statusWith(cluster, good), 200);
  const [head, body, signature] = good.split(".");
  const other = access.token(now, { email: "eve@evil.example" }).split(".")[1];
  const bad = {
    "signed by somebody else": await access.forged(now),
    "unsigned": access.unsigned(now),
    "unsigned, in capitals": access.unsigned(now, {}, "NONE"),
    "unsigned, and says it is": access.unsigned(now, {}, "RS256"),
    "hashed with the public key": access.hashed(now),
    "another algorithm": access.token(now, {}, { alg: "RS512" }),
    "critical extensions": access.token(now, {}, { crit: ["exp"] }),
    "no key named": access.token(now, {}, { kid: undefined }),
    "an unknown key": access.token(now, {}, { kid: "x" }),
    "a key of its own": access.token(now, {}, { kid: undefined, jwk: { kty: "RSA" } }),
    "another audience": access.token(now, { aud: ["f".repeat(64)] }),
    "no audience": access.token(now, { aud: undefined }),
    "another team": access.token(now, { iss: "https://evil.cloudflareaccess.com" }),
    "a global session": access.token(now, { type: "org" }),
    "ended": access.token(now - 2 * DAY_S * 1_000),
    "endless": access.token(now, { exp: undefined }),
    "an end that is no number": access.token(now, { exp: "9999999999" }),
    "an end beyond all time": access.token(now, { exp: 1e300 }),
    "of tomorrow": access.token(now + DAY_S * 1_000),
    "not before tomorrow": access.token(now, { nbf: seconds + DAY_S }),
    "nobody's": access.token(now, { email: undefined }),
    "of the owner": access.token(now, { email: "owner" }),
    "a name in two lines": access.token(now, { email: `${ANNA}\naccess-person: {}` }),
    "huge": access.token(now, { custom: "x".repeat(9_000) }),
    "other claims": `${head}.${other}.${signature}`,
    "a cut signature": `${head}.${body}.${signature.slice(0, -4)}`,
    "two parts": `${head}.${body}`,
    "four parts": `${good}.${signature}`,
    "no JSON": `${head}.e30x.${signature}`,
    "no base64": `${head}.!!.${signature}`,
    "null": `bnVsbA.bnVsbA.${signature}`,
  };
  for (const [what, token] of Object.entries(bad)) {
    assert.equal(await statusWith(cluster, token), 403, what);
  }
  assert.equal(await statusWith(cluster, good), 200, "it counts no more after the others");
  // The cookie alone is nothing: Access adds the header to all that it lets through.
  const cookie = { ...OWN, cookie: `CF_Authorization=${good}` };
  assert.equal((await ask(cluster, "GET", ROOMS, undefined, cookie)).status, 403);
  for (const secret of [good, signature]) assert.equal(cluster.log.count(secret), 0);
});

const crossSite = "row 47: no page of another site changes or reads anything by a person's sign-in";
clusterTest(crossSite, options(), async (cluster) => {
  const token = access.header(cluster.clock.now());
  const [host, here] = ["localhost", "http://localhost"];
  const change = JSON.stringify({ queue_all: true });
  const sent = async (method, headers) => {
    const body = method === "GET" ? undefined : change;
    const type = { "content-type": "text/plain", ...token, ...headers };
    return (await ask(cluster, method, SHOP, body, type)).status;
  };
  for (const elsewhere of [
    { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
    { "sec-fetch-site": "same-site", origin: "https://shop.example" },
    { "sec-fetch-site": "cross-site" },
    { origin: "https://evil.example" },
    { origin: `https://${host}.evil.example` },
    { origin: "null" },
  ]) {
    for (const method of ["GET", "PATCH", "POST", "PUT", "DELETE"]) {
      assert.equal(await sent(method, elsewhere), 403, `${method} ${JSON.stringify(elsewhere)}`);
    }
  }
  for (const unclear of [{}, { "sec-fetch-site": "none" }]) {
    assert.equal(await sent("PATCH", unclear), 403, JSON.stringify(unclear));
    assert.equal(await sent("GET", unclear), 200, JSON.stringify(unclear));
  }
  assert.equal((await call(cluster, "GET", SHOP)).result.queue_all, false);
  assert.equal(await sent("PATCH", OWN), 200);
  assert.equal(await sent("PATCH", { origin: here }), 200, "a browser without Sec-Fetch-Site");
  const preflight = { ...token, origin: "https://evil.example" };
  const asked = { "access-control-request-method": "PATCH", ...preflight };
  const { headers } = await ask(cluster, "OPTIONS", SHOP, undefined, asked);
  assert.deepEqual(Object.keys(headers).filter((name) => name.startsWith("access-control-")), []);
});

const ended = "row 47: a sign-in that has ended, or of somebody taken off the list, is nothing";
clusterTest(ended, options(), async (cluster) => {
  const now = cluster.clock.now();
  const short = access.token(now, { exp: Math.floor(now / 1_000) + 60 });
  assert.equal(await statusWith(cluster, short), 200);
  const path = `/_waiting-room/live?rooms=${shop.zone_id}/${shop.id}`;
  const headers = { ...OWN, "cf-access-jwt-assertion": short };
  const heard = await cluster.listen("ams-1", { host: "localhost", path, headers });
  await cluster.advance(61_000, 1_000);
  const late = { ...OWN, "cf-access-jwt-assertion": short };
  const { status, body } = await ask(cluster, "GET", ROOMS, undefined, late);
  assert.equal(status, 403, "replayed after its end");
  assert.match(body, /nothing here\. This sign-in has ended: load the page again\./);
  const before = heard.text.length;
  await cluster.advance(3_000);
  assert.equal(heard.text.length, before, "a stream goes on after the end of the sign-in");
  heard.close();
  const gone = access.token(cluster.clock.now(), { email: "gone@shop.example" });
  assert.equal(await statusWith(cluster, gone), 403, "taken off the list, signed in as before");
  // A token beside it has the last word, a wrong one too.
  const both = { ...OWN, ...access.header(cluster.clock.now()), authorization: "Bearer wrong" };
  assert.equal((await ask(cluster, "GET", ROOMS, undefined, both)).status, 403);
});

const silence = "row 47: Access silent, broken or flooded signs nobody in, and harms no token";
clusterTest(silence, { ...options(), colos: { AMS: 1 } }, async (cluster) => {
  const good = () => access.token(cluster.clock.now());
  for (const fault of ["silence", "broken", "rubbish", "empty", "huge"]) {
    access.fault = fault;
    assert.equal(await statusWith(cluster, good()), 403, fault);
    assert.equal((await ask(cluster, "GET", ROOMS, undefined, OWNER)).status, 200, fault);
    await cluster.advance(31_000, 1_000);
  }
  access.fault = undefined;
  access.questions = 0;
  const all = await Promise.all(Array.from({ length: 40 }, () => statusWith(cluster, good())));
  assert.deepEqual([new Set(all), access.questions], [new Set([200]), 1], "one asks for all");
  const guesses = Array.from({ length: 40 }, (_, at) =>
    statusWith(cluster, access.token(cluster.clock.now(), {}, { kid: `guess-${at}` })),
  );
  assert.deepEqual(new Set(await Promise.all(guesses)), new Set([403]));
  assert.ok(access.questions <= 2, `${access.questions} questions for made-up keys`);
  // Junk that is not for this deployment asks nothing at all.
  await cluster.advance(31_000, 1_000);
  const before = access.questions;
  const foreign = { iss: "https://evil.cloudflareaccess.com" };
  await statusWith(cluster, access.token(cluster.clock.now(), foreign, { kid: "more" }));
  assert.equal(access.questions, before);
  await access.rotate();
  assert.equal(await statusWith(cluster, good()), 200, "a new key is learned");
  access.fault = "silence";
  await cluster.advance(2 * 3_600_000, 60_000);
  assert.equal(await statusWith(cluster, good()), 200, "known keys count while Access is away");
  await cluster.advance(24 * 3_600_000, 600_000);
  assert.equal(await statusWith(cluster, good()), 403, "and not for ever");
  access.fault = undefined;
});

const unset = "row 47: without both settings a token of Access is nothing";
clusterTest(unset, { ...options({ ACCESS_AUD: "" }), overrides: {} }, async (cluster) => {
  assert.equal(await statusWith(cluster, access.token(cluster.clock.now())), 403);
  assert.equal(await statusWith(cluster, access.token(cluster.clock.now(), { aud: "" })), 403);
});
