// The fields of a room as forms show them: those of its settings here, those of its page in
// `page_fields.js`. What no form has, buttons have; tests/scripts/cockpit-fields.test.mjs compares
// both with the API.
import {
  QUEUEING_METHODS,
  TRANSPARENCY_LOGS,
  TURNSTILE_ACTIONS,
  TURNSTILE_MODES,
  TURNSTILE_MODES_HELP,
} from "./choices.js";
import { fieldOf, fieldsOf } from "./fields.js";
import { afterHold, whoLoses } from "./rejected.js";
import { numberOf } from "./written_number.js";

/** What the form says of fields, where names and sentences of the table are not enough. */
const TEXTS = {
  name: { label: "Name", help: "Letters, digits, - and _. For you." },
  description: { label: "Description", help: "For you." },
  host: { label: "Hostname", help: "Like shop.example, without https://." },
  path: { label: "Path", help: "It and all below it: / is the whole host." },
  additional_routes: {
    label: "More places",
    type: "routes",
    help: "One a line, like shop.example/tickets, with the same limits. Needs a suffix below.",
  },
  case_sensitive_path: {
    label: "Letter case of paths counts",
    help: "Only where your servers agree.",
  },
  total_active_users: { label: "Total active users", help: "How many may be inside at once." },
  new_users_per_minute: {
    label: "New users per minute",
    help: "How many may enter in any 60 s; at most as many as may be inside.",
  },
  queueing_method: {
    label: "Queueing method",
    words: QUEUEING_METHODS,
    help:
      "A change throws nobody out. It loses no place either, unless nobody new enters for longer " +
      "than 5 minutes.",
  },
  session_duration: {
    label: "Session duration (minutes)",
    help: "1 to 30. After so many minutes without a request a visitor has left.",
  },
  disable_session_renewal: {
    label: "Sessions are not renewed",
    help: "They end so many minutes after entering, whatever the visitor does.",
  },
  turn_kept_minutes: {
    label: "Turn kept (minutes)",
    isOptional: true,
    help: "0 to 5. How long a place is kept free for a visitor who is away when the turn comes.",
  },
  confirm_turn_minutes: {
    label: "A turn is confirmed within (minutes)",
    help:
      "0 to 5. Whose turn it is enters with a click, and the place is kept meanwhile. 0: " +
      "visitors enter by themselves.",
  },
  unconfirmed_seconds: {
    label: "A newcomer counts for (seconds)",
    help:
      "0 to 1,800, until coming back with the cookie. 0: for the session. More may be inside " +
      "then than the limit says.",
  },
  invitation_groups: {
    label: "Groups with an invitation",
    type: "groups",
    help:
      "One a line, 8 at most: a name, then first (they enter before others), in_turn, or " +
      "share 4 (one place in 4); then key and your Ed25519 key, if you sign the codes by it. " +
      "Another name ends the codes of the old one.",
  },
  invitation_only: { label: "By invitation only", help: "Nobody else enters or waits." },
  new_places_per_network: {
    label: "New places for one network",
    help: "In a minute, in each isolate. 0: any number. An office or a school is one network too.",
  },
  refresh_interval_seconds: { label: "Check in every (seconds)", help: "5 to 300." },
  near_head_refresh_interval_seconds: { label: "Near the head every (seconds)", help: "3 to 60." },
  show_position: { label: "Show the position", help: "How many stand before: fifo alone." },
  event_stream_enabled: {
    label: "Tell a turn at once",
    help: "Visitors near the head keep a stream open.",
  },
  turn_notice: {
    label: "A message before the turn",
    words: {
      off: "Nobody is asked",
      email: "To an e-mail address",
      phone: "To a telephone number",
      email_or_phone: "To either",
    },
    help: "Your own service sends it. Without a webhook told of turns the page does not ask.",
  },
  json_response_enabled: { label: "JSON for apps", help: "For whoever accepts nothing else." },
  queueing_status_code: {
    label: "Status of the queue page",
    help: "Apps and crawlers read it.",
  },
  session_endpoint: {
    label: "Visitors can ask and leave",
    help: "Your pages can tell how long the session lasts, and end it.",
  },
  enabled_origin_commands: {},
  transparency_log: {
    label: "Who may read the log of admissions",
    words: TRANSPARENCY_LOGS,
    help: "It lets others check limits and order of a sale, and names nobody.",
  },
  strip_cookie: { label: "Hide the cookie from the site", help: "Costs some speed." },
  cookie_attributes: {},
  cookie_suffix: {
    label: "Cookie suffix",
    help: "Letters, digits, _. A change sends everybody to the end of the line.",
  },
  turnstile_mode: { label: "Turnstile", words: TURNSTILE_MODES, help: TURNSTILE_MODES_HELP },
  turnstile_action: { label: "Who does not pass", words: TURNSTILE_ACTIONS, help: "" },
  turnstile_when_silent: {
    label: "While Turnstile is silent",
    words: { accept: "Tokens are believed", refuse: "Tokens are refused" },
    help: "Believed, an outage lets bots into the line; the limits hold.",
  },
  show_infinite_queue: { label: "Tell that line to pages", help: "Bots can read it too." },
  ticket_sharing: {
    label: "A cookie that others use",
    words: {
      allow: "Is ignored",
      report: "Is counted in the log",
      challenge: "They meet Turnstile",
      new_visitor: "They are new visitors",
    },
    help: "",
  },
  when_silent: {
    label: "While no object answers",
    words: { hold: "Newcomers wait", keep_flowing: "Newcomers enter, up to the bound below" },
    help: "The second gives up the limits for that time.",
  },
  keep_flowing_per_minute: {
    label: "Bound while no object answers",
    help: "Visitors a minute, in each isolate.",
  },
};

const NEW_ROOM = [
  "name",
  "host",
  "path",
  "total_active_users",
  "new_users_per_minute",
  "session_duration",
  "turn_kept_minutes",
];
/** What the API needs to make a room, with the labels of the reference. */
export const NEW_ROOM_FIELDS = NEW_ROOM.map((name) => fieldOf(name, TEXTS));

const select = (words) => Object.entries(words).map(([value, label]) => ({ value, label }));
/** Fields that are no simple value: the fields of the form for each, and how the API has them. */
const PARTS = {
  cookie_attributes: {
    shown: ({ samesite, secure }) => ({ samesite, secure }),
    fields: [
      {
        name: "samesite",
        label: "Cookie: SameSite",
        type: "select",
        options: select({ auto: "Auto", lax: "Lax", none: "None", strict: "Strict" }),
        help: "None is for frames on other sites.",
      },
      {
        name: "secure",
        label: "Cookie: Secure",
        type: "select",
        options: select({ auto: "Auto", always: "Always", never: "Never" }),
      },
    ],
    told: ({ samesite, secure }) => ({ samesite, secure }),
  },
  enabled_origin_commands: {
    shown: (commands) => ({ origin_may_revoke: commands.includes("revoke") }),
    fields: [
      {
        name: "origin_may_revoke",
        label: "The site may end sessions",
        type: "checkbox",
        help: "By a header of its answers.",
      },
    ],
    told: ({ origin_may_revoke: may }) => (may ? ["revoke"] : []),
  },
};

const TITLES = {
  Coverage: "What it covers",
  Order: "Who enters next",
  Waiting: "While people wait",
  Sessions: "Sessions and cookie",
  Failures: "Bots and failures",
};
/** All other settings of a room, in the groups of its form: `{ title, fields }`. */
export const ROOM_GROUPS = Object.entries(TITLES).map(([group, title]) => ({
  title,
  fields: fieldsOf(group, TEXTS).flatMap((field) => PARTS[field.name]?.fields ?? [field]),
}));

const FIELDS = ROOM_GROUPS.flatMap(({ fields }) => fields);
const PART_OF = Object.fromEntries(
  Object.entries(PARTS).flatMap(([name, { fields }]) => fields.map((part) => [part.name, name])),
);

/** The names of the fields that the form of a room's settings has, as the API names them. */
export const SETTINGS_NAMES = [...new Set(FIELDS.map(({ name }) => PART_OF[name] ?? name))];

/** What the form shows of a room. */
export function valuesOf(room) {
  const parts = Object.entries(PARTS).map(([name, { shown }]) => shown(room[name]));
  const all = Object.assign({ ...room }, ...parts);
  return Object.fromEntries(FIELDS.map((field) => [field.name, shownAs(field, all[field.name])]));
}

function shownAs({ type }, value) {
  if (type === "checkbox") return value ?? false;
  if (type === "groups") return value.map(groupLine).join("\n");
  if (type === "routes") return value.map(({ host, path }) => host + path).join("\n");
  return String(value ?? "");
}

/** What the API is to change for what is written: the fields that differ from the room's. */
export function patchOf(room, written) {
  const before = valuesOf(room);
  const names = FIELDS.map(({ name }) => name).filter((name) => written[name] !== before[name]);
  return Object.fromEntries(names.map((name) => toldOf(name, written)));
}

function toldOf(name, written) {
  const part = PART_OF[name];
  if (part) return [part, PARTS[part].told(written)];
  const { type, isNumber } = FIELDS.find((field) => field.name === name);
  const value = written[name];
  if (type === "number" || isNumber) {
    return [name, value === "" ? value : numberOf(value, name)];
  }
  if (type === "routes") return [name, routesIn(value)];
  if (type === "groups") return [name, groupsIn(value)];
  return [name, name === "host" ? value.trim().toLowerCase() : value];
}

const linesIn = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

function groupLine({ name, enters, one_in: oneIn, public_key: key }) {
  const share = oneIn === undefined ? [] : [oneIn];
  return [name, enters, ...share, ...(key ? ["key", key] : [])].join(" ");
}

function groupsIn(text) {
  return linesIn(text).map((line) => {
    const [, group, key] = /^(.*?)(?:\s+key\s+(\S+))?$/.exec(line);
    const owned = key ? { public_key: key } : {};
    const share = /^(.*?)\s+share\s+(\d{1,9})$/.exec(group);
    if (share) return { name: share[1], enters: "share", one_in: Number(share[2]), ...owned };
    const [, name, enters] = /^(.*?)(?:\s+(\S+))?$/.exec(group);
    return { name, enters: enters ?? "first", ...owned };
  });
}

function routesIn(text) {
  return linesIn(text).map((line) => {
    const at = line.indexOf("/");
    const [host, path] = at < 0 ? [line, "/"] : [line.slice(0, at), line.slice(at)];
    return { host: host.toLowerCase(), path };
  });
}

/** Fields of which a change is noticed by people inside or in line. */
const NOTICED = ["host", "path", "additional_routes", "case_sensitive_path", "cookie_suffix"];
/** What it does if they are about invitations. */
const INVITED_NOTICE =
  "Who waits is sorted anew: groups that enter first stand before all others, and where the room " +
  "is by invitation only, those without one get in no more. Codes of a group that is gone open " +
  "nothing.";

/**
 * Says what a change of a room does to people, where they notice it; "" where they do not. The room
 * has these numbers, where they are known, and this event in force, if there is one.
 */
export function whoNotices(patch, { room, numbers, event }) {
  // Nobody waits in a room that is disabled.
  const rejects = patch.queueing_method === "reject" && !room.suspended;
  const told = [ofWhatIsCovered(patch), rejects ? ofReject(numbers, event) : ""];
  return told.filter(Boolean).join(" ");
}

function ofReject(numbers, event) {
  const ends = event?.queueing_method && `the event “${event.name}” ends`;
  return whoLoses(numbers, ends || afterHold(numbers?.held_by));
}

function ofWhatIsCovered(patch) {
  const names = Object.keys(patch).filter((name) => NOTICED.includes(name));
  if (names.length === 0) {
    const isOfInvitations = "invitation_groups" in patch || "invitation_only" in patch;
    return isOfInvitations ? INVITED_NOTICE : "";
  }
  return names.includes("cookie_suffix")
    ? "Everybody is a new visitor: those inside may find the queue page at the next click, and " +
        "those in line go to its end."
    : "What is not covered any more passes, uncounted; what is covered from now on meets the room.";
}
