// A fetch that waits its turn: it sends a request, and where a waiting room answers instead of the
// site, it checks in as told until the visitor is let in, and sends the request again.
import {
  BodyLostError,
  ChallengeError,
  RejectedError,
  dueAfterMs,
  factsOf,
  progressOf,
} from "./answer.ts";
import type { Facts, Progress } from "./answer.ts";
import { type Call, type Calls, callsOf } from "./calls.ts";
import type { CookieJar } from "./cookies.ts";
import { turnComes } from "./stream.ts";
import { type Surroundings, surroundings } from "./surroundings.ts";

export { BodyLostError, ChallengeError, RejectedError } from "./answer.ts";
export type { Facts, Progress, State } from "./answer.ts";
export { CookieJar } from "./cookies.ts";
export type { Surroundings } from "./surroundings.ts";

/** The options of `waitingRoomFetch`. */
export interface Options {
  /** Sends requests; `globalThis.fetch` by default. */
  readonly fetch?: typeof fetch;
  /** Is called whenever the room told something of the wait. */
  readonly onProgress?: (progress: Progress) => void;
  /**
   * Lets the user pass the challenge in `facts.turnstile`, on the room's host and with the cookies
   * of `fetch`; when the promise resolves, the request goes on. Without this option, or if the room
   * asks again, the request fails with a `ChallengeError`.
   */
  readonly onChallenge?: (facts: Facts) => Promise<void>;
  /**
   * Asks the user to enter, in a room in which turns are confirmed: the place is kept for
   * `facts.turnSeconds`. When the promise resolves, the turn is confirmed and the request goes on.
   * Without this option that is so at once.
   */
  readonly onTurn?: (facts: Facts) => Promise<void>;
  /** Keeps the cookies outside the browser, where fetch keeps none. */
  readonly cookies?: CookieJar;
  /** False opens no event stream: check-ins alone tell when the turn has come. */
  readonly eventStream?: boolean;
  /** Replaces clock, chance, tab and network, for tests. */
  readonly surroundings?: Surroundings;
}

/**
 * The most by which a check-in is late, in milliseconds. It is drawn, so that visitors who came
 * together do not check in together for ever.
 */
const JITTER_MS_MAX = 1_000;
/**
 * How often a check-in is repeated that a server answers with an error while the user waits: the
 * servers in between fail for a moment, and nobody was let in by that.
 */
const SERVER_ERRORS_MAX = 4;
/**
 * The longest pause between two attempts while there is no network, in milliseconds. The room keeps
 * a place for 300 s after a check-in.
 */
const RETRY_MS_MAX = 60_000;

/**
 * Makes a fetch for a site behind a waiting room. Where the room answers, it waits until the
 * visitor is let in, and returns the site's answer. Give `init.signal` to be able to give up.
 *
 * Unless `init` says otherwise it sends `Accept: application/json`: only then does a room answer
 * with JSON, which can be told from an answer of the site.
 */
export function waitingRoomFetch(options: Options = {}): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    if (!request.headers.has("accept") || request.headers.get("accept") === "*/*") {
      request.headers.set("accept", "application/json");
    }
    // A stream can be read only once; any other body can be sent again.
    const isSentOnce = init?.body instanceof ReadableStream || hasBodyOf(input);
    return new Wait(options, request).perform(isSentOnce);
  };
}

function hasBodyOf(input: RequestInfo | URL): boolean {
  return input instanceof Request && input.body !== null;
}

/** One request, from its first sending to the site's answer. */
class Wait {
  readonly #options: Options;
  readonly #around: Surroundings;
  readonly #request: Request;
  readonly #calls: Calls;
  readonly #call: Call;
  #wasChallenged = false;

  constructor(options: Options, request: Request) {
    this.#options = options;
    this.#around = options.surroundings ?? surroundings;
    this.#request = request;
    this.#calls = callsOf(options.cookies ?? options.fetch, request.url);
    const { sleep } = this.#around;
    this.#call = { signal: request.signal, sleep, onProgress: options.onProgress };
  }

  async perform(isSentOnce: boolean): Promise<Response> {
    try {
      return await (isSentOnce ? this.#sendOnce() : this.#sendUntilServed());
    } finally {
      this.#calls.ends(this.#call, false);
    }
  }

  async #sendOnce(): Promise<Response> {
    const admitted = await this.#admitted(() => this.#checkIn());
    await admitted.response.body?.cancel();
    const response = await this.#send(this.#request);
    if (await factsOf(response)) throw new BodyLostError();
    return response;
  }

  async #sendUntilServed(): Promise<Response> {
    const hasBody = this.#request.body !== null;
    const ask = () => this.#send(hasBody ? this.#request.clone() : this.#request);
    for (;;) {
      const { response, hasWaited } = await this.#admitted(ask);
      // The site never saw a request that the room answered, so sending it again does it once.
      if (!hasWaited || this.#request.method === "GET") return response;
      await response.body?.cancel();
    }
  }

  /** Asks once it is this call's turn, and returns the first answer of the site. */
  async #admitted(
    ask: () => Promise<Response>,
  ): Promise<{ response: Response; hasWaited: boolean }> {
    for (;;) {
      await this.#calls.turnOf(this.#call);
      const first = await ask();
      const hasWaited = (await factsOf(first)) !== undefined;
      if (hasWaited && !this.#calls.goesFirst(this.#call)) {
        await first.body?.cancel();
        continue;
      }
      const response = await this.#waitFrom(first);
      // An error of a server in between does not say that the visitor is inside.
      this.#calls.ends(this.#call, response.status < 500);
      return { response, hasWaited };
    }
  }

  /** Checks in from an answer of the room on, and returns the first answer of the site. */
  async #waitFrom(first: Response): Promise<Response> {
    let response = first;
    let last: Facts | undefined;
    for (;;) {
      const facts = await factsOf(response);
      if (!facts) {
        if (last) this.#calls.tell(progressOf(last, "turn"));
        return response;
      }
      last = facts;
      const progress = progressOf(facts);
      this.#calls.tell(progress);
      if (progress.state === "rejected") throw new RejectedError(facts);
      const dueMs = dueAfterMs(response, facts);
      if (progress.state === "challenge") await this.#challenge(facts);
      else if (facts.turnSeconds) await this.#confirm(facts, dueMs);
      else await this.#pause(facts, dueMs);
      response = await this.#checkInWhatever(facts);
    }
  }

  /** Lets the challenge be passed, once per request: if that did not help, a second would not. */
  async #challenge(facts: Facts): Promise<void> {
    const { onChallenge } = this.#options;
    if (!onChallenge || this.#wasChallenged) throw new ChallengeError(facts);
    this.#wasChallenged = true;
    await onChallenge(facts);
    this.#request.signal.throwIfAborted();
  }

  /** Confirms the turn, for which the place is kept; where that fails, the next check-in tells. */
  async #confirm(facts: Facts, dueMs: number): Promise<void> {
    await this.#options.onTurn?.(facts);
    const { url, credentials, signal } = this.#request;
    signal.throwIfAborted();
    const address = new URL("?waiting-room-place", url);
    const headers = {
      accept: "application/json",
      "content-type": "application/x-www-form-urlencoded",
      // Browsers write it themselves.
      origin: address.origin,
    };
    const form = { method: "POST", body: "act=enter", headers, credentials, signal };
    try {
      const answer = await this.#send(new Request(address, form));
      await answer.body?.cancel();
      if (answer.ok) return;
    } catch (error) {
      if (signal.aborted) throw error;
    }
    await this.#pause(facts, dueMs);
  }

  /** Waits until the next check-in is due, or the turn has come. */
  async #pause(facts: Facts, dueMs: number): Promise<void> {
    const { now, random, sleep, change } = this.#around;
    const dueAt = now() + dueMs + random() * Math.min(JITTER_MS_MAX, dueMs / 10);
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#request.signal]);
    const turn = this.#turn(facts, signal);
    try {
      for (let left = dueAt - now(); left > 0; left = dueAt - now()) {
        // A timer may be late in a hidden tab or after the device slept: look at the clock again.
        const wakes = [sleep(left, signal), change(signal)];
        if ((await Promise.race([...wakes, turn])) === true) break;
        this.#request.signal.throwIfAborted();
      }
    } finally {
      over.abort();
    }
  }

  /** Resolves to true when the turn has come; otherwise it stays pending. */
  async #turn(facts: Facts, signal: AbortSignal): Promise<boolean> {
    const listens = facts.eventStream === true && this.#options.eventStream !== false;
    if (listens) {
      const accept = "text/event-stream";
      const open = () => this.#send(this.#asking(accept, signal));
      const onFacts = (news: Facts) => this.#calls.tell(progressOf(news));
      if (await turnComes(open, onFacts)) return true;
    }
    return new Promise(() => {});
  }

  /** Checks in, and goes on trying while there is no network. */
  async #checkInWhatever(facts: Facts): Promise<Response> {
    const { sleep, change, isOnline } = this.#around;
    const { signal } = this.#request;
    for (let attempt = 0; ; attempt += 1) {
      try {
        if (isOnline()) {
          const answer = await this.#checkIn();
          const isOfServersBetween = answer.status >= 500 && !(await factsOf(answer));
          if (!isOfServersBetween || attempt >= SERVER_ERRORS_MAX) return answer;
          await answer.body?.cancel();
        }
      } catch (error) {
        if (signal.aborted) throw error;
      }
      // Before a challenge there is no interval.
      const firstMs = Math.max(facts.refreshIntervalSeconds, 1) * 1_000;
      const retryMs = Math.min(firstMs * 2 ** attempt, RETRY_MS_MAX);
      const over = new AbortController();
      const either = AbortSignal.any([over.signal, signal]);
      await Promise.race([sleep(retryMs, either), change(either)]);
      over.abort();
      signal.throwIfAborted();
    }
  }

  /** Asks whether the turn has come, by a GET without the body of the request. */
  #checkIn(): Promise<Response> {
    return this.#send(this.#asking("application/json", this.#request.signal));
  }

  /** Makes a GET of the same address with the same headers, except those of a body. */
  #asking(accept: string, signal: AbortSignal): Request {
    const { url, credentials, mode, redirect, referrerPolicy } = this.#request;
    const headers = new Headers(this.#request.headers);
    for (const name of [...headers.keys()].filter((name) => name.startsWith("content-"))) {
      headers.delete(name);
    }
    const isOriginal = accept === "application/json" && this.#request.method === "GET";
    if (!isOriginal) headers.set("accept", accept);
    // An answer of the site that is in the browser's cache must not take the place of the room's.
    const cache = "no-store";
    const same = { credentials, mode, redirect, referrerPolicy };
    return new Request(url, { ...same, headers, cache, signal });
  }

  async #send(request: Request): Promise<Response> {
    const { cookies } = this.#options;
    const send = this.#options.fetch ?? globalThis.fetch;
    const ours = cookies?.header(request.url);
    if (ours) {
      const own = request.headers.get("cookie");
      request.headers.set("cookie", own ? `${own}; ${ours}` : ours);
    }
    const response = await send(request);
    cookies?.keep(request.url, response.headers);
    return response;
  }
}
