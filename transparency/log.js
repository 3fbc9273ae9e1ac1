// The log of a room's admissions, in an object of its own: takes over what data centers keep, adds
// it to the tree, signs, and answers for checkpoints, tiles, entries and receipts. What has been
// signed never changes: late reports stand behind. Nothing that visitors wait for asks it.
import { aggregatorOf } from "../src/objects.js";
import { within } from "../src/copies.js";
import { WIDTH, placeOf } from "./paths.js";
import { loaded } from "./wasm.js";

const TABLES = [
  "CREATE TABLE IF NOT EXISTS log (one INTEGER PRIMARY KEY, state TEXT NOT NULL)",
  "CREATE TABLE IF NOT EXISTS log_sources (name TEXT PRIMARY KEY) WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS log_tiles (level INTEGER, place INTEGER, hashes BLOB NOT NULL, " +
    "PRIMARY KEY (level, place)) WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS log_entries (place INTEGER PRIMARY KEY, first_s INTEGER, " +
    "last_s INTEGER, entries TEXT NOT NULL)",
];
const TABLE_NAMES = ["log", "log_tiles", "log_entries"];
const READ_STATE = "SELECT state FROM log";
const WRITE_STATE = "INSERT OR REPLACE INTO log VALUES (1, ?)";
const ADD_SOURCE = "INSERT OR IGNORE INTO log_sources VALUES (?)";
const DROP_SOURCE = "DELETE FROM log_sources WHERE name = ?";
const SOURCES = "SELECT name FROM log_sources ORDER BY name";
const READ_TILE = "SELECT hashes FROM log_tiles WHERE level = ? AND place = ?";
const WRITE_TILE = "INSERT OR REPLACE INTO log_tiles VALUES (?, ?, ?)";
const READ_ENTRIES = "SELECT first_s, last_s, entries FROM log_entries WHERE place = ?";
const WRITE_ENTRIES = "INSERT OR REPLACE INTO log_entries VALUES (?, ?, ?, ?)";
const ENTRIES_OF_TIME = "SELECT entries FROM log_entries WHERE last_s >= ? AND first_s <= ?";
const ENTRIES_OF_ONE =
  "SELECT place, entries FROM log_entries WHERE last_s >= ? AND first_s <= ? " +
  "AND instr(entries, ?) > 0 ORDER BY place DESC LIMIT 1";
/** How often data centers are asked at most, in milliseconds. */
const COLLECT_MS = 5_000;
/** How long an answer of a data center may take, in milliseconds. What it keeps comes later. */
const ANSWER_MS = 3_000;
/** How often a data center is asked to delete what it keeps, and the pause in milliseconds. */
const DROP_TIMES = 5;
const AGAIN_MS = 2_000;
/** The most admissions that are taken over for one answer. */
const TAKEN_MAX = 100_000;
/** How far the second of an admission may be from that in the ticket. */
const NEAR_S = 600;
const MINUTE_S = 60;
const BYTES = 32;

/** The logs that run in this isolate, by their objects. */
const logs = new WeakMap();

/** Answers a question about the log: nothing for what is not there. */
export async function answer(context, env, question) {
  const wasm = await loaded();
  const log = logs.get(context) ?? new Log(context, env, wasm);
  logs.set(context, log);
  const { ask } = question;
  if (ask === "announce") return log.announce(question.name);
  if (ask === "receipt") return log.receipt(question);
  if (ask === "status") return log.status(question);
  if (ask === "key") return log.key(question);
  if (ask === "delete") return log.delete();
  if (ask === "checkpoint") return log.checkpoint(question);
  return log.file(question.path);
}

/** The log of one room. */
export class Log {
  #context;
  #env;
  #wasm;
  #sql;
  #state;
  #collecting;
  #collectedAt = 0;
  /** How often the log was deleted. */
  #deleted = 0;

  constructor(context, env, wasm) {
    this.#context = context;
    this.#env = env;
    this.#wasm = wasm;
    this.#sql = context.storage.sql;
    for (const table of TABLES) this.#sql.exec(table);
    const [row] = this.#sql.exec(READ_STATE).toArray();
    if (row) this.#state = JSON.parse(row.state);
  }

  announce(name) {
    this.#sql.exec(ADD_SOURCE, name);
    return true;
  }

  async checkpoint(question) {
    await this.#collect(question);
    return this.#state?.checkpoint;
  }

  async key(question) {
    await this.#collect(question);
    return this.#state?.verifierKey;
  }

  async status(question) {
    await this.#collect(question);
    if (!this.#state) return;
    const { origin, size, admissions, leftOut, since, checkpoint } = this.#state;
    const { verifierKey, firstMinute, inMinutes } = this.#state;
    return {
      origin,
      verifier_key: verifierKey,
      size,
      admissions,
      left_out: leftOut,
      begun_at: new Date(since * 1_000).toISOString(),
      checkpoint,
      data_centers: this.#sources().map((name) => name.split("/")[1]),
      counted_from: new Date(firstMinute * 1_000).toISOString(),
      admissions_counted_from: inMinutes,
    };
  }

  /**
   * Deletes the log with its keys, and what data centers keep for it: the room was deleted. Those
   * that do not answer are asked again for some seconds.
   */
  async delete() {
    this.#deleted += 1;
    this.#state = undefined;
    this.#context.storage.transactionSync(() => {
      for (const name of TABLE_NAMES) this.#sql.exec(`DELETE FROM ${name}`);
    });
    await this.#drop();
    if (this.#sources().length > 0) this.#context.waitUntil(this.#dropLater());
    return true;
  }

  async #dropLater() {
    for (let times = 1; times < DROP_TIMES && this.#sources().length > 0; times += 1) {
      await new Promise((wake) => setTimeout(wake, AGAIN_MS));
      await this.#drop();
    }
  }

  /** Asks each data center to delete what it keeps, and forgets those that have. */
  async #drop() {
    const dropped = async (name) => {
      if (await this.#ask(name, { ask: "drop" })) this.#sql.exec(DROP_SOURCE, name);
    };
    await Promise.all(this.#sources().map(dropped));
  }

  /** A tile, or a bundle of entries, by its path. */
  file(path) {
    const place = placeOf(path);
    if (!place || !this.#state) return;
    const { level, number, width } = place;
    if (level === "entries") {
      const entries = this.#entries(number).slice(0, width);
      return entries.length === width ? this.#wasm.bundle(entries.join("\n")) : undefined;
    }
    const hashes = this.#tile(level, number);
    const length = width * BYTES;
    return hashes && hashes.length >= length ? hashes.slice(0, length) : undefined;
  }

  /** The proof for a visitor who was admitted at that second; nothing if it is not there yet. */
  async receipt(question) {
    let found = this.#find(question);
    if (!found) {
      await this.#collect(question);
      found = this.#find(question);
    }
    if (!found) return;
    const { index, entry } = found;
    const { secret, size, checkpoint } = this.#state;
    const store = this.#store();
    const { visitor } = question;
    return this.#wasm.receipt(store, bytesOf(secret), visitor, index, entry, size, checkpoint);
  }

  #find({ visitor, admitted }) {
    if (!this.#state) return;
    const name = this.#wasm.commitment(bytesOf(this.#state.secret), visitor);
    const span = [admitted - NEAR_S, admitted + NEAR_S];
    const [row] = this.#sql.exec(ENTRIES_OF_ONE, ...span, ` ${name} `).toArray();
    if (!row) return;
    const entries = row.entries.split("\n");
    const at = entries.findLastIndex((entry) => entry.includes(` ${name} `));
    return { index: row.place * WIDTH + at, entry: entries[at] };
  }

  /** Takes over what data centers keep, at most once in some seconds; all who ask wait for one. */
  async #collect(question) {
    this.#collecting ??= this.#collectNow(question).finally(() => {
      this.#collecting = undefined;
    });
    await this.#collecting;
  }

  async #collectNow({ origin }) {
    if (Date.now() - this.#collectedAt < COLLECT_MS) return;
    const sources = this.#sources();
    // No log begins by a question alone.
    if (sources.length === 0) return;
    this.#collectedAt = Date.now();
    const deleted = this.#deleted;
    const found = await Promise.all(sources.map((name) => this.#keptBy(name)));
    const rows = found.flatMap(({ rows: some }) => some);
    // What was asked for before the log was deleted is not written after it.
    if (rows.length === 0 || deleted !== this.#deleted) return;
    this.#context.storage.transactionSync(() => this.#add(origin, rows));
    // Before that leaves, what was added is stored: the platform sees to it.
    const dropping = found.filter(({ rows: some }) => some.length > 0);
    const drops = dropping.map(({ name, rows: some }) =>
      this.#ask(name, { ask: "kept", drop: some.map(({ at }) => at) }),
    );
    await Promise.all(drops);
  }

  /** Asks a data center; resolves with nothing if it fails, or does not answer in time. */
  async #ask(name, question) {
    const ask = async () => aggregatorOf(this.#env, name).log(question);
    const told = await within(ANSWER_MS, ask());
    if (told === undefined) console.error(`the transparency log: ${name} does not answer`);
    return told;
  }

  async #keptBy(name) {
    const rows = [];
    let count = 0;
    while (count < TAKEN_MAX) {
      const some = (await this.#ask(name, { ask: "kept", after: rows.at(-1)?.at })) ?? [];
      if (some.length === 0) break;
      rows.push(...some);
      count += some.reduce((sum, row) => sum + row.count, 0);
    }
    return { name, rows };
  }

  #add(origin, rows) {
    const full = rows.filter(({ at }) => at >= 0);
    const leftOut = rows.filter(({ at }) => at < 0).reduce((sum, { count }) => sum + count, 0);
    const keys = this.#state ?? this.#keysFor(origin);
    const { rules = "", size = 0 } = keys;
    const moments = full.map(({ at }) => at);
    const texts = full.map(({ rows: text }) => text);
    // The module decides which entries are new, and their order.
    const merged = JSON.parse(
      this.#wasm.merged(this.#store(), bytesOf(keys.secret), rules, size, moments, texts),
    );
    const state = this.#state ?? begun(keys, merged.entries);
    const lost = state.leftOut + leftOut + merged.left_out;
    this.#write({ ...state, rules: merged.rules, leftOut: lost }, merged.entries);
  }

  #write(state, added) {
    const store = this.#store();
    const size = state.size + added.length;
    if (added.length > 0) {
      this.#wasm.append(store, state.size, added.map(({ leaf }) => leaf).join("\n"));
    }
    let place = Math.floor(state.size / WIDTH);
    let rest = added;
    while (rest.length > 0) {
      const [row] = this.#sql.exec(READ_ENTRIES, place).toArray();
      const before = row ? row.entries.split("\n") : [];
      const taken = rest.slice(0, WIDTH - before.length);
      const times = taken.map(({ at_s: at }) => at);
      const first = Math.min(row?.first_s ?? Infinity, ...times);
      const last = Math.max(row?.last_s ?? 0, ...times);
      const all = [...before, ...taken.map(({ leaf }) => leaf)].join("\n");
      this.#sql.exec(WRITE_ENTRIES, place, first, last, all);
      rest = rest.slice(taken.length);
      place += 1;
    }
    const admissions = added.filter(({ is_admission: isOne }) => isOne);
    const inMinutes = admissions.filter(({ at_s: at }) => at >= state.firstMinute).length;
    const checkpoint = this.#wasm.checkpoint(store, size, state.origin, bytesOf(state.seed));
    const next = {
      ...state,
      size,
      checkpoint,
      admissions: state.admissions + admissions.length,
      inMinutes: state.inMinutes + inMinutes,
    };
    this.#sql.exec(WRITE_STATE, JSON.stringify(next));
    this.#state = next;
  }

  /** Makes the keys of a log. */
  #keysFor(origin) {
    const seed = random();
    const verifierKey = this.#wasm.verifier_key(origin, seed);
    return { origin, seed: textOf(seed), secret: textOf(random()), verifierKey };
  }

  #store() {
    return {
      tile: (level, place) => this.#tile(level, place),
      // A copy: what comes is a part of the module's memory.
      keep: (level, place, hashes) => {
        this.#sql.exec(WRITE_TILE, level, place, hashes.slice().buffer);
      },
      entries: (first, last) => {
        const found = this.#sql.exec(ENTRIES_OF_TIME, first, last).toArray();
        return found.map(({ entries }) => entries).join("\n");
      },
    };
  }

  #tile(level, place) {
    const [row] = this.#sql.exec(READ_TILE, level, place).toArray();
    return row && new Uint8Array(row.hashes);
  }

  #entries(place) {
    const [row] = this.#sql.exec(READ_ENTRIES, place).toArray();
    return row ? row.entries.split("\n") : [];
  }

  #sources() {
    return this.#sql
      .exec(SOURCES)
      .toArray()
      .map(({ name }) => name);
  }
}

/** The state of a log that begins now, with these keys, and with these entries or before them. */
function begun(keys, entries) {
  const now = Math.floor(Date.now() / 1_000);
  const since = entries.reduce((least, { at_s: at }) => Math.min(least, at), now);
  return {
    ...keys,
    since,
    firstMinute: Math.ceil(since / MINUTE_S) * MINUTE_S,
    size: 0,
    admissions: 0,
    inMinutes: 0,
    leftOut: 0,
    rules: "",
    checkpoint: "",
  };
}

const random = () => crypto.getRandomValues(new Uint8Array(BYTES));
const textOf = (bytes) => btoa(String.fromCodePoint(...bytes));
const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.codePointAt(0));

