// Everything that owners configured, as one file: read from the API in parts, and brought back in
// parts. The command (`rooms.mjs`) and the cockpit use it; `call` makes a call of the API and
// returns its result, or throws an error with `errors`: `[{ message, pointer }]`.

const PATH = "waiting_rooms/file";
/** The kinds of entries, in the order in which they refer to each other. */
const KINDS = ["lists", "rooms", "zones"];
const FORMAT = 1;
/** The most bytes of a part with several entries. One entry alone may have more. */
const PART_BYTES = 1_000_000;
/** The most bytes of one request, as the Worker takes them. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;
/** How often everything is read anew, if somebody changes it meanwhile. */
const READS_MAX = 3;

/** A file that cannot be brought in: `lines` say what is wrong, each with its remedy. */
export class FileProblem extends Error {
  constructor(message, lines = []) {
    super([message, ...lines.map((line) => `  ${line}`)].join("\n"));
  }
}

/** Reads everything; `onPart` is told what was read so far. */
export async function exported(call, onPart = () => {}) {
  for (let read = 0; read < READS_MAX; read += 1) {
    const file = await readOnce(call, onPart);
    if (file) return file;
  }
  throw new FileProblem("somebody changes rooms all the time: try again in a minute");
}

/** What is said of a deployment before `npm run rooms:export` had everything. */
const OLDER =
  "this deployment is of an older release, which exports less: take `npm run rooms:export` " +
  "of its own release folder";

/** Reads everything once; `undefined` if it was changed meanwhile. */
async function readOnce(call, onPart) {
  const file = { format: FORMAT, lists: [], rooms: [], zones: [] };
  let version;
  for (let from = 0; from !== null; ) {
    const part = await call("GET", `${PATH}?from=${from}`);
    if (Array.isArray(part)) throw new FileProblem(OLDER);
    version ??= part.version;
    if (part.version !== version) return undefined;
    for (const kind of KINDS) file[kind].push(...part[kind]);
    onPart(file);
    from = part.next;
  }
  return file;
}

/** Whether a list of rooms, as in rooms.json, can hold a file. */
export function isPlain({ lists, zones, rooms }) {
  return lists.length === 0 && zones.length === 0 && !rooms.some(({ webhooks }) => webhooks);
}

/**
 * Brings a file in, part by part, and returns the sums of what came of the parts. A part is made as
 * a whole or not at all, and twice is the same as once. `onPart` is told how many parts are done,
 * and of how many.
 */
export async function imported(call, file, onPart = () => {}) {
  const parts = partsOf(file);
  const sums = { rooms: 0, lists: 0, zones: 0, webhooks: 0, changed: 0, new_webhooks: [] };
  for (const [done, part] of parts.entries()) {
    const result = await call("PUT", PATH, part).catch((problem) => {
      throw refusal(problem, part, { done, total: parts.length });
    });
    for (const [name, value] of Object.entries(result)) {
      sums[name] = Array.isArray(value) ? [...sums[name], ...value] : sums[name] + value;
    }
    onPart(done + 1, parts.length);
  }
  return sums;
}

/** Splits a file, which may be a list of rooms, into bodies of requests. */
export function partsOf(file) {
  const { format = FORMAT, lists = [], zones = [], rooms = [] } = Array.isArray(file)
    ? { rooms: file }
    : (file ?? {});
  const entries = { lists, zones, rooms };
  if (typeof (file ?? "") !== "object" || KINDS.some((kind) => !Array.isArray(entries[kind]))) {
    throw new FileProblem("it must be a list of rooms, or what rooms:export wrote");
  }
  const begun = () => ({ format, lists: [], rooms: [], zones: [] });
  const parts = [begun()];
  let bytes = 0;
  for (const kind of KINDS) {
    for (const [at, entry] of entries[kind].entries()) {
      const size = bytesOf(entry);
      if (size > BODY_BYTES_MAX - 1_000) throw tooLong(kind, entry, at);
      if (bytes > 0 && bytes + size > PART_BYTES) {
        parts.push(begun());
        bytes = 0;
      }
      parts.at(-1)[kind].push(entry);
      bytes += size;
    }
  }
  return parts;
}

function bytesOf(entry) {
  return new TextEncoder().encode(JSON.stringify(entry)).length + 1;
}

function tooLong(kind, entry, at) {
  const line =
    `${named(kind, entry, at)}: it is longer than the ${BODY_BYTES_MAX} bytes of a request: take ` +
    "the pages of some events out, and set them by the API";
  return new FileProblem("nothing was sent:", [line]);
}

/** Says which entry and field a part was refused for, and what of the file is in force. */
function refusal({ message, status = 0, errors = [] }, part, { done, total }) {
  // After an answer of 500 or above, or none, the part may be in force.
  const isSure = status >= 400 && status < 500;
  const parts = total === 1 ? "" : `part ${done + 1} of ${total} `;
  const before = done === 0 ? "" : `; what came before it in the file is in force`;
  const outcome = isSure ? `refused (${status})` : `failed${status ? ` (${status})` : ""}`;
  const changes = isSure
    ? `, nothing ${total === 1 ? "was changed" : `of it was changed${before}`}`
    : `${before}; run it again, which is safe`;
  const lines = errors.map((error) => lineOf(error, part));
  return new FileProblem(`${parts}${outcome}${changes}:`, lines.length > 0 ? lines : [message]);
}

function lineOf({ message, pointer = "" }, part) {
  const own = message.startsWith(pointer) ? message.slice(pointer.length).trim() : message;
  // Another entry that the text names is of this part, too, and its number not that in the file.
  const text = own.replace(/ at \/(lists|zones|rooms)\/(\d+)(?=[/ ]|$)/, (_, of, number) => {
    return ` at ${named(of, part[of]?.[number], number)} `;
  });
  const [, kind, at, field = ""] = /^\/(lists|zones|rooms)\/(\d+)(\/.*)?$/.exec(pointer) ?? [];
  if (!kind) return pointer ? `${pointer}: ${text}` : text;
  return `${named(kind, part[kind][at], at)}${field && `, ${field.slice(1)}`}: ${text}`;
}

const NOUNS = { lists: "list", zones: "zone", rooms: "room" };

function named(kind, entry, at) {
  const name = entry?.name ?? entry?.zone_id ?? `number ${Number(at) + 1}`;
  return `${NOUNS[kind]} ${JSON.stringify(name)}`;
}

/** Says what a file has: `2 rooms`, `2 rooms, 1 list and the settings of 1 zone`. */
export function summary({ rooms, lists, zones }) {
  const count = (many, noun) => `${many} ${noun}${many === 1 ? "" : "s"}`;
  const size = (entries) => (Array.isArray(entries) ? entries.length : entries);
  const parts = [count(size(rooms), "room")];
  if (size(lists) > 0) parts.push(count(size(lists), "list"));
  if (size(zones) > 0) parts.push(`the settings of ${count(size(zones), "zone")}`);
  const last = parts.pop();
  return parts.length > 0 ? `${parts.join(", ")} and ${last}` : last;
}

/** Says of each new webhook what its owner has to do; `rooms` are those of the file. */
export function newWebhooks(added, rooms) {
  return added.map(({ id, room_id: room, secret, missing_fields: missing }) => {
    const { name = room } = rooms.find((one) => one.id === room) ?? {};
    const told = `webhook ${id} of room ${JSON.stringify(name)}: its new secret is ${secret}`;
    return missing.length === 0
      ? told
      : `${told}; it sends nothing until you set ${missing.join(" and ")}`;
  });
}
