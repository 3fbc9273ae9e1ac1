// What a waiting room answers, and how that is told from an answer of the site.

/** The facts about a waiting visitor, as the room tells them in JSON. There may be more keys. */
export interface Facts {
  /** Always true: the room answered instead of the site. */
  readonly inWaitingRoom: boolean;
  /** True if the room can tell how long the wait takes. */
  readonly waitTimeKnown: boolean;
  /** The expected wait in minutes; 0 where it is not known. */
  readonly waitTime: number;
  /** In a lottery: minutes after which a quarter of all who wait are inside; else 0. */
  readonly waitTime25Percentile: number;
  /** In a lottery: minutes after which three quarters of all who wait are inside; else 0. */
  readonly waitTime75Percentile: number;
  /** True while the room lets nobody new in. */
  readonly queueAll: boolean;
  /** True if the wait is longer than a day. */
  readonly queueIsFull: boolean;
  /** Seconds until the next check-in is due; 0 for a visitor without a place, who makes none. */
  readonly refreshIntervalSeconds: number;
  /** Who enters next; see docs/rooms.md of the waiting room. */
  readonly queueingMethod: "fifo" | "random" | "passthrough" | "reject";
  /** True in the prequeue of an event: everybody new waits until it starts. */
  readonly isEventPrequeueing: boolean;
  /** Minutes until the event starts; 0 if there is no prequeue. */
  readonly timeUntilEventStart: number;
  /** How many people stand before the visitor, where the room tells it. */
  readonly peopleAhead?: number;
  /** Markup of a Turnstile challenge for the visitor; empty without one. */
  readonly turnstile?: string;
  /** True if an event stream at the same address tells when the turn has come. */
  readonly eventStream?: boolean;
  /** Seconds for which a place is kept until the visitor confirms the turn; missing before that. */
  readonly turnSeconds?: number;
  readonly [key: string]: unknown;
}

/**
 * Where a visitor stands: in line (`waiting`, or `prequeue` before an event starts), without a
 * place (`rejected`), without a place until a challenge is passed (`challenge`), or let in
 * (`turn`).
 */
export type State = "waiting" | "prequeue" | "rejected" | "challenge" | "turn";

/** What `onProgress` is told of the wait. */
export interface Progress {
  /** Where the visitor stands; `turn` once, just before the request is sent again. */
  readonly state: State;
  /** How many people stand before the visitor; missing where the room does not tell. */
  readonly position?: number;
  /** Minutes until entry; missing where that is not known. */
  readonly estimateMinutes?: number;
  /** Minutes until the event starts; missing outside a prequeue. */
  readonly startsInMinutes?: number;
  /** All facts that the room told last. */
  readonly facts: Facts;
}

/** Thrown where the room gives newcomers no place in line, so that waiting is of no use. */
export class RejectedError extends Error {
  readonly facts: Facts;

  constructor(facts: Facts) {
    super("the waiting room lets nobody in");
    this.name = "RejectedError";
    this.facts = facts;
  }
}

/** Thrown where a place needs a passed challenge, and `onChallenge` is missing or was of no use. */
export class ChallengeError extends Error {
  readonly facts: Facts;

  constructor(facts: Facts) {
    super("the waiting room gives a place only to those who pass its challenge");
    this.name = "ChallengeError";
    this.facts = facts;
  }
}

/**
 * Thrown where the room, and not the site, got a body that can be sent only once (a stream),
 * although the visitor had just been let in.
 */
export class BodyLostError extends Error {
  constructor() {
    super("the body can be sent only once, and the waiting room got it instead of the site");
    this.name = "BodyLostError";
  }
}

/** How an answer of the room begins, without spaces; any other is read no further. */
const BEGINNING = '{"cfWaitingRoom":';
/** In how many characters that stands: more than any spelling of it has. */
const BEGINNING_LENGTH_MAX = 64;

/**
 * Reads the facts if this answer is the room's; `undefined` if it is not. The body of `response`
 * itself is left unread.
 */
export async function factsOf(response: Response): Promise<Facts | undefined> {
  const type = response.headers.get("content-type") ?? "";
  if (!/^application\/json\b/i.test(type) || response.body === null) return undefined;
  const reader = response.clone().body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
    if (!mayBeOfRoom(text)) {
      // Not awaited: cancelling ends only when the other copy of the body has been read.
      reader.cancel().catch(() => {});
      return undefined;
    }
  }
  return parsed(text);
}

/** Whether a text that begins like this can be the room's. */
function mayBeOfRoom(text: string): boolean {
  const start = text.slice(0, BEGINNING_LENGTH_MAX).replaceAll(/\s/g, "");
  if (start.length >= BEGINNING.length) return start.startsWith(BEGINNING);
  return text.length < BEGINNING_LENGTH_MAX && BEGINNING.startsWith(start);
}

/** Reads the facts in a JSON text of the room; `undefined` for any other text. */
export function parsed(text: string): Facts | undefined {
  if (!mayBeOfRoom(text)) return undefined;
  try {
    const { cfWaitingRoom } = JSON.parse(text) as { cfWaitingRoom?: Facts };
    return cfWaitingRoom?.inWaitingRoom === true ? cfWaitingRoom : undefined;
  } catch {
    return undefined;
  }
}

/**
 * In how many milliseconds the next check-in is due: by the header that browsers follow, which
 * counts from the answer. The interval of the facts counts from `lastUpdated`.
 */
export function dueAfterMs({ headers }: Response, facts: Facts): number {
  const [seconds = ""] = (headers.get("refresh") ?? "").split(";");
  return (Number(seconds) || facts.refreshIntervalSeconds) * 1_000;
}

/** Turns the facts into what `onProgress` is told. */
export function progressOf(facts: Facts, state: State = stateOf(facts)): Progress {
  const { peopleAhead, waitTimeKnown, waitTime, timeUntilEventStart } = facts;
  return {
    state,
    ...(peopleAhead !== undefined && { position: peopleAhead }),
    ...(waitTimeKnown && { estimateMinutes: waitTime }),
    ...(facts.isEventPrequeueing && { startsInMinutes: timeUntilEventStart }),
    facts,
  };
}

function stateOf({ refreshIntervalSeconds, isEventPrequeueing, turnstile }: Facts): State {
  // Only an answer that is not to be asked for again has no interval.
  if (!(refreshIntervalSeconds > 0)) return turnstile ? "challenge" : "rejected";
  return isEventPrequeueing ? "prequeue" : "waiting";
}
