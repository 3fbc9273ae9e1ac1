// Performs what `watch.js`, `outbox.js` and `body.js` decide, in the object of one room: stores,
// sends, sets alarms. The state is a row of a table of its own, which versions without webhooks
// never read, and is stored before anything of it is sent. Do not log addresses or bodies: they may
// have secrets in them.
import { WIRE_VERSION } from "../build/worker/gen/constants.js";
import { wakeBy } from "../src/alarm.js";
import { willForget } from "../src/forget.js";
import { registryOf } from "../src/objects.js";
import { aboutOf, bodyOf, headersOf, turnBody, turnId } from "./body.js";
import { adminOf, gathered, mailOf } from "./mail.js";
import {
  EMPTY,
  LIMIT_MS,
  MAILED,
  MAIL_REFUSED,
  NO_ANSWER,
  NO_MAIL,
  QUEUE_PAGE,
  answered,
  dueAt,
  holds,
  pushed,
  taken,
  told,
  without,
  withoutHooks,
  withoutUntrue,
} from "./outbox.js";
import { isQueuePage } from "./queue_page.js";
import * as shares from "./shares.js";
import {
  REMEMBERED_MS,
  TOPIC,
  added,
  answered as turnAnswered,
  minutesLeft,
  nameOf,
  taken as turnsTaken,
} from "./turns.js";
import { lookAt, numbersOf, watched } from "./watch.js";

const TABLE =
  "CREATE TABLE IF NOT EXISTS webhooks (one INTEGER PRIMARY KEY, state TEXT NOT NULL)";
const WRITE = "INSERT OR REPLACE INTO webhooks (one, state) VALUES (1, ?)";
/** By what names it is remembered who was told of a turn, and until when. No address is in it. */
const TOLD_TABLE =
  "CREATE TABLE IF NOT EXISTS turns_told (name TEXT PRIMARY KEY, until INTEGER NOT NULL)";
const TOLD_INDEX = "CREATE INDEX IF NOT EXISTS turns_told_until ON turns_told (until)";
const IS_TOLD = "SELECT 1 FROM turns_told WHERE name = ? AND until > ?";
const TELL = "INSERT OR REPLACE INTO turns_told (name, until) VALUES (?, ?)";
const FORGET_TOLD = "DELETE FROM turns_told WHERE until <= ?";
/** How long it is known where messages about turns go, in milliseconds: there may be many. */
const DESTINATIONS_MS = 5_000;
/**
 * How long after a change of the configuration a room is looked at, in milliseconds: then no
 * isolate goes on with what counted before.
 */
const LOOK_AGAIN_MS = 8_000;
/**
 * When an alarm is set again that found no room, in milliseconds, and how often: after that the
 * room is taken for gone.
 */
const LATER_MS = 60_000;
const LATER_MAX = 10;
/** An alarm is at least so far away, in milliseconds. */
const ALARM_MS = 1_000;

/** What asks whether a visitor will be told (`visit/turn_notice.rs` of the core). */
const SHARE = "share";

/** What is known in each object that is in memory. */
const rooms = new WeakMap();

/** Looks at a room, and sends what is due. */
export function look(context, env, sight) {
  roomOf(context, env).look(sight);
}

/**
 * Does what an owner wants: `look` again soon, a `test` of a webhook; tells of the plan's `quota`,
 * and of deliveries. Isolates tell of a `turn`, and ask for a `share` of a mailbox.
 */
export function answer(context, env, sight, request) {
  const room = roomOf(context, env);
  const [wish, hook] = request.split(" ");
  if (wish === "look") room.lookAgain(sight);
  if (wish === "alarm") room.onAlarm(sight);
  if (wish === "test") room.test(sight, hook);
  if (wish === "quota") room.quota(sight, JSON.parse(request.slice("quota ".length)));
  if (wish === TOPIC || wish === SHARE) {
    const of = JSON.parse(request.slice(wish.length));
    return JSON.stringify(wish === TOPIC ? room.turn(sight, of) : room.share(sight, of));
  }
  return JSON.stringify(told(room.outbox));
}

/** Does what an alarm was set for. */
export async function onAlarm(context, env, call) {
  const room = roomOf(context, env);
  room.alarmAt = Infinity;
  const answered = await call(JSON.stringify({ v: WIRE_VERSION, m: { webhooks: "alarm" } }));
  if (!answered) room.onSilence();
}

function roomOf(context, env) {
  let room = rooms.get(context);
  if (!room) rooms.set(context, (room = new Room(context, env)));
  return room;
}

class Room {
  #context;
  #env;
  #told;
  #silences = 0;
  /** The messages about turns, with what visitors have typed: they are stored nowhere. */
  #turns = [];
  /** Whether there is a table of those who were told. */
  #remembers = false;
  #known = { at: 0 };
  id = "";
  outbox = EMPTY;
  /** For when the alarm is set, as far as that is known. */
  alarmAt = Infinity;

  constructor(context, env) {
    this.#context = context;
    this.#env = env;
    const { sql } = context.storage;
    sql.exec(TABLE);
    const [row] = sql.exec("SELECT state FROM webhooks").toArray();
    const { id = "", told: of, outbox = EMPTY } = JSON.parse(row?.state ?? "{}");
    Object.assign(this, { id, outbox });
    this.#told = of;
  }

  look(sight) {
    const { told: of, messages, changed } = watched(this.#told, sight);
    const numbers = numbersOf(sight);
    const gone = (this.#told?.hooks ?? []).filter((id) => !of.hooks.includes(id));
    this.outbox = withoutHooks(this.outbox, gone);
    this.#told = of;
    this.#goTurns();
    this.#push(sight, messages.map((notice) => ({ ...notice, numbers })));
    this.#go(sight, changed || messages.length > 0);
  }

  lookAgain(sight) {
    this.id = sight.room;
    this.#store();
    this.setAlarm(sight.now + LOOK_AGAIN_MS);
  }

  test(sight, hook) {
    const notice = { hook, topic: "test", kind: "test", event: null, bound_s: null };
    this.#push(sight, [{ ...notice, numbers: numbersOf(sight) }]);
    this.#go({ ...sight, change_at: null }, true);
  }

  /** Tells of the plan, which all rooms have in common. */
  quota(sight, { kind, ...quota }) {
    const hooks = (sight.hooks ?? []).filter(({ topics }) => topics.includes("quota"));
    const notice = { topic: "quota", kind, event: null, bound_s: null, quota };
    const numbers = numbersOf(sight);
    this.#push(sight, hooks.map(({ id }) => ({ ...notice, hook: id, numbers })));
    this.#go(sight, hooks.length > 0);
  }

  /**
   * Takes in that a visitor's turn is near, and says whether a message is on its way or was sent. A
   * place without a share of its mailbox gets none.
   */
  turn({ now, room, hooks }, turn) {
    this.id = room;
    const next = added(this.#turns, now, turn, hooks ?? [], this.#whoIsTold(now));
    if (!next || !this.#takesShare(now, turn)) return { taken: false };
    this.#turns = next;
    this.#goTurns();
    return { taken: true };
  }

  /**
   * Says whether a visitor will be told who has typed an address: the place gets a `share` of its
   * mailbox, and was not `told` a while ago by all webhooks that there are.
   */
  share({ now, room, hooks }, of) {
    this.id = room;
    const isKnown = this.#whoIsTold(now);
    const all = (hooks ?? []).filter(({ topics }) => topics?.includes(TOPIC));
    const isTold = all.length > 0 && all.every(({ id: hook }) => isKnown(nameOf({ ...of, hook })));
    return { share: this.#takesShare(now, of), told: isTold };
  }

  #takesShare(now, of) {
    willForget(this.#context, now + shares.KEPT_MS);
    return shares.take(this.#context.storage.sql, now, of);
  }

  /** Makes the tables of those who were told, and returns what tells whether one was. */
  #whoIsTold(now) {
    const { sql } = this.#context.storage;
    if (!this.#remembers) {
      for (const statement of [TOLD_TABLE, TOLD_INDEX]) sql.exec(statement);
      shares.open(sql);
    }
    this.#remembers = true;
    sql.exec(FORGET_TOLD, now);
    return (name) => sql.exec(IS_TOLD, name, now).toArray().length > 0;
  }

  /** Looks because it was to; a room whose webhooks are all gone is forgotten. */
  onAlarm(sight) {
    this.#silences = 0;
    if (sight.hooks) this.look(sight);
    else this.#forget();
  }

  /** Tries again later: the registry may be silent. */
  onSilence() {
    this.#silences += 1;
    if (this.#silences > LATER_MAX) this.#forget();
    else this.setAlarm(Date.now() + LATER_MS);
  }

  #forget() {
    this.#context.storage.sql.exec("DELETE FROM webhooks");
    this.#context.storage.sql.exec("DROP TABLE IF EXISTS turns_told");
    shares.forget(this.#context.storage.sql);
    this.#remembers = false;
    this.#turns = [];
    this.outbox = EMPTY;
    this.#told = undefined;
  }

  setAlarm(at) {
    this.alarmAt = at;
    wakeBy(this.#context, at);
  }

  #push({ now, room }, notices) {
    this.id = room;
    const made = notices.map((notice) => ({ id: drawn(), notice: { ...notice, at: now } }));
    if (made.length > 0) this.outbox = pushed(this.outbox, now, made);
  }

  /** Stores what has changed, sends what is due, and sees to it that somebody looks again. */
  #go(sight, changed) {
    const now = Date.now();
    const { due, outbox } = taken(this.outbox, now);
    this.outbox = outbox;
    if (changed || due.length > 0) this.#store();
    if (due.length > 0) this.#context.waitUntil(this.#send(due).catch(logged));
    const looked = this.#told ? lookAt(this.#told, sight, now) : Infinity;
    const at = Math.max(now + ALARM_MS, Math.min(looked, dueAt(this.outbox)));
    const isSet = this.alarmAt <= at && this.alarmAt > now;
    if (at < Infinity && !isSet) this.setAlarm(at);
  }

  /**
   * Sends the messages about turns that are due. There is no alarm for the others: while somebody
   * waits, the room is looked at each second.
   */
  #goTurns() {
    const { due, turns } = turnsTaken(this.#turns, Date.now());
    this.#turns = turns;
    if (due.length > 0) this.#context.waitUntil(this.#sendTurns(due).catch(logged));
  }

  /** Sends each for itself. What it is about is neither logged nor told with the last messages. */
  async #sendTurns(due) {
    const one = async (message) => {
      const isDone = await this.#sendTurn(message).catch(() => false);
      this.#turns = turnAnswered(this.#turns, Date.now(), message, isDone);
    };
    await Promise.all(due.map(one));
    this.#goTurns();
  }

  /** Sends one, and returns whether it is done with: it was taken, or nobody wants it. */
  async #sendTurn(message) {
    const { name, zone, webhooks = [] } = await this.#destinations();
    const webhook = webhooks.find(({ id }) => id === message.hook);
    if (!webhook?.fields.enabled || !webhook.fields.topics.includes(TOPIC)) return true;
    const now = Date.now();
    const body = turnBody(message, minutesLeft(message, now), { id: this.id, name, zone });
    const status = await post(turnId(message.id), body, webhook);
    if (status < 200 || status >= 300) return false;
    const { sql } = this.#context.storage;
    sql.exec(TELL, nameOf(message), now + REMEMBERED_MS);
    shares.shorten(sql, message.id, now + REMEMBERED_MS);
    willForget(this.#context, now + REMEMBERED_MS);
    return true;
  }

  #destinations() {
    const now = Date.now();
    if (now - this.#known.at >= DESTINATIONS_MS) {
      this.#known = { at: now, found: destinations(this.id, this.#env) };
    }
    return this.#known.found;
  }

  /** Sends each message for itself, so that none waits for another. */
  async #send(due) {
    // In silence they come again by themselves.
    const { name, zone, webhooks = [] } = await destinations(this.id, this.#env);
    const room = { id: this.id, name, zone };
    const webhookOf = ({ notice }) => webhooks.find(({ id }) => id === notice.hook);
    const isTest = ({ notice }) => notice.kind === "test";
    const takes = (message) =>
      webhookOf(message) && (isTest(message) || webhookOf(message).fields.enabled);
    const one = async (message) => {
      const webhook = webhookOf(message);
      const outcome = isMail(webhook)
        ? await mail([message], webhook, room, this.#env)
        : [await post(message.id, bodyOf(message, webhook, room, Date.now()), webhook)];
      this.outbox = answered(this.outbox, Date.now(), message, ...outcome);
      this.#store();
    };
    const isTogether = (message) => isMail(webhookOf(message)) && !isTest(message);
    for (const message of due.filter((each) => !takes(each))) {
      this.outbox = without(this.outbox, message);
    }
    this.outbox = withoutUntrue(this.outbox, (each) => aboutOf(each, webhookOf(each)));
    const taking = due.filter((each) => takes(each) && holds(this.outbox, each));
    const together = Map.groupBy(taking.filter(isTogether), webhookOf);
    const mails = [...together].map(([webhook, all]) => this.#sendMail(webhook, all, room));
    await Promise.all([...taking.filter((each) => !isTogether(each)).map(one), ...mails]);
    this.#store();
    if (dueAt(this.outbox) <= Date.now()) this.#go({}, false);
  }

  /** Sends what waits for a webhook in one e-mail, unless the last one was not long ago. */
  async #sendMail(webhook, due, room) {
    const { together, outbox } = gathered(this.outbox, Date.now(), webhook.id, due);
    this.outbox = outbox;
    if (together.length === 0) return;
    const outcome = await mail(together, webhook, room, this.#env);
    for (const message of together) {
      this.outbox = answered(this.outbox, Date.now(), message, ...outcome);
    }
  }

  /** What cannot be stored is sent all the same: it may be that the storage fails. */
  #store() {
    const { id, outbox } = this;
    try {
      const state = JSON.stringify({ id, outbox, told: this.#told });
      this.#context.storage.sql.exec(WRITE, state);
    } catch (error) {
      logged(error);
    }
  }
}

/** Asks the registry where the messages of a room go; it has the secrets. */
async function destinations(room, env) {
  const message = JSON.stringify({ v: WIRE_VERSION, m: { destinations: room } });
  const { m } = JSON.parse(await registryOf(env).call(message));
  return JSON.parse(m.destinations || "{}");
}

/** Sends a message, and returns the status of the answer. A redirect could lead anywhere. */
async function post(id, body, webhook) {
  try {
    const headers = await headersOf(id, body, webhook.secret, Date.now());
    const signal = AbortSignal.timeout(LIMIT_MS);
    const request = { method: "POST", body, headers, signal, redirect: "manual" };
    const answer = await fetch(webhook.fields.url, request);
    await answer.body?.cancel();
    return isQueuePage(answer.headers) ? QUEUE_PAGE : answer.status;
  } catch {
    return NO_ANSWER;
  }
}

function isMail(webhook) {
  return webhook?.fields.format === "email";
}

/** Sends messages in one e-mail, and returns `[status, why]`. */
async function mail(messages, webhook, room, env) {
  const from = env.EMAIL_FROM?.trim();
  if (!env.EMAIL || !from) return [NO_MAIL];
  try {
    const sent = env.EMAIL.send(mailOf(messages, webhook, room, from, adminOf(env)));
    const late = new Promise((wake) => setTimeout(wake, LIMIT_MS, true));
    return [(await Promise.race([sent, late])) === true ? NO_ANSWER : MAILED];
  } catch ({ code }) {
    // The message of an error may have the address in it.
    return [MAIL_REFUSED, /^E_[A-Z_]{1,60}$/.test(code) ? code : "it does not say why"];
  }
}

function drawn() {
  return `msg_${crypto.randomUUID().replaceAll("-", "")}`;
}

const logged = (error) => console.error(`webhooks: ${error}`);
