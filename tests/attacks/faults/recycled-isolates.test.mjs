/**
 * Every request meets a fresh isolate: what one remembers is gone after each answer, with its
 * report or even without it.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../../harness/cluster-test.mjs";
import { PLACES, lineRoom, playLine } from "../../harness/line.mjs";
import { visitorInside } from "../../harness/visitor.mjs";

const BROWSE_MS = 17_000;
const LOOKS = 6;

for (const [when, RECYCLED] of Object.entries({ "after": "late", "before": "early" })) {
  const options = { rooms: [lineRoom], colos: { AMS: 2, NRT: 2 }, vars: { RECYCLED } };

  clusterTest(`isolates are recycled ${when} each report: the line`, options, (cluster) =>
    playLine(cluster, { overtaking: RECYCLED === "late" ? PLACES - 1 : Infinity }),
  );

  clusterTest(`isolates are recycled ${when} each report: somebody inside`, options, inside);
}

async function inside(cluster) {
  const guest = await visitorInside(cluster, lineRoom);
  for (let at = 0; at < LOOKS; at += 1) {
    await cluster.advance(BROWSE_MS);
    assert.equal((await guest.visit()).kind, "origin", `queued after ${at} more visits`);
  }
}
