// The buttons of a room: what each changes, what it says beforehand, and whether it disturbs people
// who are inside.
import { pathOf } from "./api.js";
import { count, inForce, number } from "./facts.js";

const STEP = 0.1;

/**
 * Lists the buttons of a room: `{ id, label, sentence, path, patch, isInForce, disturbs }`.
 *
 * @param {object} facts
 * @param {object} facts.room
 * @param {object} [facts.event] the event in force
 * @param {object} [facts.numbers] the room's numbers, if there are any
 */
export function actionsOf({ room, event, numbers }) {
  if (room.suspended) return [switchOn(room)];
  const limits = [limitTo("less", room, event, numbers), limitTo("more", room, event, numbers)];
  return [holdAll(room, numbers), open(room, event, numbers), ...limits, ...closing(room, event, numbers)];
}

function switchOn(room) {
  return {
    id: "on",
    label: "Enable",
    sentence:
      "The room counts and holds up visitors again. Those on the site now are new visitors: " +
      `the first ${number(room.total_active_users)} enter, the others wait.`,
    path: pathOf(room),
    patch: { suspended: false },
    // Whoever is on the site may find the queue page at the next click.
    disturbs: true,
  };
}

function holdAll(room, numbers) {
  return {
    id: "hold",
    label: "Hold all",
    sentence: `Nobody new enters. ${goOn(numbers)}; ${keep(numbers)}.`,
    path: pathOf(room),
    patch: { queue_all: true },
    isInForce: room.queue_all,
  };
}

function open(room, event, numbers) {
  const { limit, perMinute } = inForce(room, event);
  const held = room.queue_all || room.maintenance !== "off";
  const first = numbers?.estimated_queued_users > 0 ? ", those in line first" : "";
  const waits = numbers?.status === "event_prequeueing" ? " The prequeue still holds them." : "";
  return {
    id: "open",
    label: "Open",
    sentence:
      `Visitors enter${first}: at most ${number(perMinute)} a minute, until ${number(limit)} are ` +
      `inside.${waits}`,
    path: pathOf(room),
    patch: { queue_all: false, maintenance: "off" },
    isInForce: !held,
  };
}

function limitTo(direction, room, event, numbers) {
  const { limit } = inForce(room, event);
  const step = Math.max(1, Math.round(limit * STEP));
  const to = direction === "less" ? Math.max(1, limit - step) : limit + step;
  const sign = direction === "less" ? "−" : "+";
  return {
    id: direction,
    label: `Limit ${sign}10 %, to ${number(to)}`,
    ...limitsChange(room, event, numbers, { limit: to }),
    isImpossible: to === limit,
  };
}

/**
 * Describes a change of one limit or both: where, what, and what will happen. New users per minute
 * may never be more than the total, so it goes down with it.
 */
export function limitsChange(room, event, numbers, { limit, perMinute }) {
  const now = inForce(room, event);
  const wanted = perMinute ?? now.perMinute;
  const most = Math.min(wanted, limit);
  const patch = {};
  // An event overrides both limits or neither.
  if (limit !== now.limit || now.limitsAreOfEvent) patch.total_active_users = limit;
  if (most !== now.perMinute || now.limitsAreOfEvent) patch.new_users_per_minute = most;
  const sentences = [whatLimitDoes(now, numbers, limit)];
  if (most !== now.perMinute) {
    const rate = `At most ${number(most)} enter a minute, not ${number(now.perMinute)}.`;
    sentences.push(rate);
  }
  if (now.limitsAreOfEvent) sentences.push(`It is the limit of the event "${event.name}".`);
  return {
    sentence: sentences.filter(Boolean).join(" "),
    path: now.limitsAreOfEvent ? pathOf(room, event) : pathOf(room),
    patch,
  };
}

function whatLimitDoes(now, numbers, limit) {
  if (limit === now.limit) return "";
  if (!numbers) return limit < now.limit ? "Nobody is put out." : "More visitors may be inside.";
  const people = numbers.estimated_total_active_users;
  if (people >= limit) {
    const sessions = count(people - limit + 1, "session has", "sessions have");
    return `Nobody is put out. ${number(people)} inside: nobody enters until ${sessions} ended.`;
  }
  const free = count(limit - people, "more visitor");
  return `${limit < now.limit ? "Nobody is put out. " : ""}${free} may enter.`;
}

/** The two that people inside notice. */
function closing(room, event, numbers) {
  const minutes = count(inForce(room, event).sessionMinutes, "minute");
  const leaving = inside(numbers, "is", "are");
  const out = leaving && `: ${leaving} out within ${minutes}, each when the session ends`;
  const seeing = inside(numbers, "sees", "see");
  const see = seeing && `; ${seeing} it at the next click, and sessions go on`;
  return [
    {
      id: "drain",
      label: "Drain",
      sentence: `Nobody new enters, and sessions are not renewed${out}. ${capital(keep(numbers))}.`,
      path: pathOf(room),
      patch: { maintenance: "drain" },
      isInForce: room.maintenance === "drain",
      disturbs: true,
    },
    {
      id: "maintenance",
      label: "Maintenance",
      sentence: `Everybody sees the queue page${see}. ${capital(keep(numbers))}.`,
      path: pathOf(room),
      patch: { maintenance: "hold" },
      isInForce: room.maintenance === "hold",
      disturbs: true,
    },
  ];
}

/** Whether a change of fields disturbs people who are inside. */
export function disturbs({ maintenance, suspended }) {
  return maintenance === "drain" || maintenance === "hold" || suspended !== undefined;
}

/** Names those inside with their verb: "the 184 inside are"; "" for nobody. */
function inside(numbers, one, many) {
  if (!numbers) return `visitors inside ${many}`;
  const people = numbers.estimated_total_active_users;
  if (people === 0) return "";
  return people === 1 ? `the one inside ${one}` : `the ${number(people)} inside ${many}`;
}

function goOn(numbers) {
  return capital(inside(numbers, "goes on", "go on") || "nobody is inside now");
}

function keep(numbers) {
  const waiting = numbers?.estimated_queued_users;
  if (!waiting) return "whoever comes waits in line";
  return waiting === 1
    ? "the one in line keeps the place"
    : `about ${number(waiting)} in line keep their places`;
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
