/**
 * What is compared with a bare pass-through, what each answer must look like, and what the project
 * promises of it. It measures nothing.
 */

/** The yardstick. */
export const REFERENCE = "pass-through";
/** The same Worker again: how far its ratio is from 1 is the noise of the run. */
export const CONTROL = "pass-through-again";
export const QUEUE_IT = "queue-it";

/**
 * @typedef {object} Variant
 * @property {string} name
 * @property {string} service which Worker is asked
 * @property {string} title for the table
 * @property {"origin" | "page"} answer who answers: the origin, or the Worker with a full page
 * @property {boolean} cookie true if every answer must set a cookie
 * @property {boolean} [background] true if the requests let objects work meanwhile
 * @property {(visitors: object, ms: number) => Promise<string[]> | string[]} requests
 * @property {{ value: "throughput" | "cpu", goal: number, stretch?: number, gate: number }} [promise]
 */

/** @type {Variant[]} */
export const VARIANTS = [
  {
    name: CONTROL,
    service: CONTROL,
    title: "pass-through again (noise)",
    answer: "origin",
    cookie: false,
    requests: (visitors, ms) => visitors.unchanged(ms),
  },
  {
    name: "admitted",
    service: "waiting-room",
    title: "admitted, unchanged ticket",
    answer: "origin",
    cookie: false,
    requests: (visitors, ms) => visitors.unchanged(ms),
    promise: { value: "throughput", goal: 0.88, stretch: 0.95, gate: 0.8 },
  },
  {
    name: "renewed",
    service: "waiting-room",
    title: "admitted, ticket renewed",
    answer: "origin",
    cookie: true,
    requests: (visitors) => visitors.renewing(),
    promise: { value: "throughput", goal: 0.7, gate: 0.65 },
  },
  {
    name: "early",
    service: "waiting-room",
    title: "queued, page (not due)",
    answer: "page",
    cookie: false,
    requests: (visitors) => visitors.early(),
    promise: { value: "cpu", goal: 0.55, gate: 0.65 },
  },
  {
    name: "due",
    service: "waiting-room",
    title: "queued, page (counted)",
    answer: "page",
    cookie: true,
    requests: (visitors) => visitors.due(),
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

/** Admitted visits in the time of one of Queue-it's. */
export const AGAINST_QUEUE_IT = { variant: "admitted", goal: 1.4, gate: 1.3 };

/** What the gates need, and no more. */
export const GATED = VARIANTS.filter(
  ({ name, promise }) => promise || name === CONTROL || name === QUEUE_IT,
);
