/** How owners make invitations and visitors use them, as docs/invitations.md says. */

import { createHmac, generateKeyPairSync, sign } from "node:crypto";

import { ROOMS, call } from "./api.mjs";
import { askAsApp } from "./place.mjs";

const part = (json) => Buffer.from(JSON.stringify(json)).toString("base64url");

/** Signs the claims of a code with a key, under a header of one's choice. */
export function signed(key, claims, header = { alg: "HS256", typ: "JWT" }) {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
}

/** Makes a pair of keys of an owner who signs codes by EdDSA; `x` is the public one. */
export function ownKeys() {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x } = publicKey.export({ format: "jwk" });
  const signed = (claims, header = { alg: "EdDSA" }) => {
    const text = `${part(header)}.${part(claims)}`;
    return `${text}.${sign(null, Buffer.from(text), privateKey).toString("base64url")}`;
  };
  return { x, publicKey, signed };
}

/** Returns what makes codes of a group of a room: `make({ jti, ...claims })`. */
export async function inviter(cluster, room, group) {
  const path = `${ROOMS}/${room.id}/invitation_keys`;
  const { result } = await call(cluster, "GET", path);
  const { key } = result.find(({ name }) => name === group);
  const exp = Math.floor(cluster.clock.now() / 1_000) + 3_600;
  const claims = { room: room.id, group, exp };
  return { key, claims, make: (more) => signed(key, { ...claims, ...more }) };
}

/** Uses a code as an app; returns the status and what the answer says. */
export function join(visitor, invitation, request) {
  return askAsApp(visitor, { act: "join", invitation }, request);
}
