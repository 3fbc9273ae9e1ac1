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

const texts = (pairs) => pairs.map(([value, label]) => ({ value, label }));

/** What the API needs to make a room, with the labels of the reference. */
export const NEW_ROOM_FIELDS = [
  { name: "name", label: "Name", type: "text", help: "Letters, digits, - and _. For you." },
  { name: "host", label: "Hostname", type: "text", help: "Like shop.example, without https://." },
  { name: "path", label: "Path", type: "text", help: "It and all below it: / is the whole host." },
  {
    name: "total_active_users",
    label: "Total active users",
    type: "number",
    help: "How many may be inside at once.",
  },
  {
    name: "new_users_per_minute",
    label: "New users per minute",
    type: "number",
    help: "How many may enter in any 60 s; at most as many as may be inside.",
  },
  {
    name: "session_duration",
    label: "Session duration (minutes)",
    type: "number",
    help: "1 to 30. After so many minutes without a request a visitor has left.",
  },
  {
    name: "turn_kept_minutes",
    label: "Turn kept (minutes)",
    type: "number",
    isOptional: true,
    help: "0 to 5. How long a place is kept free for a visitor who is away when the turn comes.",
  },
];

const fieldOf = (name) => NEW_ROOM_FIELDS.find((field) => field.name === name);
const flag = (name, label, help) => ({ name, label, help, type: "checkbox" });
const amount = (name, label, help) => ({ name, label, help, type: "number" });
const choice = (name, label, options, help) => {
  return { name, label, help, type: "select", options: texts(options) };
};

/** All other settings of a room, in the groups of its form: `{ title, fields }`. */
export const ROOM_GROUPS = [
  {
    title: "What it covers",
    fields: [
      fieldOf("name"),
      { name: "description", label: "Description", type: "text", help: "For you." },
      fieldOf("host"),
      fieldOf("path"),
      {
        name: "additional_routes",
        label: "More places",
        type: "routes",
        help: "One a line, like shop.example/tickets, with the same limits. Needs a suffix below.",
      },
      flag("case_sensitive_path", "Letter case of paths counts", "Only where your servers agree."),
    ],
  },
  {
    title: "Who enters next",
    fields: [
      choice(
        "queueing_method",
        "Queueing method",
        QUEUEING_METHODS,
        "A change throws nobody out and loses no place.",
      ),
      fieldOf("session_duration"),
      flag(
        "disable_session_renewal",
        "Sessions are not renewed",
        "They end so many minutes after entering, whatever the visitor does.",
      ),
      fieldOf("turn_kept_minutes"),
      amount(
        "confirm_turn_minutes",
        "A turn is confirmed within (minutes)",
        "0 to 5. Whose turn it is enters with a click, and the place is kept meanwhile. 0: " +
          "visitors enter by themselves.",
      ),
      amount(
        "unconfirmed_seconds",
        "A newcomer counts for (seconds)",
        "0 to 1,800, until coming back with the cookie. 0: for the session. More may be inside " +
          "then than the limit says.",
      ),
      {
        name: "invitation_groups",
        label: "Groups with an invitation",
        type: "groups",
        help:
          "One a line, 8 at most: a name, then first (they enter before others), in_turn, or " +
          "share 4 (one place in 4); then key and your Ed25519 key, if you sign the codes by it. " +
          "Another name ends the codes of the old one.",
      },
      flag("invitation_only", "By invitation only", "Nobody else enters or waits."),
      amount(
        "new_places_per_network",
        "New places for one network",
        "In a minute, in each isolate. 0: any number. An office or a school is one network too.",
      ),
    ],
  },
  {
    title: "While people wait",
    fields: [
      amount("refresh_interval_seconds", "Check in every (seconds)", "5 to 300."),
      amount("near_head_refresh_interval_seconds", "Near the head every (seconds)", "3 to 60."),
      flag("show_position", "Show the position", "How many stand before: fifo alone."),
      flag(
        "event_stream_enabled",
        "Tell a turn at once",
        "Visitors near the head keep a stream open.",
      ),
      choice(
        "turn_notice",
        "A message before the turn",
        [
          ["off", "Nobody is asked"],
          ["email", "To an e-mail address"],
          ["phone", "To a telephone number"],
          ["email_or_phone", "To either"],
        ],
        "Your own service sends it. Without a webhook told of turns the page does not ask.",
      ),
      flag("json_response_enabled", "JSON for apps", "For whoever accepts nothing else."),
      choice(
        "queueing_status_code",
        "Status of the queue page",
        [["200", "200"], ["202", "202"], ["429", "429"]],
        "Apps and crawlers read it.",
      ),
    ],
  },
  {
    title: "Sessions and cookie",
    fields: [
      flag(
        "session_endpoint",
        "Visitors can ask and leave",
        "Your pages can tell how long the session lasts, and end it.",
      ),
      flag("origin_may_revoke", "The site may end sessions", "By a header of its answers."),
      choice(
        "transparency_log",
        "Who may read the log of admissions",
        TRANSPARENCY_LOGS,
        "It lets others check limits and order of a sale, and names nobody.",
      ),
      flag("strip_cookie", "Hide the cookie from the site", "Costs some speed."),
      choice(
        "samesite",
        "Cookie: SameSite",
        [["auto", "Auto"], ["lax", "Lax"], ["none", "None"], ["strict", "Strict"]],
        "None is for frames on other sites.",
      ),
      choice(
        "secure",
        "Cookie: Secure",
        [["auto", "Auto"], ["always", "Always"], ["never", "Never"]],
      ),
      {
        name: "cookie_suffix",
        label: "Cookie suffix",
        type: "text",
        help: "Letters, digits, _. A change sends everybody to the end of the line.",
      },
    ],
  },
  {
    title: "Bots and failures",
    fields: [
      choice("turnstile_mode", "Turnstile", TURNSTILE_MODES, TURNSTILE_MODES_HELP),
      choice("turnstile_action", "Who does not pass", TURNSTILE_ACTIONS),
      choice(
        "turnstile_when_silent",
        "While Turnstile is silent",
        [["accept", "Tokens are believed"], ["refuse", "Tokens are refused"]],
        "Believed, an outage lets bots into the line; the limits hold.",
      ),
      flag("show_infinite_queue", "Tell that line to pages", "Bots can read it too."),
      choice("ticket_sharing", "A cookie that others use", [
        ["allow", "Is ignored"],
        ["report", "Is counted in the log"],
        ["challenge", "They meet Turnstile"],
        ["new_visitor", "They are new visitors"],
      ]),
      choice(
        "when_silent",
        "While no object answers",
        [["hold", "Newcomers wait"], ["keep_flowing", "Newcomers enter, up to the bound below"]],
        "The second gives up the limits for that time.",
      ),
      amount(
        "keep_flowing_per_minute",
        "Bound while no object answers",
        "Visitors a minute, in each isolate.",
      ),
    ],
  },
];

/** The parts of fields that are no simple value: how the form has them, and how the API. */
const PARTS = {
  cookie_attributes: {
    shown: ({ samesite, secure }) => ({ samesite, secure }),
    names: ["samesite", "secure"],
    told: ({ samesite, secure }) => ({ samesite, secure }),
  },
  enabled_origin_commands: {
    shown: (commands) => ({ origin_may_revoke: commands.includes("revoke") }),
    names: ["origin_may_revoke"],
    told: ({ origin_may_revoke: may }) => (may ? ["revoke"] : []),
  },
};
const FIELDS = ROOM_GROUPS.flatMap(({ fields }) => fields);
const PART_OF = Object.fromEntries(
  Object.entries(PARTS).flatMap(([name, { names }]) => names.map((part) => [part, name])),
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
  const { type } = FIELDS.find((field) => field.name === name);
  const value = written[name];
  if (type === "number" || name === "queueing_status_code") {
    return [name, value === "" ? value : Number(value)];
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
    return at < 0 ? { host: line, path: "/" } : { host: line.slice(0, at), path: line.slice(at) };
  });
}

/** Fields of which a change is noticed by people inside or in line. */
const NOTICED = ["host", "path", "additional_routes", "case_sensitive_path", "cookie_suffix"];
/** What it does if they are about invitations. */
const INVITED_NOTICE =
  "Who waits is sorted anew: groups that enter first stand before all others, and where the room " +
  "is by invitation only, those without one get in no more. Codes of a group that is gone open " +
  "nothing.";

/** Says what a change does to people, where they notice it; "" where they do not. */
export function whoNotices(patch) {
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
