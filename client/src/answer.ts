// What a waiting room answers, and how it is told from an answer of the site. Sends nothing.

/** The facts about a waiting visitor, as the room tells them. More keys may come. */
export interface Facts {
  readonly inWaitingRoom: boolean;
  readonly waitTimeKnown: boolean;
  /** Minutes; 0 where it is not known. */
  readonly waitTime: number;
  readonly waitTime25Percentile: number;
  readonly waitTime75Percentile: number;
  readonly queueAll: boolean;
  readonly queueIsFull: boolean;
  readonly refreshIntervalSeconds: number;
  readonly queueingMethod: "fifo" | "random" | "passthrough" | "reject";
  readonly isEventPrequeueing: boolean;
  /** Minutes, while prequeueing. */
  readonly timeUntilEventStart: number;
  /** How many stand before, where the room tells it. */
  readonly peopleAhead?: number;
  /** Markup of a challenge that stands before the line or beside it; empty without one. */
  readonly turnstile?: string;
  /** True where an event stream tells when the turn has come. */
  readonly eventStream?: boolean;
  readonly [key: string]: unknown;
}

/** Where a visitor stands; with `challenge` before the line. */
export type State = "waiting" | "prequeue" | "rejected" | "challenge" | "turn";

/** What is told of the wait. */
export interface Progress {
  /** `turn` once, just before the request is sent again. */
  readonly state: State;
  /** People who stand before; none where the room does not tell. */
  readonly position?: number;
  /** Minutes until entry; none where nobody knows. */
  readonly estimateMinutes?: number;
  /** Minutes until the event starts, in a prequeue. */
  readonly startsInMinutes?: number;
  /** Everything the room said last. */
  readonly facts: Facts;
}

/** Thrown where the room lets nobody in and gives no place: waiting is of no use. */
export class RejectedError extends Error {
  readonly facts: Facts;

  constructor(facts: Facts) {
    super("the waiting room lets nobody in");
    this.name = "RejectedError";
    this.facts = facts;
  }
}

/** Thrown where there is no place before a challenge is passed, and nobody who has it passed. */
export class ChallengeError extends Error {
  readonly facts: Facts;

  constructor(facts: Facts) {
    super("the waiting room gives a place only to those who pass its challenge");
    this.name = "ChallengeError";
    this.facts = facts;
  }
}

/** Thrown where a body that can be sent but once met the room all the same. */
export class BodyLostError extends Error {
  constructor() {
    super("the body can be sent only once, and the waiting room got it instead of the site");
    this.name = "BodyLostError";
  }
}

/** An answer of the room begins like this; no other is read any further. */
const BEGINNING = /^\s*\{\s*"cfWaitingRoom"\s*:/;
/** Longer than any spelling of that beginning. */
const BEGINNING_BYTES = 64;

/** The facts if this answer is the room's; `undefined`, and nothing read of it, if it is not. */
export async function factsOf(response: Response): Promise<Facts | undefined> {
  const type = response.headers.get("content-type") ?? "";
  if (!/^application\/json\b/i.test(type) || response.body === null) return undefined;
  const reader = response.clone().body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
    if (text.length >= BEGINNING_BYTES && !BEGINNING.test(text)) {
      // Not awaited: it ends only when the other half of the body has been read.
      reader.cancel().catch(() => {});
      return undefined;
    }
  }
  return parsed(text);
}

/** The facts in a JSON text of the room; `undefined` for everything else. */
export function parsed(text: string): Facts | undefined {
  if (!BEGINNING.test(text)) return undefined;
  try {
    const { cfWaitingRoom } = JSON.parse(text) as { cfWaitingRoom?: Facts };
    return cfWaitingRoom?.inWaitingRoom === true ? cfWaitingRoom : undefined;
  } catch {
    return undefined;
  }
}

/** The facts in the words of this library. */
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
  // Only a page that does not come again is without an interval.
  if (!(refreshIntervalSeconds > 0)) return turnstile ? "challenge" : "rejected";
  return isEventPrequeueing ? "prequeue" : "waiting";
}
