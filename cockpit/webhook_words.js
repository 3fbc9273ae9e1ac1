// The fields of a webhook's form, and what is said of a webhook and its messages.
import { count, moment } from "./facts.js";

const FORMATS = [
  { value: "json", label: "JSON, signed" },
  { value: "slack", label: "Slack" },
  { value: "pagerduty", label: "PagerDuty" },
  { value: "email", label: "E-mail" },
];
/** How the address of a webhook begins that sends e-mails. */
const MAILTO = "mailto:";
/** What a webhook can report: by the API's names. */
const TOPICS = {
  queueing: "Visitors begin to wait, and nobody waits any more",
  event: "An event’s phases",
  told_wait: "A long shown wait",
  limit: "More inside than the limit",
  hold: "Held for a minute, by you or by an event",
  save: "The room’s state cannot be stored",
  quota: "80 and 95 % of your plan are used (only with USAGE_TOKEN)",
  turn: "A visitor’s turn is near: says what that one has typed for it",
};
/** The topic that must be chosen on purpose: its messages hold addresses of visitors. */
const TURN = "turn";
const SHORT_TOPICS = {
  queueing: "waiting",
  event: "events",
  told_wait: "long waits",
  limit: "the limit",
  hold: "holds",
  save: "storage",
  quota: "the plan",
  turn: "turns",
};
/** What a message became, by the API's states. */
const STATES = { delivered: "delivered", retrying: "not taken yet", given_up: "given up" };
const DESCRIPTION = { name: "description", label: "Description", type: "text", help: "For you." };
const FORMAT = { name: "format", label: "Format", type: "select", options: FORMATS };
const ADDRESS = {
  name: "url",
  label: "Address",
  type: "url",
  isSecret: true,
  help: "https, and a public name. Only the name is shown later.",
};
const MAILBOX = {
  name: "url",
  label: "E-mail address",
  type: "text",
  help:
    "At most one e-mail in 5 minutes. Your deployment needs the binding EMAIL and the variable " +
    "EMAIL_FROM (docs/webhooks.md).",
};
const ROUTING_KEY = {
  name: "routing_key",
  label: "Integration key",
  type: "text",
  isSecret: true,
  help: "Of an Events API v2 integration of your PagerDuty service. It is never shown again.",
};
const BOUND = {
  name: "told_wait_minutes",
  label: "A shown wait is long above, in minutes",
  type: "number",
};

/** What a form begins with. */
export const EMPTY = {
  description: "",
  format: "json",
  url: "",
  routing_key: "",
  told_wait_minutes: "30",
  ...Object.fromEntries(Object.keys(TOPICS).map((topic) => [topic, topic !== TURN])),
};

/**
 * The fields of the form: PagerDuty's address is known, and it alone has a key; only your own
 * server is told of turns.
 */
export function fieldsOf({ format, told_wait: hasBound }) {
  const offered = Object.entries(TOPICS).filter(([name]) => name !== TURN || format === "json");
  const topics = offered.map(([name, label], at) => ({
    name,
    label,
    type: "checkbox",
    ...(at === 0 && { title: "Tell of" }),
  }));
  const target = { pagerduty: ROUTING_KEY, email: MAILBOX }[format] ?? ADDRESS;
  return [FORMAT, target, DESCRIPTION, ...topics, ...(hasBound ? [BOUND] : [])];
}

/** What the API takes of a form's fields. */
export function writtenOf(body) {
  const isTopic = ([name]) => name in TOPICS;
  const topics = Object.entries(body).filter(isTopic);
  const rest = Object.entries(body).filter((field) => !isTopic(field));
  const chosen = topics.filter(([, isChosen]) => isChosen).map(([name]) => name);
  const { url, ...written } = Object.fromEntries(rest);
  const isBare = body.format === "email" && url && !url.startsWith(MAILTO);
  const address = url === undefined ? {} : { url: isBare ? MAILTO + url.trim() : url };
  return { ...written, ...address, topics: chosen };
}

/** What a webhook is told of, and how. */
export function summary({ format, topics, told_wait_minutes: minutes, pending }) {
  const { label } = FORMATS.find(({ value }) => value === format) ?? { label: format };
  const told = topics.map((topic) =>
    topic === "told_wait" ? `waits above ${minutes} min` : (SHORT_TOPICS[topic] ?? topic),
  );
  const waits = pending > 0 ? ` ${count(pending, "message")} not taken yet.` : "";
  return `${label}. Told of ${told.join(", ")}.${waits}`;
}

/** What became of a message: "delivered at 12:00 (test)". */
export function delivery(attempt) {
  return attempt.state === "delivered" ? ending(attempt) : failure(attempt);
}

/** The same of one that was not taken, with the reason. */
export function failure(attempt) {
  const { error, http_status: status, attempts } = attempt;
  const answer = status ? `, answered with ${status}` : "";
  const tries = `after ${count(attempts, "attempt")}`;
  return `${ending(attempt)} ${tries}: ${error}${answer}`;
}

function ending({ state, at, type }) {
  return `${STATES[state] ?? state} on ${moment(at)} (${type.replaceAll("_", " ")})`;
}
