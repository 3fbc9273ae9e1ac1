// What an event does when, what its buttons change, and whether all is ready for it.
import { heldBy } from "./actions.js";
import { pathOf } from "./api.js";
import { TURNSTILE_MODES } from "./choices.js";
import { count, duration, isHeldByHand, moment, number } from "./facts.js";
import { rejects, whoLosesAfter, whoLosesByChange } from "./rejected.js";
import { objects } from "../scripts/doctor/objects.mjs";
import { keys } from "../scripts/doctor/settings.mjs";

const MINUTE_MS = 60_000;
const LONGER_MINUTES = 15;
/** Shorter prequeues are refused, as at Cloudflare. */
const PREQUEUE_MIN_MS = 5 * MINUTE_MS;
/** Somebody who comes in the prequeue should have the time to. */
const PREPARED_MS = 10 * MINUTE_MS;

const DISABLED = "The room is disabled: everybody passes, and no event changes that.";

const time = (text) => new Date(text).getTime();

/** The moments of an event, in order: `[{ what, at, is }]`, where `is` says whether it is past. */
export function moments(event, now) {
  const all = [
    ["Prequeue", event.prequeue_start_time],
    ["Start", event.event_start_time],
    ["End", event.event_end_time],
  ];
  return all.filter(([, at]) => at).map(([what, at]) => ({ what, at, isPast: time(at) <= now }));
}

/** What an event is doing: `{ level, word, sentence }`, as `status` of a room. */
export function phase(event, now) {
  const state = (level, word, sentence) => ({ level, word, sentence });
  if (isOver(event, now)) return state("unknown", "Over", "");
  if (event.suspended) return state("act", "Disabled", "It is skipped unless you enable it.");
  const next = moments(event, now).find(({ isPast }) => !isPast);
  const left = `in ${duration((time(next.at) - now) / 1_000)}`;
  if (next.what === "End") return state("good", "On", `It ends ${left}.`);
  if (next.what === "Start" && event.prequeue_start_time) {
    return state("look", "Pre-queueing", `Everybody new waits; it starts ${left}.`);
  }
  return state("unknown", "To come", `${next.what} ${left}.`);
}

/** Whether nothing of it is left to come. */
export function isOver(event, now) {
  return time(event.event_end_time) <= now;
}

/** Whether an event has begun and is not over, nor disabled. */
export function isUnderWay(event, now) {
  return !event.suspended && time(event.event_start_time) <= now && !isOver(event, now);
}

/** Whether an event changes the room: from its prequeue on, if it has one, until it is over. */
export function isInForce(event, now) {
  const [{ isPast }] = moments(event, now);
  return !event.suspended && isPast && !isOver(event, now);
}

/** The buttons of an event, as `actionsOf` a room; none for one that is over. */
export function eventActions(room, event, numbers, now) {
  const hasBegun = time(event.event_start_time) <= now;
  if (isOver(event, now)) return [];
  if (event.suspended) return [enabled(room, event, numbers, now)];
  const all = hasBegun ? [] : [startNow(room, event, numbers, now)];
  const end = hasBegun ? stop(room, event, numbers, now) : disabled(room, event, numbers, now);
  return [...all, longer(room, event), end];
}

function startNow(room, event, numbers, now) {
  const patch = { event_start_time: iso(now) };
  const begun = event.prequeue_start_time && now - time(event.prequeue_start_time);
  const isKept = begun >= PREQUEUE_MIN_MS;
  if (event.prequeue_start_time && !isKept) {
    patch.prequeue_start_time = null;
    if (event.shuffle_at_event_start) patch.shuffle_at_event_start = false;
  }
  const lost = whoLosesByChange(event, patch, { room, numbers, now });
  const closed = "The event's settings count within 5 s: its method lets nobody new in.";
  const told = rejects(event, room)
    ? [closed, lost]
    : [...whoEnters(room, event, numbers), whatIsDrawn(event, isKept)];
  return {
    id: "start",
    label: "Start now",
    sentence: room.suspended ? DISABLED : told.filter(Boolean).join(" "),
    path: pathOf(room, event),
    patch,
    disturbs: lost !== "",
  };
}

/** Says who enters once an event has started whose method lets visitors in: sentences. */
function whoEnters(room, event, numbers) {
  const waiting = numbers?.estimated_queued_users;
  const held = heldBy(room, event);
  const counts = held
    ? ["The event's limits count within 5 s.", held]
    : ["The event's limits count, and visitors enter, within 5 s."];
  const when = held && ", once the hold ends";
  return [...counts, waiting && `About ${number(waiting)} in line enter first${when}.`];
}

/** Says what becomes of the draw of an event that starts earlier; "" where it draws nothing. */
function whatIsDrawn(event, isKept) {
  if (!event.shuffle_at_event_start) return "";
  return isKept
    ? "The draw is made anew: a commitment that you have published counts no more."
    : "Without 5 minutes of prequeue nothing is drawn: they enter in the order they came.";
}

function longer(room, event) {
  const end = time(event.event_end_time) + LONGER_MINUTES * MINUTE_MS;
  return {
    id: "longer",
    label: `Extend by ${LONGER_MINUTES} min`,
    sentence: `It ends ${moment(iso(end))}, not ${moment(event.event_end_time)}.`,
    path: pathOf(room, event),
    patch: { event_end_time: iso(end) },
  };
}

function stop(room, event, numbers, now) {
  // An event is a minute long at least: before that it is skipped as well.
  const soonest = time(event.event_start_time) + MINUTE_MS;
  const patch = { event_end_time: iso(Math.max(now, soonest)) };
  if (now < soonest) patch.suspended = true;
  return {
    id: "stop",
    label: "Stop",
    sentence:
      `The room's own settings count again: total active users ` +
      `${number(room.total_active_users)}, new users per minute ` +
      `${number(room.new_users_per_minute)}. Nobody is put out. ${lineAfter(room, numbers)}`,
    path: pathOf(room, event),
    patch,
    disturbs: whoLosesAfter({ room, numbers }) !== "",
  };
}

function disabled(room, event, numbers, now) {
  const isOn = isInForce(event, now);
  const others =
    room.queueing_method === "reject"
      ? isOn && lineAfter(room, numbers)
      : "Those in its prequeue enter by the room's own limits.";
  return {
    id: "off",
    label: "Disable",
    sentence: ["The event is skipped: at its times nothing changes.", others]
      .filter(Boolean)
      .join(" "),
    path: pathOf(room, event),
    patch: { suspended: true },
    disturbs: isOn && whoLosesAfter({ room, numbers }) !== "",
  };
}

/** Says what becomes of those in line once a room's own settings count again after an event. */
export function lineAfter(room, numbers) {
  if (room.queueing_method !== "reject") return "Those in line keep their places.";
  const lost = whoLosesAfter({ room, numbers });
  return ["The room's own method lets nobody new in.", lost].filter(Boolean).join(" ");
}

function enabled(room, event, numbers, now) {
  const patch = { suspended: false };
  const lost = whoLosesByChange(event, patch, { room, numbers, now });
  const begins = "It begins at its time; if that is past, within 5 s.";
  return {
    id: "on",
    label: "Enable",
    sentence: [begins, lost].filter(Boolean).join(" "),
    path: pathOf(room, event),
    patch,
    disturbs: lost !== "",
  };
}

const iso = (ms) => new Date(ms).toISOString();

/**
 * What has to be so for an event: `[{ what, told, verdict, remedy }]`, where a verdict is "ok",
 * "look" or "wrong". `examined` is what the doctor measured, if it has; a token that
 * `isScoped` is not told.
 */
export function checklist({ room, event, examined, isScoped, isLocal, now, numbers }) {
  const lines = [
    isOn(room, event),
    held(room, event),
    limitsOf(room, event),
    prepared(event, now),
    ...insideBefore(room, event, now, numbers),
  ];
  if (isScoped) return [...lines, line("Deployment", "not told to this token", "unknown")];
  if (!examined) return [...lines, line("Deployment", "asking", "look", "")];
  const facts = { samples: [examined], examined: [examined], rooms: [room], isLocal };
  const { problem, notes } = examined.known;
  const served = problem
    ? line("Visitors", "nobody is served", "wrong", `${problem}.`)
    : line("Visitors", "are served", notes.length > 0 ? "look" : "ok", notes.join(" "));
  const judged = [...keys(facts), ...objects(facts)].map(({ what, figure, verdict, remedy }) =>
    line(NAMES.find(([name]) => what.startsWith(name))?.[1] ?? what, figure, verdict, remedy),
  );
  return [...lines, served, ...judged, ...bots(room, event, examined)];
}

/** What the doctor's words are for an owner. */
const NAMES = [
  ["TICKET_KEYS", "Keys of tickets"],
  ["Registry", "Settings are stored"],
  ["GlobalAggregator", "The room's limits are kept"],
  ["DataCenterCounter", "Places are handed out"],
  ["DataCenterAggregator", "Visitors are counted"],
];

const line = (what, told, verdict, remedy = "") => ({ what, told, verdict, remedy });

function isOn(room, event) {
  if (room.suspended) {
    return line("Enabled", "the room is disabled", "wrong", "Enable it on its page: Now.");
  }
  if (event.suspended) return line("Enabled", "the event is disabled", "wrong", "Enable it.");
  return line("Enabled", "room and event", "ok");
}

function held(room, event) {
  const method = event.queueing_method ?? room.queueing_method;
  if (isHeldByHand(room)) {
    return line("Nothing holds the room", "you hold it", "wrong", "Open it on its page: Now.");
  }
  if (event.queue_all) {
    return line("Nothing holds the room", "the event holds it", "look", "Nobody new enters.");
  }
  if (method === "reject") {
    return line("Nothing holds the room", "method reject", "look", "Nobody new enters.");
  }
  return line("Nothing holds the room", "open", "ok");
}

function limitsOf(room, event) {
  const total = event.total_active_users ?? room.total_active_users;
  const rate = event.new_users_per_minute ?? room.new_users_per_minute;
  const method = event.queueing_method ?? room.queueing_method;
  const told = `${number(total)} inside, ${number(rate)} a minute`;
  if (method === "passthrough") {
    return line("Limits", told, "wrong", "The method passthrough holds nobody up.");
  }
  return line("Limits", told, "ok");
}

function prepared(event, now) {
  const { prequeue_start_time: prequeue, event_start_time: start } = event;
  if (!prequeue) {
    const remedy = "Whoever comes before the start enters by the room's own limits.";
    return line("Prequeue", "none", "look", remedy);
  }
  const length = time(start) - time(prequeue);
  const told = count(Math.round(length / MINUTE_MS), "min", "min");
  const draw = event.shuffle_at_event_start ? ", and the order is drawn" : "";
  if (length < PREPARED_MS && time(start) > now) {
    return line("Prequeue", told + draw, "look", "People need some minutes to come.");
  }
  return line("Prequeue", told + draw, "ok");
}

/** Visitors inside when the prequeue begins take the places of those who come for the event. */
function insideBefore(room, event, now, numbers) {
  const { prequeue_start_time: prequeue, event_start_time: start } = event;
  if (!prequeue || time(start) <= now) return [];
  const told = (...rest) => [line("Inside when the prequeue begins", ...rest)];
  const hasBegun = time(prequeue) <= now;
  if (hasBegun && numbers?.estimated_total_active_users === 0) {
    return told("nobody is inside", "ok");
  }
  const [before, during] = [room, event].map((one) => one.session_duration ?? 0);
  const longest = Math.max(before, during);
  const hasTime = time(start) - now > longest * MINUTE_MS;
  if (room.maintenance === "drain" && hasTime) return told("they leave: the room drains", "ok");
  const ends = event.disable_session_renewal ?? room.disable_session_renewal;
  const length = (time(start) - time(prequeue)) / MINUTE_MS;
  if (ends && length > before) {
    const buyers = `buyers are out too, ${during || before} min after they enter`;
    const cost = `Sessions are not renewed: ${buyers}.`;
    return told("they are out at the start", "ok", cost);
  }
  const drain = hasTime
    ? "To start with an empty room, press Drain in the prequeue, more than " +
      `${longest} min before the start, and Open a minute before it.`
    : `A session lasts ${longest} min: it is too late to empty the room before the start.`;
  return told(`they stay, in up to ${number(room.total_active_users)} places`, "look", drain);
}

/** Whether a challenge that is switched on is one: it needs both of Turnstile's keys. */
function bots(room, event, { variables, secrets }) {
  const mode = event.turnstile_mode ?? room.turnstile_mode;
  if (mode === "off") return [];
  const hasKeys = Boolean(variables.turnstile_site_key && secrets.turnstile_secret);
  if (hasKeys) return [line("Bots", `Turnstile: ${TURNSTILE_MODES[mode]}`, "ok")];
  const remedy = "Turnstile is on without its keys: set TURNSTILE_SITE_KEY and TURNSTILE_SECRET.";
  return [line("Bots", "nobody is checked", "look", remedy)];
}
