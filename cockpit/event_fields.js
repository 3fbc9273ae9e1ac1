// The fields of an event as its form shows them, and events made of another one: a copy, and the
// same each week.
import {
  QUEUEING_METHODS,
  TRANSPARENCY_LOGS,
  TURNSTILE_ACTIONS,
  TURNSTILE_MODES,
  TURNSTILE_MODES_HELP,
} from "./choices.js";
import { localTime } from "./facts.js";
import { PAGE_FIELDS } from "./page_fields.js";

const TIME = "datetime-local";
const AS_ROOM = { value: "", label: "As the room" };
const WEEK_DAYS = 7;
const OWN_PAGE = "custom_page_html";
/** What the API says of an event and does not take back. */
const READ_ONLY = ["id", "created_on", "modified_on", "draw_commitment"];
const TIMES = ["prequeue_start_time", "event_start_time", "event_end_time"];

const optional = (name, label, type, help) => ({ name, label, type, help, isOptional: true });
const choice = (name, label, words, help) => ({
  ...optional(name, label, "select", help),
  options: [AS_ROOM, ...Object.entries(words).map(([value, of]) => ({ value, label: of }))],
});

/** All that an event can say; an empty field leaves it to the room. */
export const EVENT_FIELDS = [
  { name: "name", label: "Name", type: "text", help: "Letters, digits, - and _. For you." },
  { name: "description", label: "Description", type: "text", help: "For you." },
  optional(
    "prequeue_start_time",
    "Prequeue start",
    TIME,
    "From then on everybody new waits; at least 5 minutes before the start. Empty: none.",
  ),
  { name: "event_start_time", label: "Event start", type: TIME },
  { name: "event_end_time", label: "Event end", type: TIME },
  {
    name: "shuffle_at_event_start",
    label: "Shuffle at event start",
    type: "checkbox",
    help: "Draws lots among those in the prequeue, whenever they came. Needs a prequeue.",
  },
  {
    name: "suspended",
    label: "Disabled",
    type: "checkbox",
    help: "The event is skipped: at its times nothing changes.",
  },
  {
    name: "queue_all",
    label: "Hold all",
    type: "checkbox",
    help: "Nobody new enters before its end, for instance during a repair. Say why below.",
  },
  {
    ...optional(
      "total_active_users",
      "Total active users",
      "number",
      "Both limits or neither. Empty: those of the room.",
    ),
    title: "What counts meanwhile",
  },
  optional("new_users_per_minute", "New users per minute", "number"),
  optional("session_duration", "Session duration (minutes)", "number", "1 to 30."),
  {
    ...choice("disable_session_renewal", "Sessions are renewed", {
      false: "With each request",
      true: "Never: they end so many minutes after entering",
    }),
    isYesOrNo: true,
  },
  choice("queueing_method", "Queueing method", QUEUEING_METHODS),
  choice("turnstile_mode", "Turnstile", TURNSTILE_MODES, TURNSTILE_MODES_HELP),
  choice("turnstile_action", "Who does not pass", TURNSTILE_ACTIONS),
  choice("transparency_log", "Who may read the log of admissions", TRANSPARENCY_LOGS),
  {
    ...optional(
      "page_event_name",
      "Shown on the page as",
      "text",
      "What waiting visitors read. Empty: the name above, with spaces for - and _.",
    ),
    title: "What its page says",
  },
  optional(
    "page_message",
    "Message on the page",
    "text",
    "News for everybody who waits. Empty: the message of the room.",
  ),
  ...PAGE_FIELDS.filter(({ name }) => name !== "default_template_language").map((field) => ({
    ...field,
    label: field.name === OWN_PAGE ? field.label : `${field.label} on the page`,
    help: `${field.help.replace(/ ?Empty: .*/, "")} Empty: as the room has it.`.trim(),
    isOptional: true,
  })),
];

/** What the form shows of an event, or of none. */
export function shownOf(event) {
  return Object.fromEntries(EVENT_FIELDS.map((field) => [field.name, shown(field, event)]));
}

function shown({ name, type }, event) {
  const value = event?.[name];
  if (type === "checkbox") return value ?? false;
  if (value === undefined || value === null) return "";
  return type === TIME ? localTime(value) : String(value);
}

/**
 * An event so many weeks later, which starts at the same time of day where the owner is. Its other
 * times keep their distance from the start, also where the clocks change in between. It counts,
 * also if the event was stopped.
 */
export function weeksLater(event, weeks) {
  const start = new Date(event.event_start_time);
  const began = start.getTime();
  start.setDate(start.getDate() + weeks * WEEK_DAYS);
  const movedMs = start.getTime() - began;
  const later = (text) => new Date(new Date(text).getTime() + movedMs).toISOString();
  const rest = Object.entries(event).filter(([name]) => !READ_ONLY.includes(name));
  const moved = TIMES.filter((name) => event[name]).map((name) => [name, later(event[name])]);
  const copy = { ...Object.fromEntries(rest), ...Object.fromEntries(moved), suspended: false };
  const day = localTime(copy.event_start_time).slice(0, "2026-01-01".length);
  return { ...copy, name: `${event.name.replace(/-\d{4}-\d\d-\d\d$/, "")}-${day}` };
}

/** Whether two events have the same name and the same times. */
export function isSameEvent(one, other) {
  const time = (text) => (text ? new Date(text).getTime() : null);
  return one.name === other.name && TIMES.every((name) => time(one[name]) === time(other[name]));
}

/** A copy of an event whose start is still to come, a week later or more. */
export function copyOf(event, now) {
  for (let weeks = 1; ; weeks += 1) {
    const copy = weeksLater(event, weeks);
    if (new Date(copy.event_start_time).getTime() > now) return copy;
  }
}

/** Says of times in a form what of them is over already; "" where nothing is. */
export function whatIsOver({ prequeue_start_time, event_start_time, event_end_time }, now) {
  const isOver = (text) => text && new Date(text).getTime() <= now;
  if (isOver(event_end_time)) return "It is over already: as it is, it changes nothing.";
  if (isOver(event_start_time)) return "Its start is past: it counts within 5 s, until its end.";
  if (isOver(prequeue_start_time)) return "Its prequeue begins within 5 s: everybody new waits.";
  return "";
}
