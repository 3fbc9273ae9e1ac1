// Time, chance, and what the browser knows of tab and network: all that the library takes from its
// surroundings besides fetch. Tests bring their own. Decides nothing.

/** What the library needs besides fetch. */
export interface Surroundings {
  /** Milliseconds since the epoch. */
  now(): number;
  /** From 0 to below 1. */
  random(): number;
  /** Resolves after a while, or at once when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** False while there is certainly no network. */
  isOnline(): boolean;
  /** Resolves when something changed: the tab is seen again, the network is back; or on abort. */
  change(signal: AbortSignal): Promise<void>;
}

/** Those of a browser; in an app outside of it there is neither tab nor network to ask. */
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
      // Where there are no such events nobody can listen to them.
      globalThis.addEventListener?.("online", () => resolve(), once);
      signal.addEventListener("abort", () => resolve(), { once: true });
    }),
};
