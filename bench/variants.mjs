/**
 * What is compared with a bare pass-through, what each answer must look like, and what the project
 * wants of it. It measures nothing.
 */

/** The yardstick's name. */
export const REFERENCE = "pass-through";
/** The same Worker again: how far its ratio is from 1 is the noise of the run. */
export const CONTROL = "pass-through-again";
export const QUEUE_IT = "queue-it";

/**
 * @typedef {object} Target what the project wants, and what CI holds
 * @property {"speed" | "cpu"} value the pass-through's CPU time over this one's, or the inverse
 * @property {number} goal
 * @property {number} gate what was reached, less what two runs differ by
 */

/**
 * @typedef {object} Variant
 * @property {string} name
 * @property {string} service which Worker is asked
 * @property {string} title for the table
 * @property {"origin" | "page"} answer who answers: the origin, or the Worker with a full page
 * @property {boolean} cookie true if every answer must set a cookie
 * @property {(visitors: object, ms: number, count: number) => Promise<string[]> | string[]}
 *   requests for `count` visits within so many milliseconds
 * @property {Target} [target]
 * @property {number} [connections] how many are used at the same time, if not the usual number
 * @property {string} [from] the address of this machine from which they come
 */

/** @type {Variant} */
export const PASS_THROUGH = {
  name: REFERENCE,
  service: REFERENCE,
  title: "pass-through (reference)",
  answer: "origin",
  cookie: false,
  requests: (visitors, ms) => visitors.unchanged(ms),
};

/** @type {Variant[]} */
export const VARIANTS = [
  { ...PASS_THROUGH, name: CONTROL, service: CONTROL, title: "pass-through again (noise)" },
  {
    name: "admitted",
    service: "waiting-room",
    title: "admitted, unchanged ticket",
    answer: "origin",
    cookie: false,
    requests: (visitors, ms) => visitors.unchanged(ms),
    target: { value: "speed", goal: 0.95, gate: 0.9 },
  },
  {
    name: "renewed",
    service: "waiting-room",
    title: "admitted, ticket renewed",
    answer: "origin",
    cookie: true,
    requests: (visitors, ms, count) => visitors.renewing(count),
    target: { value: "speed", goal: 0.85, gate: 0.75 },
  },
  {
    name: "uncovered",
    service: "waiting-room",
    title: "no room covers the path",
    answer: "origin",
    cookie: false,
    requests: (visitors) => visitors.elsewhere(),
    target: { value: "speed", goal: 0.98, gate: 0.91 },
  },
  {
    name: "early",
    service: "waiting-room",
    title: "queued, page (not due)",
    answer: "page",
    cookie: false,
    requests: (visitors) => visitors.early(),
    target: { value: "cpu", goal: 0.45, gate: 0.66 },
  },
  {
    name: "due",
    service: "waiting-room",
    title: "queued, page (counted)",
    answer: "page",
    cookie: true,
    requests: (visitors, ms, count) => visitors.due(count),
  },
  {
    name: QUEUE_IT,
    service: "queue-it",
    title: "Queue-it, valid cookie",
    answer: "origin",
    cookie: false,
    requests: (visitors) => visitors.ofQueueIt("queue-it"),
  },
  {
    name: "queue-it-extending",
    service: "queue-it-extending",
    title: "Queue-it, cookie set anew",
    answer: "origin",
    cookie: true,
    requests: (visitors) => visitors.ofQueueIt("queue-it-extending"),
  },
  {
    name: "crowdhandler-from-memory",
    service: "crowdhandler-from-memory",
    title: "CrowdHandler, rooms in memory",
    answer: "origin",
    cookie: true,
    requests: (visitors) => visitors.ofCrowdHandler("crowdhandler-from-memory"),
  },
  {
    name: "crowdhandler",
    service: "crowdhandler",
    title: "CrowdHandler as published",
    answer: "origin",
    cookie: true,
    requests: (visitors) => visitors.ofCrowdHandler("crowdhandler"),
  },
];

/** Admitted visits in the CPU time of one of Queue-it's. */
export const AGAINST_QUEUE_IT = {
  variant: "admitted",
  value: "speed",
  goal: 1.5,
  gate: 1.3,
};

/** What the gates need, and no more. */
export const GATED = VARIANTS.filter(
  ({ name, target }) => target || name === CONTROL || name === QUEUE_IT,
);
