// fetch that waits its turn: sends a request, and where a waiting room answers instead of the site,
// checks in as told until the visitor is let in, and sends it again. Never asks sooner than told.
import { BodyLostError, ChallengeError, RejectedError, factsOf, progressOf } from "./answer.ts";
import type { Facts, Progress } from "./answer.ts";
import type { CookieJar } from "./cookies.ts";
import { turnComes } from "./stream.ts";
import { type Surroundings, surroundings } from "./surroundings.ts";

export { BodyLostError, ChallengeError, RejectedError } from "./answer.ts";
export type { Facts, Progress, State } from "./answer.ts";
export { CookieJar } from "./cookies.ts";
export type { Surroundings } from "./surroundings.ts";

/** How to wait. */
export interface Options {
  /** Sends requests; `globalThis.fetch` unless given. */
  readonly fetch?: typeof fetch;
  /** Called with each news of the wait. */
  readonly onProgress?: (progress: Progress) => void;
  /**
   * Has the challenge in `facts.turnstile` passed on the room's host, with the cookies of `fetch`;
   * then the request goes on. Without it, or when it was of no use, there is a `ChallengeError`.
   */
  readonly onChallenge?: (facts: Facts) => Promise<void>;
  /** Keeps cookies where fetch keeps none: outside the browser. */
  readonly cookies?: CookieJar;
  /** False: no event stream is opened, check-ins alone tell when the turn has come. */
  readonly eventStream?: boolean;
  /** For tests. */
  readonly surroundings?: Surroundings;
}

/** A check-in comes up to this much late, so that those who came together do not stay so. */
const JITTER_MS_MAX = 1_000;
/** While there is no network: the longest pause before the next attempt. Places are kept 300 s. */
const RETRY_MS_MAX = 60_000;

/**
 * A fetch for a site behind a waiting room. Where the room answers, it waits until the visitor is
 * let in, and returns the site's answer. Give `init.signal` to be able to give up.
 *
 * Unless `init` says otherwise it sends `Accept: application/json`: only so do rooms answer in a
 * way that can be told from a page.
 */
export function waitingRoomFetch(options: Options = {}): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    if (!request.headers.has("accept") || request.headers.get("accept") === "*/*") {
      request.headers.set("accept", "application/json");
    }
    // A stream is gone when it has been sent; all other bodies the room hands back unsent.
    const isSentOnce = init?.body instanceof ReadableStream || hasBodyOf(input);
    return new Wait(options, request).perform(isSentOnce);
  };
}

function hasBodyOf(input: RequestInfo | URL): boolean {
  return input instanceof Request && input.body !== null;
}

/** One request, for as long as it takes. */
class Wait {
  readonly #options: Options;
  readonly #around: Surroundings;
  readonly #request: Request;
  #wasChallenged = false;

  constructor(options: Options, request: Request) {
    this.#options = options;
    this.#around = options.surroundings ?? surroundings;
    this.#request = request;
  }

  async perform(isSentOnce: boolean): Promise<Response> {
    const hasBody = this.#request.body !== null;
    if (isSentOnce) {
      await this.#waitFrom(await this.#checkIn());
      const response = await this.#send(this.#request);
      if (await factsOf(response)) throw new BodyLostError();
      return response;
    }
    for (;;) {
      const response = await this.#send(hasBody ? this.#request.clone() : this.#request);
      const facts = await factsOf(response);
      if (!facts) return response;
      // What the room answers the site never saw, so that sending it again does it once.
      const admitted = await this.#waitFrom(response);
      if (admitted && this.#request.method === "GET") return admitted;
      await admitted?.body?.cancel();
    }
  }

  /** Waits from an answer of the room on, and returns the first of the site. */
  async #waitFrom(first: Response): Promise<Response> {
    let response = first;
    let last: Facts | undefined;
    for (;;) {
      const facts = await factsOf(response);
      if (!facts) {
        if (last) this.#tell(progressOf(last, "turn"));
        return response;
      }
      last = facts;
      const progress = progressOf(facts);
      this.#tell(progress);
      if (progress.state === "rejected") throw new RejectedError(facts);
      if (progress.state === "challenge") await this.#challenge(facts);
      else await this.#pause(facts);
      response = await this.#checkInWhatever(facts);
    }
  }

  /** Once: whoever met it for nothing would meet it for ever. */
  async #challenge(facts: Facts): Promise<void> {
    const { onChallenge } = this.#options;
    if (!onChallenge || this.#wasChallenged) throw new ChallengeError(facts);
    this.#wasChallenged = true;
    await onChallenge(facts);
    this.#request.signal.throwIfAborted();
  }

  /** Until the next check-in is due, or the turn has come. */
  async #pause(facts: Facts): Promise<void> {
    const { now, random, sleep, change } = this.#around;
    const intervalMs = facts.refreshIntervalSeconds * 1_000;
    const dueAt = now() + intervalMs + random() * Math.min(JITTER_MS_MAX, intervalMs / 10);
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#request.signal]);
    const turn = this.#turn(facts, signal);
    try {
      for (let left = dueAt - now(); left > 0; left = dueAt - now()) {
        // A tab that was hidden, or a device that slept, looks at the clock when it is seen again.
        const wakes = [sleep(left, signal), change(signal)];
        if ((await Promise.race([...wakes, turn])) === true) break;
        this.#request.signal.throwIfAborted();
      }
    } finally {
      over.abort();
    }
  }

  /** Resolves to true when the turn has come, and to nothing else. */
  async #turn(facts: Facts, signal: AbortSignal): Promise<boolean> {
    const listens = facts.eventStream === true && this.#options.eventStream !== false;
    if (listens) {
      const accept = "text/event-stream";
      const open = () => this.#send(this.#asking(accept, signal));
      const onFacts = (news: Facts) => this.#tell(progressOf(news));
      if (await turnComes(open, onFacts)) return true;
    }
    return new Promise(() => {});
  }

  /** A check-in that goes on trying while there is no network. */
  async #checkInWhatever(facts: Facts): Promise<Response> {
    const { sleep, change, isOnline } = this.#around;
    const { signal } = this.#request;
    for (let attempt = 0; ; attempt += 1) {
      try {
        if (isOnline()) return await this.#checkIn();
      } catch (error) {
        if (signal.aborted) throw error;
      }
      const retryMs = Math.min(facts.refreshIntervalSeconds * 1_000 * 2 ** attempt, RETRY_MS_MAX);
      const over = new AbortController();
      const either = AbortSignal.any([over.signal, signal]);
      await Promise.race([sleep(retryMs, either), change(either)]);
      over.abort();
      signal.throwIfAborted();
    }
  }

  /** Looks whether the turn has come, without what the request would do. */
  #checkIn(): Promise<Response> {
    return this.#send(this.#asking("application/json", this.#request.signal));
  }

  /** A GET of the same address with the same headers, but those that go with a body. */
  #asking(accept: string, signal: AbortSignal): Request {
    const { url, credentials, mode, redirect, referrerPolicy } = this.#request;
    const headers = new Headers(this.#request.headers);
    for (const name of [...headers.keys()].filter((name) => name.startsWith("content-"))) {
      headers.delete(name);
    }
    const isOriginal = accept === "application/json" && this.#request.method === "GET";
    if (!isOriginal) headers.set("accept", accept);
    // A room's answer is never stored, and no stored one may take its place.
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

  #tell(progress: Progress): void {
    this.#options.onProgress?.(progress);
  }
}
