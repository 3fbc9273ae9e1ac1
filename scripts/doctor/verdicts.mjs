// All that the doctor says about what was measured, in the order in which people read it. Pure: the
// same facts give the same lines.
import { configuration } from "./deployed.mjs";
import { caches, clocks, health, isolates, placement, starts, versions } from "./isolates.mjs";
import { cachesOfObjects, objects, stored } from "./objects.mjs";
import {
  access,
  adminHosts,
  keys,
  limits,
  onFailure,
  routes,
  tokens,
  zones,
} from "./settings.mjs";
import { linesAgainstQuota, objectCalls, objectTime, requests, usedOfPlan } from "./usage.mjs";

const TOPICS = [
  ["The Worker", [health, versions, isolates, placement, starts, clocks]],
  ["Caches", [caches, cachesOfObjects]],
  ["Objects", [objects, stored]],
  ["A day's quota", [requests, objectCalls, objectTime, linesAgainstQuota, usedOfPlan]],
  ["Secrets and hosts", [keys, tokens, access, adminHosts, zones]],
  ["Rooms", [limits, routes, onFailure, configuration]],
];

/** What there is at Cloudflare alone: on its owner's machine it is neither missed nor paid. */
const OF_CLOUDFLARE = ["Caches", "A day's quota"];

/** Judges what `measured` returns: `[{ topic, what, figure, verdict, remedy }]`. */
export function judged(facts) {
  const topics = TOPICS.filter(([topic]) => !facts.isOwn || !OF_CLOUDFLARE.includes(topic));
  return topics.flatMap(([topic, judges]) =>
    judges.flatMap((judge) => judge(facts).map((line) => ({ topic, ...line }))),
  );
}
