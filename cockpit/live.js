// One room as it is now: its numbers each second while it is on the screen, and the event in force.
import { useEffect, useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { age } from "./facts.js";
import { useNow, usePolling } from "./polling.js";

/** How often a room is asked for where the stream is broken, in milliseconds. */
const PERIOD_MS = 2_000;
const NOT_FOUND = 404;

/**
 * Returns `{ numbers, event, isUnknown, now, age, problem, again }` of a room while `runs`: from
 * the stream of the tab, and while that is broken by a call each 2 s; with the event by one call
 * more when it begins or the configuration has another `version`, repeated each 2 s without an
 * answer. `isUnknown` says that an event is in force which has not been read.
 */
export function useLive(session, room, version, runs) {
  const streamed = useWatch(session.watch, room, runs);
  const ask = () => session.call("GET", `${pathOf(room)}/status`);
  const polled = usePolling(ask, PERIOD_MS, runs && streamed.isBroken === true);
  const isPolled = streamed.isBroken && (polled.at ?? 0) >= (streamed.at ?? 0);
  const newest = isPolled ? { ...polled, numbers: polled.value } : streamed;
  const { numbers, at } = newest;
  const problem = streamed.isBroken ? polled.problem : streamed.problem;
  const eventId = numbers?.event_id;
  const [event, setEvent] = useState();
  useEffect(() => {
    if (!eventId) return setEvent(undefined);
    let ended = false;
    let timer;
    const take = (found) => ended || setEvent(found);
    const again = ({ status }) => {
      if (ended) return;
      timer = setTimeout(look, PERIOD_MS);
      // Somebody has deleted it: the numbers are still those of some seconds ago.
      if (status === NOT_FOUND) setEvent({ id: eventId, isGone: true });
    };
    const look = () => session.call("GET", pathOf(room, { id: eventId })).then(take, again);
    look();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [eventId, version]);
  const here = useNow(runs);
  // Events begin and end by the Worker's clock.
  const now = here - (streamed.ahead ?? 0);
  const isUnknown = Boolean(eventId) && event?.id !== eventId;
  const known = { numbers, event: event?.isGone ? undefined : event, isUnknown, now, problem };
  return { ...known, age: age(at, here, problem), again: polled.again };
}

/** What the stream says of a room; of one that is not looked at any more, what it has said. */
function useWatch(watch, room, runs) {
  const [told, tell] = useState({});
  useEffect(() => {
    if (runs) return watch.follow(`${room.zone_id}/${room.id}`, tell);
  }, [watch, room.zone_id, room.id, runs]);
  return told;
}
