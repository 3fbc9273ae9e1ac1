// The calls of one user to one origin. An answer of a room brings a cookie, so calls sent at once
// would take a place each, and the cookie that comes last would displace the others.
import type { Progress } from "./answer.ts";
import type { Surroundings } from "./surroundings.ts";

/** One call, as the others know it. */
export interface Call {
  readonly signal: AbortSignal;
  readonly sleep: Surroundings["sleep"];
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/**
 * How long the others wait for the first answer, in milliseconds. A room decides within 5 s: what
 * is not answered by then is an answer of the site that takes long.
 */
const FIRST_ANSWER_MS = 6_000;
/** A pause that ends with its signal, in milliseconds; timers take no much longer one. */
const DAY_MS = 86_400_000;
/** Stands for the cookies of the browser. */
const BROWSER = {};

const ofUsers = new WeakMap<object, Map<string, Calls>>();

/**
 * Returns the calls to the origin of `url` with the same cookies: `user` is what keeps them, and
 * without one it is the browser.
 */
export function callsOf(user: object = BROWSER, url: string): Calls {
  const ofUser = ofUsers.get(user) ?? new Map<string, Calls>();
  ofUsers.set(user, ofUser);
  const { origin } = new URL(url);
  const calls = ofUser.get(origin) ?? new Calls();
  ofUser.set(origin, calls);
  return calls;
}

/** Lets one call go first until the site has answered it; then all go at once. */
export class Calls {
  #isInside = false;
  #first: Call | undefined;
  /** What the first one heard last; `undefined` until a room has answered it. */
  #told: Progress | undefined;
  readonly #followers = new Set<Call>();
  /** Aborts when the first one is the first no longer. */
  #change = new AbortController();

  /** Resolves when the call may be sent: the visitor is inside, or it goes first. */
  async turnOf(call: Call): Promise<void> {
    if (this.#mayGo(call)) return;
    if (this.#told) call.onProgress?.(this.#told);
    this.#followers.add(call);
    try {
      do await this.#follow(call);
      while (!this.#mayGo(call));
    } finally {
      this.#followers.delete(call);
    }
  }

  /** Whether this call is the first, or becomes it now that a room has answered it. */
  goesFirst(call: Call): boolean {
    if (!this.#first) {
      this.#first = call;
      this.#isInside = false;
    }
    return this.#first === call;
  }

  /** Tells all who wait what the first one heard, but nobody twice. */
  tell(progress: Progress): void {
    this.#told = progress;
    const listeners = [this.#first, ...this.#followers].map((call) => call?.onProgress);
    for (const listener of new Set(listeners)) listener?.(progress);
  }

  /** Ends the lead of a call: the site has let it in, or the next one tries. */
  ends(call: Call, isInside: boolean): void {
    if (this.#first !== call) return;
    this.#first = undefined;
    this.#told = undefined;
    this.#isInside = isInside;
    this.#change.abort();
    this.#change = new AbortController();
  }

  #mayGo(call: Call): boolean {
    return this.#isInside || this.goesFirst(call);
  }

  /** Waits until another one may go first. */
  async #follow(call: Call): Promise<void> {
    const first = this.#first;
    const either = AbortSignal.any([this.#change.signal, call.signal]);
    await call.sleep(this.#told ? DAY_MS : FIRST_ANSWER_MS, either);
    call.signal.throwIfAborted();
    if (first && first === this.#first && !this.#told) this.ends(first, false);
  }
}
