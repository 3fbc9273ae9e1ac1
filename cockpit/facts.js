// What is in force in a room and how it is going, in words and numbers for the owner.
import { QUEUEING_METHODS } from "./choices.js";

const numbers = new Intl.NumberFormat();
const times = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const DAY = { weekday: "short", day: "numeric", month: "short" };
const CLOCK = { hour: "2-digit", minute: "2-digit" };
const SECONDS = { second: "2-digit" };
const ZONE = { timeZoneName: "short" };
const written = (parts) => new Intl.DateTimeFormat(undefined, parts);
/** Writes moments of this year with these parts, and those of another one with the year. */
const dated = (parts) => {
  const [ofThisYear, ofAnother] = [parts, { ...parts, year: "numeric" }].map(written);
  const isOfThisYear = (at) => at.getFullYear() === new Date().getFullYear();
  return { format: (at) => (isOfThisYear(at) ? ofThisYear : ofAnother).format(at) };
};
const moments = dated({ ...DAY, ...CLOCK, ...ZONE });
const exactMoments = dated({ ...DAY, ...CLOCK, ...SECONDS, ...ZONE });
const clocks = written(CLOCK);
const exactClocks = written({ ...CLOCK, ...SECONDS });
const days = dated(DAY);
/** A moment as the API writes it, in the middle of a sentence. */
const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/g;
/** From this age on, in milliseconds, numbers count as old. */
const OLD_MS = 5_000;

export const number = (value) => numbers.format(value);
export const timeOfDay = (ms) => times.format(ms);

/** Writes a moment where the owner is; with the seconds where it has any. */
export function moment(text) {
  const at = new Date(text);
  return (at.getSeconds() === 0 ? moments : exactMoments).format(at);
}

/** Writes a moment of these days: the time alone where it is today's. */
export function clock(text, now = Date.now()) {
  const at = new Date(text);
  const time = (at.getSeconds() === 0 ? clocks : exactClocks).format(at);
  return days.format(at) === days.format(new Date(now)) ? time : `${days.format(at)}, ${time}`;
}

/** Writes all moments of a sentence of the API where the owner is. */
export const localized = (sentence) => sentence.replace(ISO, (found) => moment(found));

/** Writes a moment as a field for the time where the owner is takes it. */
export function localTime(text) {
  const at = new Date(text);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, at.getSeconds() === 0 ? 16 : 19);
}

/** Writes "1 visitor" or "5 visitors". */
export function count(value, one, many = `${one}s`) {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** The limits, the session and the method that count now: the event's, or the room's. */
export function inForce(room, event) {
  const value = (field) => event?.[field] ?? room[field];
  return {
    limit: value("total_active_users"),
    perMinute: value("new_users_per_minute"),
    sessionMinutes: value("session_duration"),
    method: value("queueing_method"),
    limitsAreOfEvent: event !== undefined && event.total_active_users !== null,
  };
}

/** Whether its owner holds a room by hand. */
export function isHeldByHand({ queue_all: holds, maintenance }) {
  return holds || maintenance !== "off";
}

/** The name of a method of queueing. */
export function methodName(method) {
  return QUEUEING_METHODS[method] ?? method;
}

/**
 * Says how a room is going: `{ word, sentence, level }`, where the level is "good", "look" (some
 * wait), "act" (nobody enters, or the room does nothing) or "unknown".
 */
export function status(room, event, numbersNow) {
  const state = (level, word, sentence) => ({ level, word, sentence });
  if (room.suspended) {
    return state("act", "Disabled", "Everybody passes, uncounted.");
  }
  if (room.maintenance === "hold") {
    return state("act", "Maintenance", "Everybody sees the queue page, visitors inside too.");
  }
  if (room.maintenance === "drain") {
    return state("act", "Draining", "Nobody new enters, and sessions end without renewal.");
  }
  if (room.queue_all) {
    return state("act", "Hold all", "Nobody new enters; visitors inside go on.");
  }
  if (event?.queue_all) {
    const end = moment(event.event_end_time);
    return state("act", "Hold all", `The event lets nobody in before ${end}.`);
  }
  if (!numbersNow) return state("unknown", "No numbers yet", "");
  const { method, limit, perMinute } = inForce(room, event);
  if (numbersNow.status === "event_prequeueing") {
    const starts = event ? ` ${moment(event.event_start_time)}` : "";
    return state("look", "Pre-queueing", `Everybody new waits until the event starts.${starts}`);
  }
  if (method === "reject") {
    return state("act", "Rejecting", "Nobody new enters, and the queue page says so.");
  }
  if (method === "passthrough") {
    return state("look", "Not queueing", "Everybody enters and is counted; limits hold nobody up.");
  }
  // The API's word can be older than its numbers, and people who wait are no room without a queue.
  const { estimated_total_active_users: inside, estimated_queued_users: waiting } = numbersNow;
  if (numbersNow.status === "queueing" || waiting > 0 || inside >= limit) {
    return state("look", "Queueing", whyQueueing(numbersNow, limit, perMinute));
  }
  return state("good", "Not queueing", "Newcomers enter at once.");
}

/** Which of the two limits makes people wait. */
function whyQueueing({ estimated_total_active_users: inside }, limit, perMinute) {
  return inside >= limit
    ? "All places are taken: the next enters when a session ends."
    : `Those in line are called in their turn, at most ${number(perMinute)} a minute.`;
}

/** Says how old numbers of the moment `at` are: `{ text, isOld }`. */
export function age(at, now, problem) {
  if (at === undefined) {
    return { text: problem ? "no numbers" : "asking", isOld: problem !== undefined };
  }
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  const isOld = now - at > OLD_MS;
  return { text: isOld ? `no news for ${duration(seconds)}` : `${seconds} s ago`, isOld };
}

/** Writes a number of seconds for people. */
export function duration(seconds) {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3_600) return `${Math.round(seconds / 3_600)} h`;
  return count(Math.round(seconds / 86_400), "day");
}

/** The wait that people are shown, for a line of the API's numbers; of a hold nobody knows. */
export function wait({ held_by: why, held_until: until, ...numbers }) {
  if (until) return `until ${clock(until)}`;
  if (why) return why === "reject" ? "no time: rejecting" : "no time: held";
  const { max_estimated_time_minutes: minutes, estimated_queued_users: waiting } = numbers;
  if (minutes > 0) return count(minutes, "min", "min");
  // Whoever stands in line waits a minute at least: just after a start nobody has worked it out.
  return waiting > 0 && numbers.status === "queueing" ? "not known yet" : "none";
}

/** Names the next change by an event: `{ what, at }`; nothing without one. */
export function nextEvent(room, event, now) {
  if (event) {
    const starts = new Date(event.event_start_time).getTime() > now;
    return starts
      ? { what: "starts", at: event.event_start_time }
      : { what: "ends", at: event.event_end_time };
  }
  const prequeue = room.next_event_prequeue_start_time;
  const start = room.next_event_start_time;
  if (prequeue && new Date(prequeue).getTime() > now) return { what: "prequeue", at: prequeue };
  return start ? { what: "starts", at: start } : undefined;
}

/** The address of a room for a browser; nothing where a route is a pattern. */
export function addressOf({ host, path }, { protocol, port }) {
  if (host.includes("*")) return undefined;
  const isLocal = host === "localhost" || host.endsWith(".localhost");
  return `${protocol}//${host}${isLocal && port ? `:${port}` : ""}${path}`;
}
