// Asking again and again while somebody looks: not in a hidden tab, and not for what is out of
// sight.
import { useEffect, useReducer, useRef, useState } from "preact/hooks";

/** Whether the tab is in front. */
export function useTabInFront() {
  const [inFront, set] = useState(!document.hidden);
  useEffect(() => {
    const look = () => set(!document.hidden);
    document.addEventListener("visibilitychange", look);
    // A tab that was hidden before this listened.
    look();
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return inFront;
}

/** Whether the element of a reference is on the screen, or nearly. */
export function useOnScreen(element) {
  const [onScreen, set] = useState(false);
  useEffect(() => {
    const seen = (entries) => set(entries.at(-1).isIntersecting);
    const observer = new IntersectionObserver(seen, { rootMargin: "40px" });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return onScreen;
}

/** The time in milliseconds, anew each second while `runs`. */
export function useNow(runs) {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    if (!runs) return;
    set(Date.now());
    const timer = setInterval(() => set(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [runs]);
  return now;
}

/**
 * Asks `ask(known)` at once and then `periodMs` after each answer, while `runs`. Returns what is
 * known: `{ value, at, problem, again }`, where `value` is the last good answer of the moment `at`,
 * `problem` why there is no newer one, and `again` asks at once.
 */
export function usePolling(ask, periodMs, runs) {
  const [known, set] = useState({});
  const [round, again] = useReducer((count) => count + 1, 0);
  const latest = useRef();
  latest.current = { ask, known };
  useEffect(() => {
    if (!runs) return;
    let timer;
    let ended = false;
    const turn = async () => {
      try {
        const value = await latest.current.ask(latest.current.known.value);
        if (!ended) set({ value, at: Date.now() });
      } catch (problem) {
        if (!ended) set((old) => ({ ...old, problem }));
      }
      if (!ended) timer = setTimeout(turn, periodMs);
    };
    turn();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [runs, round, periodMs]);
  return { ...known, again };
}
