// One stream for the numbers of all rooms on the screen: opened anew when others are looked at, and
// after a while when it breaks.

/** Rooms that come onto the screen within so many milliseconds are asked for together. */
const GATHER_MS = 150;
/** The most rooms of one stream, as the Worker has it. The others are asked for one by one. */
const ROOMS_MAX = 50;
/** A stream that has said nothing for so many milliseconds is broken: it has a line each second. */
const SILENT_MS = 5_000;
/** How long to wait before a broken stream is opened again: longer each time, up to the last. */
const PAUSES_MS = [2_000, 4_000, 8_000, 16_000, 30_000];

export class Watch {
  #open;
  /** Who listens, by the room as `zone/room`. */
  #listeners = new Map();
  /** What is known of each room that somebody listens to: `{ numbers, at, problem, isBroken }`. */
  #known = new Map();
  #stream;
  #timer;
  #failures = 0;

  /** @param {Function} open opens a stream, as `stream` of `api.js` without its token */
  constructor(open) {
    this.#open = open;
  }

  /**
   * Tells `listener` the numbers of a room, `zone/room`, until the function is called that it
   * returns: `{ numbers, at, ahead, problem, isBroken }`, where `at` is when the numbers were read,
   * by the clock here, which is so many milliseconds `ahead` of the Worker's, and while `isBroken`
   * there will be none.
   */
  follow(room, listener) {
    const all = this.#listeners.get(room) ?? new Set();
    this.#listeners.set(room, all.add(listener));
    if (all.size === 1) this.#changed();
    if (this.#failures > 0) listener({ isBroken: true });
    return () => {
      all.delete(listener);
      if (all.size > 0) return;
      this.#listeners.delete(room);
      this.#known.delete(room);
      this.#changed();
    };
  }

  /** Other rooms are looked at: an open stream is of others. */
  #changed() {
    if (this.#failures === 0 || this.#listeners.size === 0) this.#openIn(GATHER_MS);
  }

  #openIn(ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#run(), ms);
  }

  #end() {
    this.#stream?.abort();
    this.#stream = undefined;
  }

  async #run() {
    this.#end();
    const rooms = [...this.#listeners.keys()];
    if (rooms.length === 0) return (this.#failures = 0);
    const mine = (this.#stream = new AbortController());
    this.#tell(rooms.slice(ROOMS_MAX), { isBroken: true });
    const carried = rooms.slice(0, ROOMS_MAX);
    const isEnded = await this.#read(carried, mine).catch(() => false);
    // Whoever ended it has opened another, or nobody looks.
    if (this.#stream !== mine) return;
    this.#end();
    if (isEnded) return this.#openIn(0);
    this.#tell(carried, { isBroken: true });
    const pause = PAUSES_MS[Math.min(this.#failures, PAUSES_MS.length - 1)];
    this.#failures += 1;
    this.#openIn(pause);
  }

  /** Reads a stream to its end, and returns whether it has said anything. */
  async #read(rooms, controller) {
    const breakOff = () => controller.abort();
    // Browsers may leave an open stream open until they notice by themselves.
    addEventListener("offline", breakOff);
    let silence = setTimeout(breakOff, SILENT_MS);
    let rest = "";
    // By how much this clock is ahead of the Worker's, at most: what came late was not read late.
    let ahead = Infinity;
    try {
      const reader = await this.#open(rooms, controller.signal);
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return ahead < Infinity;
        clearTimeout(silence);
        silence = setTimeout(breakOff, SILENT_MS);
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        for (const line of lines.map((text) => JSON.parse(text))) {
          ahead = Math.min(ahead, Date.now() - line.at);
          this.#failures = 0;
          this.#hear(rooms, line, ahead);
        }
      }
    } finally {
      clearTimeout(silence);
      removeEventListener("offline", breakOff);
    }
  }

  #hear(rooms, { told, late, at: readAt }, ahead) {
    const at = readAt + ahead;
    for (const room of rooms) {
      const id = room.split("/")[1];
      const news = told[id] && { numbers: told[id] };
      const fresh = { at, ahead, problem: undefined, ...news };
      const problem = { problem: late[id] ? { message: late[id] } : undefined };
      this.#tell([room], { isBroken: false, ...(id in late ? problem : fresh) });
    }
  }

  #tell(rooms, news) {
    for (const room of rooms) {
      const known = { ...this.#known.get(room), ...news };
      this.#known.set(room, known);
      for (const listener of this.#listeners.get(room) ?? []) listener(known);
    }
  }
}
