// Time, chance, and what the browser knows of tab and network: all that the library takes from its
// surroundings besides fetch. Tests bring their own.

/** What the library needs besides fetch. */
export interface Surroundings {
  /** Returns the time in milliseconds since the epoch. */
  now(): number;
  /** Returns a random number from 0 to below 1. */
  random(): number;
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Returns false while there is certainly no network. */
  isOnline(): boolean;
  /**
   * Resolves when the tab is shown or hidden, when the network is back, or when `signal` aborts.
   */
  change(signal: AbortSignal): Promise<void>;
}

/** The surroundings of a browser. Outside of one there is neither tab nor network to ask. */
export const surroundings: Surroundings = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener("abort", end);
    }),
  isOnline: () => globalThis.navigator?.onLine !== false,
  change: (signal) =>
    new Promise((resolve) => {
      const once = { once: true, signal };
      globalThis.document?.addEventListener("visibilitychange", () => resolve(), once);
      // Outside of a browser there may be no way to listen to events.
      globalThis.addEventListener?.("online", () => resolve(), once);
      signal.addEventListener("abort", () => resolve(), { once: true });
    }),
};
