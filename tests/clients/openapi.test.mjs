/**
 * The description of the API, as tools read it that make clients from it: a valid OpenAPI document,
 * open to everybody on an admin host and to nobody elsewhere. What it says is held against the code
 * by the native tests.
 */

import assert from "node:assert/strict";

import { Validator } from "@seriousme/openapi-schema-validator";

import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";

const shop = room({ name: "shop", queue_all: true });
const options = { rooms: [shop], colos: { AMS: 1 } };
const path = "/_waiting-room/openapi.json";

clusterTest("the description is valid OpenAPI 3.1", options, async (cluster) => {
  const answer = await cluster.send("ams-1", { host: "localhost", path });
  assert.equal(answer.status, 200);
  assert.match(answer.headers["content-type"], /^application\/json/);
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(answer.body));
  assert.ok(valid, JSON.stringify(errors));
  assert.equal(validator.version, "3.1");

  const elsewhere = await cluster.send("ams-1", { host: shop.host, path });
  assert.match(elsewhere.headers["content-type"], /^text\/html/);
});
