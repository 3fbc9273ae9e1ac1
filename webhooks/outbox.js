// The messages that no webhook has taken yet, when each is sent again, and what became of the last
// ones. Pure: every function returns the next outbox.

/** How long an answer is waited for, in milliseconds. */
export const LIMIT_MS = 10_000;
/** The status of an answer that has not come, and of a message that is not sent any more. */
export const NO_ANSWER = 0;
const DROPPED = -1;
/** The status of an e-mail: taken by Cloudflare, not taken, or not possible in this deployment. */
export const MAILED = -2;
export const MAIL_REFUSED = -3;
export const NO_MAIL = -4;
/** The status of an answer that is the queue page of a waiting room. */
export const QUEUE_PAGE = -5;
/**
 * How long after each attempt the next one is made, in seconds; after one more none is. All
 * together they take nearly four hours.
 */
const BACKOFF_S = [15, 30, 120, 600, 1_800, 3_600, 7_200];
/** How long after the last attempt a message is forgotten whose outcome nobody has told. */
const LAST_S = 60;
/**
 * The most messages of a room; for one more the oldest is given up. A message takes about 400
 * bytes, and a stored value at most 2 MB.
 */
export const MESSAGES_MAX = 100;
/** The most that are sent at the same time: the platform opens six connections. */
const AT_ONCE = 4;

/** An outbox that holds nothing. */
export const EMPTY = { messages: [], last: {} };

/**
 * Adds messages. `notice` is what a message says, `id` names it in each attempt.
 *
 * @param {object} outbox
 * @param {number} now
 * @param {{ id: string, notice: object }[]} added
 */
export function pushed(outbox, now, added) {
  const made = added.map((message) => ({ ...message, attempts: 0, next_at: now }));
  const all = [...outbox.messages, ...made];
  const dropped = all.slice(0, Math.max(0, all.length - MESSAGES_MAX));
  const kept = { ...outbox, messages: all.slice(dropped.length) };
  return dropped.reduce((next, message) => noted(next, now, message, DROPPED), kept);
}

/**
 * Takes messages that are due. They are due again after a while, also if the object ends before it
 * knows the outcome.
 */
export function taken(outbox, now) {
  const isLost = (message) => message.next_at <= now && isLast(message);
  const messages = outbox.messages.filter((message) => !isLost(message));
  const isDue = ({ next_at }) => next_at <= now;
  const due = messages
    .filter(isDue)
    .slice(0, AT_ONCE)
    .map((message) => ({
      ...message,
      attempts: message.attempts + 1,
      next_at: now + backoffMs(message),
    }));
  const next = messages.map((message) => due.find(({ id }) => id === message.id) ?? message);
  return { due, outbox: { ...outbox, messages: next } };
}

/** Takes in with which status a message was answered, and of an e-mail why it was not taken. */
export function answered(outbox, now, message, status, why) {
  const next = noted(outbox, now, message, status, why);
  return isSuccess(status) || isLast(message) ? without(next, message) : next;
}

/** Forgets a message. */
export function without(outbox, { id }) {
  return { ...outbox, messages: outbox.messages.filter((message) => message.id !== id) };
}

/**
 * Forgets each message that is no longer true, since a later one of the same webhook about the same
 * thing waits: a beginning whose end has come, and an end after which the thing has begun again.
 *
 * @param {object} outbox
 * @param {(message: object) => { thing: string, ends: boolean } | undefined} aboutOf what a message
 *   is about; nothing if its receiver wants every message
 */
export function withoutUntrue(outbox, aboutOf) {
  const all = outbox.messages.map((message) => {
    const { thing, ends } = aboutOf(message) ?? {};
    return { message, ends, name: thing && `${message.notice.hook} ${thing}` };
  });
  // Of equal names the last one stays.
  const last = new Map(all.map(({ name, ends }) => [name, ends]));
  const isTrue = ({ name, ends }) => name === undefined || last.get(name) === ends;
  return { ...outbox, messages: all.filter(isTrue).map(({ message }) => message) };
}

/** Whether a message waits. */
export function holds({ messages }, { id }) {
  return messages.some((message) => message.id === id);
}

/** Forgets what belongs to webhooks that are gone. */
export function withoutHooks(outbox, gone) {
  const messages = outbox.messages.filter(({ notice }) => !gone.includes(notice.hook));
  const last = Object.entries(outbox.last).filter(([id]) => !gone.includes(id));
  return { messages, last: Object.fromEntries(last) };
}

/** When the next message is due; `Infinity` if none waits. */
export function dueAt({ messages }) {
  return Math.min(Infinity, ...messages.map(({ next_at }) => next_at));
}

/** What became of the last messages by webhook, as the API tells it. */
export function told({ messages, last }) {
  const ids = [...Object.keys(last), ...messages.map(({ notice }) => notice.hook)];
  const of = (id) => ({
    last_delivery: last[id]?.attempt ?? null,
    last_error: last[id]?.failed ?? null,
    pending: messages.filter(({ notice }) => notice.hook === id).length,
  });
  return Object.fromEntries(ids.map((id) => [id, of(id)]));
}

function noted(outbox, now, message, status, why) {
  const { id, notice, attempts } = message;
  const isKept = !isLast(message) && status !== DROPPED;
  const state = isSuccess(status) ? "delivered" : isKept ? "retrying" : "given_up";
  const attempt = {
    id,
    type: notice.kind,
    at: new Date(now).toISOString(),
    attempts,
    state,
    http_status: status > 0 ? status : null,
    error: problemOf(status, why),
  };
  const failed = isSuccess(status) ? (outbox.last[notice.hook]?.failed ?? null) : attempt;
  return { ...outbox, last: { ...outbox.last, [notice.hook]: { attempt, failed } } };
}

function problemOf(status, why) {
  if (isSuccess(status)) return null;
  if (status === DROPPED) return "too many messages wait";
  if (status === MAIL_REFUSED) return `Cloudflare did not take the e-mail: ${why}`;
  if (status === NO_MAIL) return "this deployment has no binding EMAIL, or no EMAIL_FROM";
  if (status === QUEUE_PAGE) {
    return (
      "a waiting room answers with its queue page: use a url that no room covers, or add a " +
      "bypass rule"
    );
  }
  if (status === NO_ANSWER) return "no answer within 10 s";
  if (status >= 300 && status < 400) return "it answers with a redirect, which is not followed";
  return "its status is no success";
}

/** Whether no attempt follows the present one. Of a test the owner waits for the outcome. */
function isLast({ attempts, notice }) {
  return attempts > (notice.kind === "test" ? 0 : BACKOFF_S.length);
}

/** Messages of one moment do not all come again at one moment. */
function backoffMs({ id, attempts }) {
  const spread = id.codePointAt(id.length - 1) % 16;
  return (BACKOFF_S[attempts] ?? LAST_S) * 1_000 * (1 + spread / 160);
}

function isSuccess(status) {
  return status === MAILED || (status >= 200 && status < 300);
}
