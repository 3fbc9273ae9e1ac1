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
    "The wait that whoever came now would be told.",
    (room, told) => told && told.max_estimated_time_minutes * 60,
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
    "total_active_users of the room; an event may have its own.",
    (room) => room.total_active_users,
  ],
  [
    "limit_new_users_per_minute",
    "new_users_per_minute of the room; an event may have its own.",
    (room) => room.new_users_per_minute,
  ],
  ["suspended", "1 while everybody passes, uncounted.", (room) => Number(room.suspended)],
  [
    "held",
    "1 while the owner holds the room, by queue_all or maintenance.",
    (room) => Number(room.queue_all || room.maintenance !== "off"),
  ],
];

function field(name) {
  return (room, told) => told?.[name];
}

/**
 * Returns the verdict that answers with the numbers. `ask(path)` makes a call of the API below
 * `url` with the credentials of the request, and returns its verdict.
 */
export async function metrics(url, ask) {
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
  const lines = [
    ...gauge("rooms", "Rooms of all zones.", [["", info.total_count]]),
    ...gauge("rooms_told", "Rooms that are told here.", [["", told.length]]),
    ...GAUGES.flatMap(([name, help, value]) => {
      const samples = told.map((room, at) => [labels(room), value(room, statuses[at])]);
      return gauge(name, help, samples);
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
