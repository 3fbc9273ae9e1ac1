// The form of a rehearsal: its fields, the plan that they and the room make, and what is to be said
// of it before it is played.
import { count, limitsText } from "../scripts/rehearse/answer.mjs";
import { planOfRoom } from "../scripts/rehearse/of-room.mjs";
import { PRESETS } from "../scripts/rehearse/presets.mjs";
import { FEW_VISITORS } from "../scripts/rehearse/variants.mjs";
import { moment } from "./facts.js";

/** To play more than these takes minutes and much memory: the command has all processors. */
export const PLAYED_MAX = 200_000;
/** What a form begins with. */
export const INITIAL = {
  event: "",
  visitors: "",
  preset: Object.keys(PRESETS)[0],
  minutes: "4",
  stock: "",
  prequeue_minutes: "",
  begins_at: "",
  find: "",
  seed: "",
};
/** The fields that the simulator names otherwise. */
const FIELD_OF = { "on_site.minutes": "minutes", arrivals: "preset" };
/** A name that a shell leaves as it is. */
const PLAIN = /^[\w-]+$/;

/** The fields that are the same for every room. */
const FIELDS = [
  {
    name: "visitors",
    label: "How many visitors come",
    type: "number",
    help: `All in all. Of over ${count(FEW_VISITORS)} a part is played, if the limits are large.`,
  },
  {
    name: "preset",
    label: "When they come",
    type: "select",
    options: Object.entries(PRESETS).map(([value, label]) => ({ value, label })),
  },
  {
    name: "minutes",
    label: "Minutes on your site",
    type: "number",
    help: "How long a visit takes about, with its checkout.",
  },
  {
    name: "stock",
    label: "Sold out after how many entries",
    type: "number",
    isOptional: true,
    help: "Says when they are in, and how many wait then. The event goes on. Empty: not said.",
  },
  {
    name: "prequeue_minutes",
    label: "Prequeue, in minutes",
    type: "number",
    isOptional: true,
    help:
      "How long before the start people may come; they are held until then. Empty: as the " +
      "event has it, else 30 for a ticket drop and none for any other.",
  },
  {
    name: "begins_at",
    label: "Time of day of the first arrivals",
    type: "time",
    isOptional: true,
    help: "Empty: as the event has it, else minutes are counted.",
  },
  {
    name: "find",
    label: "Search limits: within how many minutes do people enter?",
    type: "number",
    isOptional: true,
    help:
      "Searches the smallest limits with which 95 of 100 enter in time. Whoever gives up in " +
      "line does not. It plays the event about ten times more. Empty: no search.",
  },
  {
    name: "seed",
    label: "Another day of the same kind",
    type: "number",
    isOptional: true,
    help: "Any whole number draws other people. Empty: 1.",
  },
];

/** The fields of the form, with the events that are not over. */
export function fieldsOf(events, now) {
  const coming = events
    .filter((event) => Date.parse(event.event_end_time) > now)
    .toSorted((one, other) => one.event_start_time.localeCompare(other.event_start_time));
  const ofEvent = ({ id, name, event_start_time: start }) => ({
    value: id,
    label: `${name}, ${moment(start)}`,
  });
  return [
    {
      name: "event",
      label: "Event",
      type: "select",
      options: [{ value: "", label: "None: the room as it is" }, ...coming.map(ofEvent)],
      help: "Its limits, session, Turnstile, prequeue and shuffle take the place of the room’s.",
    },
    ...FIELDS,
  ];
}

/** The plan of a room, an event of it where one is chosen, and what the form says. */
export function planOf(room, events, { event: id, preset, minutes, find: _, ...rest }) {
  const event = events.find((one) => one.id === id);
  const given = Object.entries(rest).filter(([, value]) => !isNothing(value));
  return {
    ...planOfRoom(room, event),
    arrivals: { preset },
    ...(minutes === undefined ? {} : { on_site: { minutes } }),
    ...Object.fromEntries(given),
  };
}

/** Says with which limits the form's plan is played. */
export function limitsSentence(room, events, { event: id }) {
  const event = events.find((one) => one.id === id);
  const limits = limitsText(planOfRoom(room, event).room);
  const few = count(FEW_VISITORS);
  const more = `1.5 and 2 times as much, if no more than ${few} visitors are played.`;
  return `Limits: ${limits}, as the ${event ? "event" : "room"} has them. Beside them: ${more}`;
}

/**
 * What the simulator would not take, or not here: `{ field, message }` each.
 *
 * @param {object} plan
 * @param {number} [find] as the form has it
 */
export function problemsOf(plan, find) {
  const problems = [];
  const { visitors, prequeue_minutes: prequeue, seed } = plan;
  if (visitors === undefined) {
    problems.push({ field: "visitors", message: "Is needed: how many come in all?" });
  }
  if (prequeue !== undefined && !(Number.isInteger(prequeue) && prequeue >= 0)) {
    const message = "Must be a whole number of minutes, from 0 to 4,320.";
    problems.push({ field: "prequeue_minutes", message });
  }
  if (!isNothing(find) && !(Number.isInteger(find) && find >= 1)) {
    problems.push({ field: "find", message: "Must be a whole number of minutes, at least 1." });
  }
  if (seed !== undefined && !(Number.isSafeInteger(seed) && seed >= 0)) {
    problems.push({ field: "seed", message: "Must be a whole number, at least 0." });
  }
  return problems;
}

/** What is to be done where too many of the visitors would be played in this browser. */
export function tooManyOf(plan, where) {
  const message =
    `Over ${count(PLAYED_MAX)} would be played, which is too much for a browser. ` +
    `${commandOf(plan, where)} plays more, in the folder that the Worker was deployed from.`;
  return [{ field: "visitors", message }];
}

function isNothing(value) {
  return value === null || value === undefined;
}

/** The same rehearsal as a command. */
function commandOf(plan, { origin, room, event, find }) {
  const named = ({ id, name }) => (PLAIN.test(name) ? name : id);
  const flags = [
    ["url", origin],
    ["room", named(room)],
    ["event", event && named(event)],
    ["visitors", plan.visitors],
    ["preset", plan.arrivals.preset.replaceAll("_", "-")],
    ["minutes-on-site", plan.on_site?.minutes],
    ["stock", plan.stock],
    ["prequeue-minutes", plan.prequeue_minutes],
    ["begins-at", plan.begins_at],
    ["find", find],
    ["seed", plan.seed],
  ].filter(([, value]) => !isNothing(value));
  const words = flags.map(([name, value]) => `--${name} ${value}`);
  return `npm run rehearse -- ${words.join(" ")}`;
}

/** What the simulator says is wrong with a plan, line by line, at the fields of the form. */
export function problemsIn({ message }) {
  return message.split("\n").map((line) => {
    const [, name, text] = /^([\w.]+): (.*)$/.exec(line) ?? [];
    const field = FIELD_OF[name] ?? name;
    return field in INITIAL ? { field, message: text } : { field: "", message: line };
  });
}
