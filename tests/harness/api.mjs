/**
 * Calls the management API as a client with curl would, and checks what all its answers have in
 * common.
 */

import assert from "node:assert/strict";

import { SECRETS } from "./deployment.mjs";
import { checkDescribed } from "./described.mjs";
import { ZONE } from "./rooms.mjs";

const API = "/_waiting-room/client/v4";
/** The path of the rooms in the zone of local development. */
export const ROOMS = `zones/${ZONE}/waiting_rooms`;
/** The header with the token that may read and write. */
export const OWNER = { authorization: `Bearer ${SECRETS.API_TOKEN}` };

/** The base URL for clients that cannot send a `Host` of their choice, at 127.0.0.1. */
export function apiAddress(cluster) {
  return cluster.address(cluster.isolates[0].name, { host: "127.0.0.1", path: API });
}

/** Makes a call that must succeed, and returns its envelope. */
export async function call(cluster, method, path, body, headers) {
  const answer = await ask(cluster, method, path, body, headers);
  assert.equal(answer.status, 200, `${method} ${path}: ${answer.status} ${answer.body}`);
  const envelope = JSON.parse(answer.body);
  assert.deepEqual([envelope.success, envelope.errors], [true, []]);
  return envelope;
}

/** Makes a call that must be refused with `status`, and returns its envelope. */
export async function refused(cluster, status, method, path, body, headers) {
  const answer = await ask(cluster, method, path, body, headers);
  assert.equal(answer.status, status, `${method} ${path}: ${answer.body}`);
  const envelope = JSON.parse(answer.body);
  assert.deepEqual([envelope.success, envelope.result], [false, null]);
  assert.ok(envelope.errors.every(({ code, message }) => code >= 1000 && message));
  return envelope;
}

/** Sends one request of the API, by the owner unless `headers` say otherwise. */
export async function ask(cluster, method, path, body, headers = OWNER) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await cluster.send(cluster.isolates[0].name, {
    host: "localhost",
    path: `${API}/${path}`,
    method,
    headers: {
      "content-type": "application/json",
      // Node would send the body of a DELETE without its length.
      ...(text && { "content-length": String(Buffer.byteLength(text)) }),
      ...headers,
    },
    body: text,
  });
  assert.match(answer.headers["cache-control"], /no-store/);
  return answer;
}

/** Reads the lines of a stream of numbers that are complete. They must be as they are described. */
export function liveLines({ status, headers, text }) {
  const body = text.slice(0, text.lastIndexOf("\n") + 1);
  const request = { host: "localhost", path: "/_waiting-room/live?rooms=" };
  checkDescribed(request, { status, headers, body });
  return body.split("\n").slice(0, -1).map((line) => JSON.parse(line));
}
