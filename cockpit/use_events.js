// The events of a room, read again when the configuration has another version.
import { useEffect, useState } from "preact/hooks";

import { pathOf } from "./api.js";

const EVENTS_AT_MOST = 1_000;
/** How long after a call that was not answered the events are asked for again, in milliseconds. */
const AGAIN_MS = 3_000;

/** The path of all events of a room. */
export const eventsPathOf = (room) => `${pathOf(room)}/events?per_page=${EVENTS_AT_MOST}`;

/** Returns `{ events, problem, again }`. */
export function useEvents(session, room, version) {
  const [known, set] = useState({});
  const [round, next] = useState(0);
  useEffect(() => {
    let isOld = false;
    const take = (news) => isOld || set(news);
    let timer;
    const fail = ({ message }) => {
      take((old) => ({ ...old, problem: message }));
      if (!isOld) timer = setTimeout(ask, AGAIN_MS);
    };
    const show = (events) => take({ events });
    const ask = () => session.call("GET", eventsPathOf(room)).then(show, fail);
    ask();
    // An answer that comes after a later question is an old one.
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [version, round]);
  return { ...known, again: () => next((count) => count + 1) };
}
