// What is half written in a form: kept in this tab until it is saved or thrown away, so that a
// reload, another screen or the way back does not lose it.
import { useState } from "preact/hooks";

const PREFIX = "waiting-room-draft/";

/** What was written under a name; nothing where nothing was, or without a name. */
export function readDraft(name) {
  if (!name) return undefined;
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + name)) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps what is written under a name; nothing any more if it is `undefined`. */
export function keepDraft(name, value) {
  if (!name) return;
  try {
    if (value === undefined) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // More than a browser keeps: it is lost with the tab, as it was before.
  }
}

/** The rest of the name of a draft whose name begins so; nothing without one. */
export function draftBelow(beginning) {
  const start = PREFIX + beginning;
  return Object.keys(sessionStorage).find((key) => key.startsWith(start))?.slice(start.length);
}

/** Forgets all drafts: whoever signs in next writes anew. */
export function forgetDrafts() {
  const keys = Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
  for (const key of keys) sessionStorage.removeItem(key);
}

/** A state that is kept as a draft: `[value, set]`. */
export function useDraft(name) {
  const [value, set] = useState(() => readDraft(name));
  const write = (next) => {
    keepDraft(name, next);
    set(next);
  };
  return [value, write];
}
