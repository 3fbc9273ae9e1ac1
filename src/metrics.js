// `/_waiting-room/metrics`: the numbers of all rooms as Prometheus reads them. It makes the calls
// of the API that an owner would make, with the credentials of the request: the wasm decides who
// may.

/** Where it stands, below a host of owners. */
export const METRICS_PATH = "/_waiting-room/metrics";
const TYPE = "text/plain; version=0.0.4; charset=utf-8";
const API = "/_waiting-room/client/v4/";
const ROOMS_PER_PAGE = 1_000;
/** How many rooms are told at most: each is a call of its object. */
const ROOMS_AT_MOST = 500;
/** How many objects are asked at the same time. */
const AT_ONCE = 50;
/** After so many milliseconds no further object is asked, so that the answer comes in time. */
const LONGEST_MS = 6_000;

/** What is told of each room: name, help, and its value by the API's room and status. */
const GAUGES = [
  [
    "up",
    "1 if the room's object has answered; of a suspended room it is not asked.",
    (room, told) => (room.suspended ? undefined : Number(told !== undefined)),
  ],
  ["active_users", "Visitors inside, about 5 s ago.", field("estimated_total_active_users")],
  ["queued_users", "Visitors in line who keep asking.", field("estimated_queued_users")],
  [
    "told_wait_seconds",
    "The wait that a visitor who came now would be shown; none is shown while nobody enters.",
    (room, told) => (!told || told.held_by ? undefined : told.max_estimated_time_minutes * 60),
  ],
  [
    "entry_paused",
    "1 while nobody new enters: by a hold, maintenance, a prequeue, an event that holds " +
      "everybody, or the method reject.",
    (room, told) => told && Number(Boolean(told.held_by)),
  ],
  [
    "entry_resumes_timestamp_seconds",
    "When a prequeue, or an event that holds everybody, ends; of other pauses nobody knows.",
    (room, told) => (told?.held_until ? Date.parse(told.held_until) / 1_000 : undefined),
  ],
  [
    "queueing",
    "1 while newcomers wait in line.",
    (room, told) => told && Number(told.status === "queueing"),
  ],
  [
    "event_prequeueing",
    "1 while an event's prequeue holds everybody new.",
    (room, told) => told && Number(told.status === "event_prequeueing"),
  ],
  [
    "event_active",
    "1 while an event counts.",
    (room, told) => told && Number(told.event_id !== ""),
  ],
  [
    "limit_active_users",
    "total_active_users in force: of an event, or of the room.",
    inForce("total_active_users"),
  ],
  [
    "limit_new_users_per_minute",
    "new_users_per_minute in force: of an event, or of the room.",
    inForce("new_users_per_minute"),
  ],
  ["suspended", "1 while everybody passes, uncounted.", (room) => Number(room.suspended)],
  [
    "held",
    "1 while the owner holds the room, by queue_all or maintenance.",
    (room) => Number(room.queue_all || room.maintenance !== "off"),
  ],
];
/** What is told of a room's last hour where `?last_hour` asks: name, help, value by minutes. */
const LAST_HOUR = [
  ["entered", "Visitors who entered.", sum("entered")],
  ["entered_after_waiting", "Those of them who had waited.", sum("entered_after_waiting")],
  ["joined_line", "Visitors who joined the line.", sum("joined_line")],
  [
    "told_error_percent",
    "Half of those who had waited were shown a wait that was at most so wrong.",
    toldError,
  ],
  ["turns_kept", "Visitors who entered after missing a check-in.", sum("turns_kept")],
  ["challenges_shown", "Turnstile challenges shown.", sum("challenges_shown")],
  ["challenges_solved", "Challenges solved.", sum("challenges_solved")],
  ["challenges_failed", "Challenges failed.", sum("challenges_failed")],
  [
    "infinite_queue_refreshes",
    "Pages shown to visitors who had failed one.",
    sum("infinite_queue_refreshes"),
  ],
  ["calls_unanswered", "Messages that an object did not answer.", sum("calls_unanswered")],
  ["saves_failed", "Times that the room could not be stored.", sum("saves_failed")],
];
const HOUR_MS = 3_600_000;

function sum(name) {
  return (minutes) => minutes.reduce((total, minute) => total + minute[name], 0);
}

/** The mean of the minutes' medians, weighted by visitors; nothing where nobody was measured. */
function toldError(minutes) {
  const weight = sum("told_errors_measured")(minutes);
  const weighed = ({ told_error_percent_p50: half, told_errors_measured: of }) => (half ?? 0) * of;
  const total = minutes.reduce((so, minute) => so + weighed(minute), 0);
  return weight === 0 ? undefined : Math.round(total / weight);
}

function field(name) {
  return (room, told) => told?.[name];
}

/** A limit in force; of a room that tells nothing its own. */
function inForce(name) {
  return (room, told) => told?.[name] ?? room[name];
}

/**
 * Returns the verdict that answers with the numbers. `ask(path)` makes a call of the API below
 * `url` with the credentials of the request, and returns its verdict; `usage()` tells what is used
 * of the plan, where the owner wants to know.
 */
export async function metrics(url, ask, usage = async () => undefined) {
  const until = Date.now() + LONGEST_MS;
  const read = async (path) => ask(new URL(API + path, url).href);
  const list = await read(`accounts/all/waiting_rooms?per_page=${ROOMS_PER_PAGE}`);
  if (list.status !== 200) return list;
  const { result: rooms, result_info: info } = JSON.parse(list.body);
  const told = rooms.slice(0, ROOMS_AT_MOST);
  const statuses = [];
  for (let from = 0; from < told.length; from += AT_ONCE) {
    const some = told.slice(from, from + AT_ONCE);
    const asked = Date.now() > until ? [] : some;
    statuses.push(...(await Promise.all(asked.map((room) => status(room, read)))));
  }
  const used = await usage();
  const hours = [];
  if (new URL(url).searchParams.has("last_hour")) {
    for (let from = 0; from < told.length; from += AT_ONCE) {
      const asked = Date.now() > until ? [] : told.slice(from, from + AT_ONCE);
      hours.push(...(await Promise.all(asked.map((room) => lastHour(room, read)))));
    }
  }
  const lines = [
    ...gauge("rooms", "Rooms of all zones.", [["", info.total_count]]),
    ...gauge("rooms_told", "Rooms that are told here.", [["", told.length]]),
    ...(used === undefined ? [] : plan(used)),
    ...GAUGES.flatMap(([name, help, value]) => {
      const samples = told.map((room, at) => [labels(room), value(room, statuses[at])]);
      return gauge(name, help, samples);
    }),
    ...(hours.length === 0 ? [] : LAST_HOUR).flatMap(([name, help, value]) => {
      const samples = told.map((room, at) => [labels(room), hours[at] && value(hours[at])]);
      return gauge(`last_hour_${name}`, help, samples);
    }),
  ];
  const headers = [
    ["content-type", TYPE],
    ["cache-control", "private, no-store"],
  ];
  return { kind: "respond", after: false, status: 200, headers, body: `${lines.join("\n")}\n` };
}

/** The numbers of a room; nothing of one that is suspended or does not answer. */
async function status({ zone_id: zone, id, suspended }, read) {
  if (suspended) return undefined;
  const answer = await read(`zones/${zone}/waiting_rooms/${id}/status`).catch(() => undefined);
  return answer?.status === 200 ? JSON.parse(answer.body).result : undefined;
}

/** The minutes of a room's last hour, each with its columns by name; nothing of a silent room. */
async function lastHour({ zone_id: zone, id, suspended }, read) {
  if (suspended) return undefined;
  const since = new Date(Date.now() - HOUR_MS).toISOString();
  const path = `zones/${zone}/waiting_rooms/${id}/history?from=${since}&resolution=minute`;
  const answer = await read(path).catch(() => undefined);
  if (answer?.status !== 200) return undefined;
  const { columns, rows } = JSON.parse(answer.body).result;
  return rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]])));
}

/** What Cloudflare has told of the account's use, and how old that is. */
function plan({ checked_at: at, parts }) {
  const samples = (name) => parts.map((part) => [`{of="${part.of}"}`, part[name]]);
  const age = at ? Math.round((Date.now() - Date.parse(at)) / 1_000) : undefined;
  return [
    ...gauge("plan_used", "Used of the plan's quota, in the present period.", samples("used")),
    ...gauge("plan_quota", "The plan's quota in a period.", samples("limit")),
    ...gauge("plan_age_seconds", "How old the numbers of the plan are.", [["", age]]),
  ];
}

function gauge(name, help, samples) {
  const full = `waiting_room_${name}`;
  const known = samples.filter(([, value]) => value !== undefined);
  return [
    `# HELP ${full} ${help}`,
    `# TYPE ${full} gauge`,
    ...known.map(([of, value]) => `${full}${of} ${value}`),
  ];
}

function labels({ name, id, zone_id: zone, host }) {
  const all = Object.entries({ room: name, room_id: id, zone_id: zone, host });
  return `{${all.map(([key, value]) => `${key}="${escaped(value)}"`).join(",")}}`;
}

function escaped(text) {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
