// What the webhooks of a room are to be told: from what was told and what is seen of the room now.
// Pure: the time and all that is seen come in, what is to be told goes out.
import { OFF, dueAt, lookAgainAt, turned } from "./switch.js";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/**
 * How long a fact must be until it is told, and how long it must not be until that is told: a line
 * that comes and goes is one line. That nothing can be stored is told at once.
 */
const DELAYS = {
  queueing: { riseMs: 15 * SECOND_MS, fallMs: 3 * MINUTE_MS },
  told_wait: { riseMs: 30 * SECOND_MS, fallMs: 2 * MINUTE_MS },
  limit: { riseMs: 2 * MINUTE_MS, fallMs: 2 * MINUTE_MS },
  hold: { riseMs: MINUTE_MS, fallMs: MINUTE_MS },
  save: { riseMs: 0, fallMs: MINUTE_MS },
};
/** The part of its bound, in hundredths, below which a told wait must fall to be over. */
const BELOW_PERCENT = 80;
/** Above this part of the limit, in hundredths, it is exceeded: counts are estimates. */
const ABOVE_PERCENT = 105;
/** What begins and ends by topic. Receivers know these names. */
const KINDS = {
  queueing: ["queueing_started", "queueing_stopped"],
  told_wait: ["told_wait_above", "told_wait_below"],
  limit: ["limit_exceeded", "limit_kept"],
  hold: ["hold_started", "hold_ended"],
  save: ["save_failed", "save_works"],
};
const SWITCHES = ["queueing", "limit", "hold", "save"];

/** What is told of a room whose webhooks were told nothing. */
const NOTHING = {
  hooks: [],
  queueing: OFF,
  limit: OFF,
  hold: OFF,
  save: OFF,
  waits: {},
  event: null,
};

/**
 * Looks at a room. Returns what is told from now on (the argument `told` of the next look), the
 * messages to send, and whether anything of `told` has changed.
 *
 * @param {object | undefined} told what the last look has returned
 * @param {object} sight what the room's object has seen, see `watch.rs` of the core
 */
export function watched(told, sight) {
  const known = knowing(told, sight.hooks ?? []);
  const next = { ...known, waits: {} };
  const notices = eventNotices(known.event, sight.event);
  next.event = sight.event;
  const facts = factsOf(sight);
  const turn = (topic, state, is) => {
    const { changed, ...kept } = turned(state, sight.now, is, DELAYS[topic]);
    return [kept, changed ? [{ topic, kind: KINDS[topic][is ? 0 : 1], event: sight.event }] : []];
  };
  for (const topic of SWITCHES) {
    const [kept, found] = turn(topic, known[topic], facts[topic]);
    next[topic] = kept;
    notices.push(...found);
  }
  const messages = [];
  for (const hook of sight.hooks ?? []) {
    messages.push(...notices.filter(({ topic }) => hook.topics.includes(topic)).map(of(hook)));
    if (!hook.topics.includes("told_wait")) continue;
    const state = known.waits[hook.id] ?? OFF;
    const bound = hook.told_wait_minutes * 60 * (state.told ? BELOW_PERCENT / 100 : 1);
    // While nobody enters no time is told: what was told before is not over.
    const isLong = sight.told_wait_s === null ? state.told : sight.told_wait_s > bound;
    const [kept, found] = turn("told_wait", state, isLong);
    next.waits[hook.id] = kept;
    messages.push(...found.map(of(hook)));
  }
  return { told: next, messages, changed: JSON.stringify(next) !== JSON.stringify(told) };
}

/**
 * When the room must be looked at again, if nobody looks before; `Infinity` for never. While
 * something is told that a webhook wants to know the end of, that is 1 to 3 minutes after `now`.
 */
export function lookAt(told, sight, now) {
  const isWanted = (topic) => sight.hooks?.some(({ topics }) => topics.includes(topic));
  const next = (topic) => {
    const state = told[topic] ?? OFF;
    return isWanted(topic) ? lookAgainAt(state, now, DELAYS[topic]) : dueAt(state, DELAYS[topic]);
  };
  // Only webhooks that name the topic have one.
  const waiting = Object.values(told.waits).map((one) => lookAgainAt(one, now, DELAYS.told_wait));
  return Math.min(...SWITCHES.map(next), ...waiting, sight.change_at ?? Infinity);
}

/** The numbers of a room that each message tells. */
export function numbersOf(sight) {
  const { active, waiting, told_wait_s, active_limit, new_limit } = sight;
  return { active, waiting, told_wait_s, active_limit, new_limit };
}

/** What was told to these webhooks. Where all of them are new, nothing was. */
function knowing(told, hooks) {
  const ids = hooks.map(({ id }) => id);
  const isKnown = told?.hooks.some((id) => ids.includes(id));
  return { ...NOTHING, ...(isKnown && told), hooks: ids };
}

function factsOf(sight) {
  const { is_open, is_off, event, active, waiting, active_limit } = sight;
  const isHeld = is_off || (event && !event.is_running);
  return {
    queueing: !isHeld && (!is_open || waiting > 0),
    limit: !is_off && active * 100 > active_limit * ABOVE_PERCENT,
    // An object of the version before does not say.
    hold: sight.is_held ?? false,
    save: sight.is_failing,
  };
}

function eventNotices(before, now) {
  const notices = [];
  const note = (kind, event) => notices.push({ topic: "event", kind, event });
  if (before && before.id !== now?.id) note("event_ended", before);
  const isNew = before?.id !== now?.id || before?.is_running !== now?.is_running;
  if (now && isNew) note(now.is_running ? "event_started" : "event_prequeue", now);
  return notices;
}

/** Makes a notice one for this webhook. */
function of(hook) {
  return ({ topic, kind, event }) => ({
    hook: hook.id,
    topic,
    kind,
    event: event && { id: event.id, name: event.name },
    bound_s: topic === "told_wait" ? hook.told_wait_minutes * 60 : null,
  });
}
