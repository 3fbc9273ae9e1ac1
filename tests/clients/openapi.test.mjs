/**
 * The description of the API, as tools read it that make clients from it: a valid OpenAPI document,
 * open to everybody on an admin host and to nobody elsewhere. What it says of bodies is held
 * against the code by the native tests, and against each answer of the suite by
 * `harness/described.mjs`, which is tested here.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { Validator } from "@seriousme/openapi-schema-validator";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Description, checkDescribed } from "../harness/described.mjs";
import { ZONE, room } from "../harness/rooms.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const TEXT = fs.readFileSync(path.join(ROOT, "src", "openapi.json.txt"), "utf8");
const shop = room({ name: "shop", queue_all: true });
const options = { rooms: [shop], colos: { AMS: 1 } };
const OWN = "/_waiting-room/openapi.json";
const API = `/_waiting-room/client/v4/zones/${ZONE}/waiting_rooms`;
const HEADERS = { "content-type": "application/json" };
const SUCCESS = { success: true, errors: [], messages: [] };

clusterTest("the description is valid OpenAPI 3.1", options, async (cluster) => {
  const answer = await cluster.send("ams-1", { host: "localhost", path: OWN });
  assert.equal(answer.status, 200);
  assert.match(answer.headers["content-type"], /^application\/json/);
  assert.equal(answer.body, TEXT, "tests compare answers with another description");
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(answer.body));
  assert.ok(valid, JSON.stringify(errors));
  assert.equal(validator.version, "3.1");

  const elsewhere = await cluster.send("ams-1", { host: shop.host, path: OWN });
  assert.match(elsewhere.headers["content-type"], /^text\/html/);
});

/** Says what is not described of a request and its answer, in a description that was changed. */
function violations(request, answer, change = () => {}) {
  const document = JSON.parse(TEXT);
  change(document);
  const body = JSON.stringify(answer.body);
  return new Description(document).violations(request, { headers: HEADERS, ...answer, body });
}

const settings = { search_engine_crawler_bypass: true, always_use_https: null };
const read = { path: `${API}/settings` };
const told = { status: 200, body: { ...SUCCESS, result: settings } };

test("an answer that is described passes, and each other is told with its place", () => {
  assert.deepEqual(violations(read, told), []);
  const check = (what, request, answer, change) => {
    const found = violations(request, answer, change);
    assert.equal(found.length, 1, `${what}: ${found}`);
    assert.match(found[0], what);
  };
  const without = ({ components: { schemas } }) => {
    delete schemas.Settings.properties.always_use_https;
    schemas.Settings.required = [];
  };
  check(/^the answer at \/result: .* always_use_https$/, read, told, without);
  const wrong = { ...told, body: { ...SUCCESS, result: { ...settings, always_use_https: 1 } } };
  check(/^the answer at \/result\/always_use_https: must be boolean,null/, read, wrong);
  check(/search_engine_crawler_bypass/, read, {
    ...told,
    body: { ...SUCCESS, result: { always_use_https: null } },
  });
  check(/^the type text\/html is not among/, read, {
    ...told,
    headers: { "content-type": "text/html" },
  });
  check(/there is no such path/, { path: `${API}/nothing/at/all` }, told);
  check(/there is no such path or method/, { ...read, method: "POST" }, told);
  check(/the parameter all is not declared/, { path: `${read.path}?all=1` }, told);
  const rooms = { status: 200, body: { ...SUCCESS, result: [], result_info: undefined } };
  check(/at \/: must have required property 'result_info'/, { path: API }, rooms);
});

test("a request that was granted is described, and what was refused may be anything", () => {
  const change = (body) => ({ ...read, method: "PATCH", body: JSON.stringify(body) });
  assert.deepEqual(violations(change({ always_use_https: null }), told), []);
  const [found] = violations(change({ always: true }), told);
  assert.match(found, /^the request's body at \/: .* always$/);
  const errors = [{ code: 1_105, message: "/always there is no such field" }];
  const refused = { status: 400, body: { success: false, errors, messages: [], result: null } };
  assert.deepEqual(violations(change({ always: true }), refused), []);
  const unknown = { status: 405, body: { ...refused.body, errors } };
  assert.deepEqual(violations({ ...read, method: "DELETE" }, unknown), []);
});

test("only what an admin host answers is compared", () => {
  const answer = { status: 200, headers: { "content-type": "text/html" }, body: "a page" };
  assert.throws(() => checkDescribed({ host: "localhost:80", ...read }, answer), /text\/html/);
  checkDescribed({ host: shop.host, ...read }, answer);
  assert.throws(() => checkDescribed({ host: shop.host, ...read }, answer, `a, ${shop.host}`));
  checkDescribed({ host: "localhost", path: "/_waiting-room/app.js" }, answer);
});
