// One room as it is now: its numbers every 2 s while it is on the screen, and the event in force.
import { useEffect, useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { age } from "./facts.js";
import { useNow, usePolling } from "./polling.js";

const PERIOD_MS = 2_000;

/**
 * Returns `{ numbers, event, now, age, problem, again }` of a room: one call each 2 s while `runs`,
 * and one more when an event begins or the configuration has another `version`.
 */
export function useLive(session, room, version, runs) {
  const ask = () => session.call("GET", `${pathOf(room)}/status`);
  const { value: numbers, at, problem, again } = usePolling(ask, PERIOD_MS, runs);
  const eventId = numbers?.event_id;
  const [event, setEvent] = useState();
  useEffect(() => {
    if (!eventId) return setEvent(undefined);
    let ended = false;
    const take = (found) => ended || setEvent(found);
    // Without an answer the old one stays, and the next version asks again.
    session.call("GET", pathOf(room, { id: eventId })).then(take, () => {});
    return () => {
      ended = true;
    };
  }, [eventId, version]);
  const now = useNow(runs);
  return { numbers, event, now, age: age(at, now, problem), problem, again };
}
