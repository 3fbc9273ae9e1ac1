/** The management knows bearer tokens alone: no cookie, no form and no other site moves it. */

import assert from "node:assert/strict";

import { OWNER, ROOMS, ask, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { room } from "../harness/rooms.mjs";

const shop = room({ name: "shop" });
const ORIGIN = "https://evil.example";
const CROSS_ORIGIN = /^access-control-/;
/** What a browser sends along by itself, or a page of another site can make it send. */
const AMBIENT = [
  { cookie: `API_TOKEN=${SECRETS.API_TOKEN}; authorization=Bearer ${SECRETS.API_TOKEN}` },
  { authorization: `Basic ${Buffer.from(`owner:${SECRETS.API_TOKEN}`).toString("base64")}` },
  { referer: `https://shop.example/?token=${SECRETS.API_TOKEN}`, origin: ORIGIN },
];

const title = "row 34: another site can neither read nor change what the owner has";
clusterTest(title, { rooms: [shop] }, async (cluster) => {
  let networks = 0;
  // Each from a network of its own: one that fails too often is told so.
  const fromAnywhere = () => ({ "cf-connecting-ip": `198.51.${(networks += 1)}.9` });
  const before = (await call(cluster, "GET", ROOMS)).result;
  const path = `${ROOMS}/${shop.id}`;
  for (const headers of AMBIENT) {
    for (const contentType of ["text/plain", "application/x-www-form-urlencoded"]) {
      for (const [method, body] of [["GET"], ["PATCH", '{"suspended":true}'], ["DELETE"]]) {
        const sent = { ...headers, ...fromAnywhere(), "content-type": contentType };
        const answer = await ask(cluster, method, path, body, sent);
        assert.equal(answer.status, 403, JSON.stringify([method, headers]));
      }
    }
  }
  const withToken = `${ROOMS}?token=${SECRETS.API_TOKEN}`;
  const inUrl = await ask(cluster, "GET", withToken, undefined, fromAnywhere());
  assert.equal(inUrl.status, 403, "a token in a URL ends up in logs");
  // Even with a token, no browser hands the answer to another site or asks for leave to write.
  for (const [method, more] of [
    ["GET", OWNER],
    ["OPTIONS", { "access-control-request-method": "DELETE" }],
  ]) {
    const answer = await ask(cluster, method, path, undefined, {
      ...more,
      ...fromAnywhere(),
      origin: ORIGIN,
    });
    const allowed = Object.keys(answer.headers).filter((name) => CROSS_ORIGIN.test(name));
    assert.deepEqual(allowed, [], method);
    assert.equal(answer.headers["set-cookie"], undefined);
  }
  // A preview may be read from anywhere, as everybody who knows its address may. Nothing may be
  // sent.
  const { result } = await call(cluster, "POST", `${ROOMS}/preview`, { custom_html: "<p>Wait" });
  const preview = { host: "localhost", path: new URL(result.preview_url).pathname };
  for (const method of ["GET", "OPTIONS"]) {
    const { headers } = await cluster.send(cluster.isolates[0].name, { ...preview, method });
    assert.equal(headers["access-control-allow-credentials"], undefined);
    assert.equal(headers["access-control-allow-methods"], undefined);
    assert.equal(headers["set-cookie"], undefined);
  }
  assert.deepEqual((await call(cluster, "GET", ROOMS)).result, before);
});
