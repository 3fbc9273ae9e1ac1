/**
 * A reader of transparency logs that shares no code with the product: RFC 9162 by another
 * implementation, signatures by Node, paths and texts as the specifications have them.
 */

import assert from "node:assert/strict";
import { createHash, createPublicKey, verify } from "node:crypto";

import rfc9162 from "@transmute/rfc9162";

const { RFC9162 } = rfc9162;
/** What stands before a key of Ed25519 in its DER form. */
const DER_HEAD = Buffer.from("302a300506032b6570032100", "hex");
const WIDTH = 256;

/** Reads a signed checkpoint; throws if the key has not signed it. */
export function opened(vkey, note) {
  // The key in base64 may have a plus too.
  const [, name, id, key] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey);
  const [text, signatures] = note.split("\n\n");
  const [origin, size, root] = text.split("\n");
  assert.equal(origin, name);
  const bytes = Buffer.from(key, "base64");
  const digest = createHash("sha256").update(`${name}\n`).update(bytes).digest();
  assert.equal(digest.subarray(0, 4).toString("hex"), id);
  assert.equal(bytes[0], 1, "a key of Ed25519");
  const line = signatures.split("\n").find((one) => one.startsWith(`— ${name} `));
  const signature = Buffer.from(line.slice(`— ${name} `.length), "base64");
  assert.equal(signature.subarray(0, 4).toString("hex"), id);
  const der = Buffer.concat([DER_HEAD, bytes.subarray(1)]);
  const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
  const isGood = verify(null, Buffer.from(`${text}\n`), publicKey, signature.subarray(4));
  assert.ok(isGood, "the signature is good");
  return { origin, size: Number(size), root: Buffer.from(root, "base64") };
}

/** The entries of a bundle. */
export function entriesIn(bundle) {
  const entries = [];
  let at = 0;
  while (at < bundle.length) {
    const length = bundle.readUInt16BE(at);
    entries.push(bundle.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return entries;
}

/** Whether these entries (buffers) are those of a checkpoint, in their order. */
export async function areThose(entries, { size, root }) {
  return entries.length === size && RFC9162.verifyTree(root, entries.map(plain));
}

/** Reads a receipt, and whether its entry is in the tree of its checkpoint. */
export async function proved(vkey, text) {
  const [head, ...rest] = text.split("\n\n");
  const [version, extra, index, ...hashes] = head.split("\n");
  assert.equal(version, "c2sp.org/tlog-proof@v1");
  const told = JSON.parse(Buffer.from(extra.slice("extra ".length), "base64").toString());
  const checkpoint = opened(vkey, rest.join("\n\n"));
  const proof = {
    log_id: "",
    tree_size: checkpoint.size,
    leaf_index: Number(index.slice("index ".length)),
    inclusion_path: hashes.map((hash) => plain(Buffer.from(hash, "base64"))),
  };
  const leaf = await RFC9162.leaf(plain(Buffer.from(told.leaf)));
  const isThere = await RFC9162.verifyInclusionProof(plain(checkpoint.root), leaf, proof);
  return { ...told, index: proof.leaf_index, checkpoint, isThere };
}

/** Whether hashes prove that one checkpoint is of the beginning of another's log. */
export async function areOfOneLog(older, newer, hashes) {
  const path = hashes.map((hash) => plain(Buffer.from(hash, "base64")));
  // RFC 9162, 2.1.4.2, step 2: the library leaves it to its caller.
  const isWhole = Number.isInteger(Math.log2(older.size));
  const proof = {
    log_id: "",
    tree_size_1: older.size,
    tree_size_2: newer.size,
    consistency_path: isWhole ? [plain(older.root), ...path] : path,
  };
  return RFC9162.verifyConsistencyProof(plain(older.root), plain(newer.root), proof);
}

/** The paths of the bundles of entries of a small log. */
export function bundlesOf(size) {
  assert.ok(size < 1_000 * WIDTH);
  return Array.from({ length: Math.ceil(size / WIDTH) }, (_, number) => {
    const width = Math.min(WIDTH, size - number * WIDTH);
    const partial = width < WIDTH ? `.p/${width}` : "";
    return `tile/entries/${String(number).padStart(3, "0")}${partial}`;
  });
}

const plain = (buffer) => new Uint8Array(buffer);
