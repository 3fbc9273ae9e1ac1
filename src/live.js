// `/_waiting-room/live`: the numbers of a few rooms, each second, as one stream of lines of JSON.
// Like the metrics it makes the calls of the API that an owner would make, with the credentials of
// the request: the wasm decides who may, anew for each call.

/** Where it stands, below a host of owners. */
export const LIVE_PATH = "/_waiting-room/live";
const API = "/_waiting-room/client/v4/";
/** Milliseconds between two lines. */
const STEP_MS = 1_000;
/** How long a line waits for objects, in milliseconds: a silent one must not hold up the others. */
const WAIT_MS = 800;
/** The life of a stream in milliseconds: after it the token is read anew, as a request's. */
const LIFE_MS = 60_000;
/** The most streams of one isolate. Whoever gets none asks for each room by itself. */
const STREAMS_MAX = 20;
/** The most rooms of one stream; the cockpit knows the same number. */
const ROOMS_MAX = 50;
/** The most calls of a stream: a request may make 1,000 of the platform. */
const CALLS_MAX = 900;
/** A stream without a step for so many milliseconds is gone: not every end of one is told. */
const GONE_MS = 10_000;
/** The code of an answer that refuses the call and not the token: another room is told on. */
const NOT_FOR_TOKEN = 9_109;
/** The statuses of an answer that otherwise refuses the token itself. */
const DENIALS = [401, 403, 429];
const ROOM = /^([0-9a-f]{32})\/([0-9a-f]{32})$/;
const HEADERS = [
  ["content-type", "application/x-ndjson"],
  ["cache-control", "private, no-store"],
  ["x-content-type-options", "nosniff"],
];

/** The open streams; `steppedAt`, in milliseconds since the epoch, is when one stepped last. */
const open = new Set();

/**
 * Returns the verdict that answers with a stream of numbers. `ask(path)` makes a call of the API
 * below `url` with the credentials of the request, and returns its verdict.
 */
export async function live(url, ask) {
  const call = (path) => ask(new URL(API + path, url).href);
  // One call first: a wrong token is to count as one guess.
  const access = await call("waiting_rooms/audit_log?per_page=5");
  if (access.status !== 200) return access;
  const listed = new URL(url).searchParams.get("rooms") ?? "";
  const parts = listed.split(",").map((name) => ROOM.exec(name));
  if (parts.length > ROOMS_MAX || parts.includes(null)) {
    const message = `rooms must list 1 to ${ROOMS_MAX} rooms, each as <zone id>/<room id>.`;
    return refusal(400, 1_100, message);
  }
  if (!isFree()) return refusal(503, 1_000, "Too many streams are open here: ask room by room.");
  const rooms = parts.map(([, zone, id]) => {
    return { id, ask: () => call(`zones/${zone}/waiting_rooms/${id}/status`) };
  });
  return { kind: "respond", after: false, status: 200, headers: HEADERS, body: streamOf(rooms) };
}

/** The numbers of some rooms, asked for again and again as long as somebody reads. */
class Live {
  /** Whether an answer has refused the token itself. */
  denied = false;
  #rooms;
  #calls = 0;
  #endsAt = Date.now() + LIFE_MS;
  steppedAt = Date.now();

  constructor(rooms) {
    this.#rooms = rooms;
  }

  /** Asks each room that is not still being asked, and waits for most of the answers. */
  async step() {
    this.steppedAt = Date.now();
    for (const room of this.#rooms) {
      if (room.asked) continue;
      this.#calls += 1;
      room.asked = this.#hear(room);
    }
    const all = Promise.all(this.#rooms.map(({ asked }) => asked));
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, WAIT_MS))]);
  }

  /** Whether it has lived long enough: whoever still reads opens the next. */
  get isOver() {
    return this.#calls + this.#rooms.length > CALLS_MAX || Date.now() >= this.#endsAt;
  }

  async #hear(room) {
    const answer = await room.ask().catch(() => ({}));
    room.asked = undefined;
    const { result, errors = [] } = answer.body ? JSON.parse(answer.body) : {};
    const isOfRoom = errors.some(({ code }) => code === NOT_FOR_TOKEN);
    if (DENIALS.includes(answer.status) && !isOfRoom) this.denied = true;
    room.news = { numbers: result, problem: errors.map(({ message }) => message).join(" ") };
  }

  /**
   * Writes what is new: `at`, when it was read; `told`, numbers by room, without those that are as
   * they were in the line before; and `late`, why there is nothing new of a room.
   */
  line() {
    const told = {};
    const late = {};
    for (const room of this.#rooms) {
      const { numbers, problem = "" } = room.news ?? {};
      const text = JSON.stringify(numbers);
      if (!numbers) late[room.id] = problem;
      else if (text !== room.told) told[room.id] = numbers;
      if (numbers) room.told = text;
      room.news = undefined;
    }
    return `${JSON.stringify({ at: Date.now(), told, late })}\n`;
  }
}

/** The lines as they come; without a reader nothing is asked. */
function streamOf(rooms) {
  const encoder = new TextEncoder();
  const stream = new Live(rooms);
  open.add(stream);
  let nextAt = Date.now();
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, nextAt - Date.now()));
      nextAt = Date.now() + STEP_MS;
      await stream.step();
      if (!stream.denied) controller.enqueue(encoder.encode(stream.line()));
      if (!stream.denied && !stream.isOver) return;
      open.delete(stream);
      controller.close();
    },
    cancel: () => open.delete(stream),
  });
}

function isFree() {
  const goneBefore = Date.now() - GONE_MS;
  for (const stream of open) if (stream.steppedAt < goneBefore) open.delete(stream);
  return open.size < STREAMS_MAX;
}

/** Returns the verdict that refuses a request, in the form of the API. */
export function refusal(status, code, message) {
  const errors = [{ code, message }];
  const body = JSON.stringify({ success: false, errors, messages: [], result: null });
  const headers = [["content-type", "application/json"], ["cache-control", "private, no-store"]];
  return { kind: "respond", after: false, status, headers, body };
}
