// The buttons of a room: what each changes, what it says beforehand, and whether it disturbs people
// who are inside, or takes places of those in line.
import { pathOf } from "./api.js";
import { count, inForce, isHeldByHand, methodName, moment, number } from "./facts.js";
import { WHO_IS_BACK, afterHold, whoLoses } from "./rejected.js";

const STEP = 0.1;
const HELD = "Nobody enters while you hold the room.";
const MEANWHILE = "Whoever comes meanwhile waits in line.";

/**
 * Lists the buttons of a room: `{ id, label, sentence, path, patch, isInForce, disturbs }`, some
 * with what `apply` takes besides, or `isImpossible`.
 *
 * @param {object} facts
 * @param {object} facts.room
 * @param {object} [facts.event] the event in force
 * @param {object} [facts.numbers] the room's numbers, if there are any
 * @param {object[]} [facts.log] the audit log, newest first
 */
export function actionsOf({ room, event, numbers, log = [] }) {
  const all = room.suspended
    ? [switchOn(room)]
    : [
        holdAll(room, numbers),
        open(room, event, numbers),
        limitTo("less", room, event, numbers),
        limitTo("more", room, event, numbers),
        sale(room, event, numbers, log),
        ...closing(room, event, numbers),
      ];
  return all.map((action) => ({ disturbs: disturbs(action.patch), ...action }));
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
  const { limit, perMinute, method } = inForce(room, event);
  const isHeld = isHeldByHand(room);
  const first = numbers?.estimated_queued_users > 0 ? ", those in line first" : "";
  return {
    id: "open",
    label: "Open",
    sentence: sentences([
      `Visitors enter${first}: at most ${number(perMinute)} a minute, until ${number(limit)} are ` +
        "inside.",
      exception(room, event, numbers),
    ]),
    path: pathOf(room),
    patch: { queue_all: false, maintenance: "off" },
    isInForce: !isHeld && method !== "reject",
    isImpossible: !isHeld && method === "reject",
  };
}

/** Says by whom a room is held, so that nobody enters by any method; "" where it is not. */
export function heldBy(room, event, numbers) {
  return isHeldByHand(room) ? HELD : heldByEvent(event, numbers);
}

function heldByEvent(event, numbers) {
  if (event?.queue_all) return `The event lets nobody in before ${moment(event.event_end_time)}.`;
  if (numbers?.status === "event_prequeueing") return "Nobody enters before the event starts.";
  return "";
}

/** Says where the limits alone do not decide who enters; "" where they do. */
function exception(room, event, numbers) {
  const { method } = inForce(room, event);
  const held = heldByEvent(event, numbers);
  if (held) return held;
  if (method === "reject") return "Nobody enters while the method is reject.";
  if (method === "passthrough") return "With the method passthrough no limit holds anybody up.";
  return "";
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
  const told = [whatLimitDoes(now, numbers, limit)];
  if (most !== now.perMinute) {
    const rate = `At most ${number(most)} enter a minute, not ${number(now.perMinute)}.`;
    told.push(rate);
  }
  told.push(isHeldByHand(room) ? HELD : exception(room, event, numbers));
  if (now.limitsAreOfEvent) told.push(`It is the limit of the event "${event.name}".`);
  return {
    sentence: sentences(told),
    path: now.limitsAreOfEvent ? pathOf(room, event) : pathOf(room),
    patch,
  };
}

/** A room or event whose limits are those of the moment when somebody began to write others. */
export function limitsSeen(owner, { limit, perMinute }) {
  const begun = (field, was) => (owner[field] === null ? {} : { [field]: was });
  return {
    ...owner,
    ...begun("total_active_users", limit),
    ...begun("new_users_per_minute", perMinute),
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

/**
 * Sells out, or where that is so, sells again; both ask, since either can stand where the other one
 * stood. It is the method of the event in force where that has its own, unless the event holds the
 * room until its end: then the room's is the next that counts.
 */
function sale(room, event, numbers, log) {
  const owner = event?.queueing_method && !event.queue_all ? event : undefined;
  const isSoldOut = (owner ?? room).queueing_method === "reject";
  const hold = heldBy(room, event, numbers);
  const facts = { path: pathOf(room, owner), event: owner ? undefined : event, disturbs: true };
  return isSoldOut
    ? { ...facts, ...sellAgain({ room, owner, hold, log }) }
    : { ...facts, ...soldOut({ room, owner, hold, numbers }) };
}

function soldOut({ room, owner, hold, numbers }) {
  const lost = whoLoses(numbers, afterHold(hold), "you press “Sell again”");
  const shown = "whoever comes is told “Not available at the moment”, with your message.";
  const told = hold
    ? [hold, MEANWHILE, lost, `From then on ${shown}`]
    : [`Nobody new enters. ${goOn(numbers)}.`, lost, capital(shown)];
  const until = owner && untilItEnds(room, owner);
  return {
    id: "sold-out",
    label: "Sold out",
    sentence: sentences([...told, until]),
    patch: { queueing_method: "reject" },
    until,
  };
}

function sellAgain({ room, owner, hold, log }) {
  const button = { id: "sell-again", label: "Sell again" };
  const method = methodBefore(room, owner, log);
  if (method === undefined) {
    const place = owner ? `Events, Edit “${owner.name}”` : "Settings";
    const sentence = `The method before is not known any more. Choose another under ${place}.`;
    return { ...button, sentence, patch: {}, isImpossible: true };
  }
  const ofRoom = method === null;
  const name = methodName(ofRoom ? room.queueing_method : method);
  const by = `by the ${ofRoom ? "room's " : ""}method “${name}”`;
  const told = hold
    ? [hold, MEANWHILE, `Then visitors enter ${by}.`]
    : [`Visitors enter again, ${by}.`, WHO_IS_BACK];
  const until = owner && !ofRoom && untilItEnds(room, owner);
  const sentence = sentences([...told, until]);
  return { ...button, sentence, patch: { queueing_method: method }, until };
}

/**
 * The method from before everything was sold out: as the log has it, or else, for an event, none of
 * its own. Nothing where the log does not have it any more: then any would be a guess.
 */
function methodBefore(room, owner, log) {
  const path = pathOf(room, owner);
  const isSale = ({ target, after }) => target === path && after?.queueing_method === "reject";
  const isOpenWithout = owner && room.queueing_method !== "reject";
  return log.find(isSale)?.before?.queueing_method ?? (isOpenWithout ? null : undefined);
}

/** Says until when the method of an event counts, and which one does then. */
function untilItEnds({ queueing_method: method }, { name, event_end_time: end }) {
  const then =
    method === "reject"
      ? "the room's own lets nobody new in"
      : `visitors enter by the room's method “${methodName(method)}”`;
  return `It is the method of the event “${name}” until that ends, ${moment(end)}; then ${then}.`;
}

/** Those that people notice. */
function closing(room, event, numbers) {
  const minutes = count(inForce(room, event).sessionMinutes, "minute");
  const leaving = inside(numbers, "is", "are");
  const out = leaving && `: ${leaving} out within ${minutes}, as sessions end`;
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
    },
    {
      id: "maintenance",
      label: "Maintenance",
      sentence: `Everybody sees the queue page${see}. ${capital(keep(numbers))}.`,
      path: pathOf(room),
      patch: { maintenance: "hold" },
      isInForce: room.maintenance === "hold",
    },
    {
      id: "off",
      label: "Disable",
      sentence: "Everybody passes, uncounted, and those in line go in at once: no limit holds.",
      path: pathOf(room),
      patch: { suspended: true },
    },
  ];
}

/**
 * Whether a change of fields disturbs people who are inside, or takes places of those in line.
 * Where a room is switched on or off, whoever is on the site may find the queue page at the next
 * click.
 */
export function disturbs({ maintenance, suspended, queueing_method: method }) {
  const closes = maintenance === "drain" || maintenance === "hold" || method === "reject";
  return closes || suspended !== undefined;
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

const sentences = (parts) => parts.filter(Boolean).join(" ");
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
