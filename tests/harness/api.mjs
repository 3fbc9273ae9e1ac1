/**
 * The management API as a client with curl would call it, and what every answer of it has in
 * common. It knows no operation.
 */

import assert from "node:assert/strict";

import { ZONE } from "./rooms.mjs";

/** The path of the rooms of local development. */
export const ROOMS = `zones/${ZONE}/waiting_rooms`;
/** The token of .dev.vars.example. */
const OWNER = { authorization: "Bearer local-development-only" };

/** A call that succeeds: its envelope. */
export async function call(cluster, method, path, body, headers) {
  const answer = await ask(cluster, method, path, body, headers);
  assert.equal(answer.status, 200, `${method} ${path}: ${answer.status} ${answer.body}`);
  const envelope = JSON.parse(answer.body);
  assert.deepEqual([envelope.success, envelope.errors], [true, []]);
  return envelope;
}

/** A call that is refused with `status`: its envelope. */
export async function refused(cluster, status, method, path, body, headers) {
  const answer = await ask(cluster, method, path, body, headers);
  assert.equal(answer.status, status, `${method} ${path}: ${answer.body}`);
  const envelope = JSON.parse(answer.body);
  assert.deepEqual([envelope.success, envelope.result], [false, null]);
  assert.ok(envelope.errors.every(({ code, message }) => code >= 1000 && message));
  return envelope;
}

/** One request of the API, by the owner unless `headers` say otherwise. */
export async function ask(cluster, method, path, body, headers = OWNER) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await cluster.send(cluster.isolates[0].name, {
    host: "localhost",
    path: `/_waiting-room/client/v4/${path}`,
    method,
    headers: {
      "content-type": "application/json",
      // Node would send the body of a DELETE without a word about its length.
      ...(text && { "content-length": String(Buffer.byteLength(text)) }),
      ...headers,
    },
    body: text,
  });
  assert.match(answer.headers["cache-control"], /no-store/);
  return answer;
}
