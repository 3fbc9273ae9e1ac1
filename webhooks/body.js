// What is sent to a webhook: the body in its format, and the headers that sign it, after the
// Standard Webhooks specification (https://www.standardwebhooks.com).

/** What secrets begin with. */
const SECRET_PREFIX = "whsec_";
/** How urgent PagerDuty is told that something is; what is not named is of no urgency. */
const SEVERITIES = {
  save_failed: "critical",
  limit_exceeded: "error",
  told_wait_above: "warning",
  quota_reached: "error",
};
/** What ends something that another kind has begun. */
const ENDS = [
  "queueing_stopped",
  "event_ended",
  "told_wait_below",
  "limit_kept",
  "hold_ended",
  "save_works",
  "quota_renewed",
];
/** The formats whose receivers take the last message about something for its present state. */
const LAST_COUNTS = ["pagerduty", "slack"];
/** A message that is sent later than this after its notice says when that was, in milliseconds. */
const LATE_MS = 60_000;
/** What is counted of a plan, in words. */
const QUOTAS = { requests: "requests", object_calls: "calls of objects" };

/**
 * Writes the body of a message to a webhook, as it is sent at `now`.
 *
 * @param {object} message
 * @param {object} webhook as the registry knows it
 * @param {{ id: string, zone: string, name: string }} room
 */
export function bodyOf({ id, notice }, webhook, room, now) {
  const { format } = webhook.fields;
  const summary = sentence(notice, room.name);
  if (format === "slack") {
    // Slack shows the time of its arrival alone.
    const noticed = now - notice.at > LATE_MS ? ` (${minuteOf(notice.at)})` : "";
    return JSON.stringify({ text: `${escaped(summary)}${noticed}` });
  }
  if (format === "pagerduty") return JSON.stringify(event(notice, webhook, room, summary));
  const timestamp = new Date(notice.at).toISOString();
  return JSON.stringify({ id, type: notice.kind, timestamp, summary, data: data(notice, room) });
}

/**
 * Says what a message is about, and whether it ends that, if its receiver takes the last message
 * for the present state. Returns nothing for other formats.
 */
export function aboutOf({ notice }, webhook) {
  if (!LAST_COUNTS.includes(webhook?.fields.format)) return undefined;
  return { thing: thingOf(notice, webhook), ends: ENDS.includes(notice.kind) };
}

/** Writes a moment in minutes: `2026-11-24 18:00 UTC`. */
export function minuteOf(at) {
  const text = new Date(at).toISOString().replace("T", " ");
  return `${text.slice(0, "2026-01-01 00:00".length)} UTC`;
}

/**
 * Writes the body of a message about a visitor whose turn is in so many minutes. It alone says
 * something of a visitor: what that one has typed for it.
 */
export function turnBody({ id, contact, at }, minutes, room) {
  return JSON.stringify({
    id: turnId(id),
    type: "turn_near",
    timestamp: new Date(at).toISOString(),
    summary: `Waiting room ${room.name}: a visitor's turn is in about ${minutes} min.`,
    data: {
      room_id: room.id,
      room_name: room.name,
      zone_id: room.zone,
      visitor: id,
      contact,
      minutes,
    },
  });
}

/** The id of a message about a visitor: the same whoever tells of that one, and however often. */
export function turnId(visitor) {
  return `msg_${visitor}`;
}

/**
 * Returns the headers of a request that is sent at `now`. The signature is the HMAC-SHA-256 of id,
 * timestamp and body, joined by dots.
 */
export async function headersOf(id, body, secret, now) {
  const timestamp = String(Math.floor(now / 1_000));
  const text = atob(secret.slice(SECRET_PREFIX.length));
  const bytes = Uint8Array.from(text, (one) => one.charCodeAt(0));
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
  return {
    "content-type": "application/json",
    "user-agent": "waiting-room-webhooks/1",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${btoa(String.fromCharCode(...mac))}`,
  };
}

function data({ numbers, event, bound_s, quota }, room) {
  return {
    room_id: room.id,
    room_name: room.name,
    zone_id: room.zone,
    event_id: event?.id ?? null,
    event_name: event?.name ?? null,
    active_users: numbers.active,
    queued_users: numbers.waiting,
    told_wait_seconds: numbers.told_wait_s,
    told_wait_bound_seconds: bound_s,
    total_active_users: numbers.active_limit,
    new_users_per_minute: numbers.new_limit,
    ...(quota && {
      quota_of: quota.of,
      quota_used: quota.used,
      quota_limit: quota.limit,
      quota_percent: quota.percent,
      quota_period: quota.period,
    }),
  };
}

/**
 * An event of PagerDuty's Events API v2: what begins triggers an incident, and what ends it
 * resolves that one.
 */
function event(notice, webhook, room, summary) {
  const { kind, at } = notice;
  return {
    routing_key: webhook.fields.routing_key,
    event_action: ENDS.includes(kind) ? "resolve" : "trigger",
    dedup_key: `${room.id}/${thingOf(notice, webhook)}`,
    payload: {
      summary,
      source: room.name,
      severity: SEVERITIES[kind] ?? "info",
      timestamp: new Date(at).toISOString(),
      component: "waiting room",
      class: kind,
      custom_details: data(notice, room),
    },
  };
}

/** Names what a notice is about. A beginning and its end have the same name. */
function thingOf({ topic, event: of, quota }, webhook) {
  const things = { event: of?.id, quota: `${webhook.id}/${quota?.of}` };
  return `${topic}/${things[topic] ?? webhook.id}`;
}

/** Slack's three characters that would be markup. */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Says in one sentence what has happened in a room. */
export function sentence({ kind, numbers, event, bound_s, quota }, room) {
  const { active, waiting, told_wait_s, active_limit } = numbers;
  const wait = `${Math.ceil(told_wait_s / 60)} min`;
  const longest =
    told_wait_s === null
      ? "nobody enters while the room is held"
      : `the longest shown wait is ${wait}`;
  const inside = `${active} of ${active_limit} inside`;
  const named = event && `event ${event.name}`;
  const said = {
    test: () => `a test. ${inside}, ${waiting} in line.`,
    queueing_started: () =>
      `visitors wait. ${waiting} in line, ${longest}; ${inside}.`,
    queueing_stopped: () => `nobody waits. ${inside}.`,
    event_prequeue: () => `the prequeue of ${named} has begun. ${waiting} in line.`,
    event_started: () => `${named} has started. ${waiting} in line.`,
    event_ended: () => `${named} is over. ${active} inside, ${waiting} in line.`,
    told_wait_above: () =>
      `visitors are shown a wait of up to ${wait}, more than ${bound_s / 60} min. ` +
      `${waiting} in line.`,
    told_wait_below: () => `the longest shown wait is ${wait}, well below ${bound_s / 60} min.`,
    limit_exceeded: () =>
      `${active} visitors are inside, the limit is ${active_limit}. After a limit was lowered ` +
      `that is so until sessions end.`,
    limit_kept: () => `${active} visitors are inside, within the limit of ${active_limit}.`,
    hold_started: () =>
      `it is held${event ? ` while ${named} is on` : ""}: nobody new enters. ${waiting} in line, ` +
      `${inside}.`,
    hold_ended: () => `it is not held any more. ${waiting} in line, ${inside}.`,
    save_failed: () =>
      "its state cannot be stored, so newcomers get what when_silent says. Look at the log.",
    quota_reached: () =>
      `${quota.percent} % of the ${QUOTAS[quota.of]} of your plan are used in ${quota.period}, ` +
      `${quota.used} of ${quota.limit}. This counts for the whole account.`,
    quota_renewed: () => `${quota.period} has begun, and a new quota of ${QUOTAS[quota.of]}.`,
    save_works: () => "its state can be stored again.",
  };
  return `Waiting room ${room}: ${said[kind]()}`;
}
