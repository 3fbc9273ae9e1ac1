// How a room is at this moment, asked once: for a form that is saved now and then.
import { pathOf } from "./api.js";
import { isInForce } from "./event_facts.js";
import { eventsPathOf } from "./use_events.js";

/**
 * Asks how a room is: `{ event, numbers }`, with the event in force, if there is one, and the
 * numbers, unless nobody tells them: what is saved does not hang on either.
 */
export async function presentOf(call, room) {
  const [events, numbers] = await Promise.all([
    call("GET", eventsPathOf(room)).catch(() => []),
    call("GET", `${pathOf(room)}/status`).catch(() => undefined),
  ]);
  const now = Date.now();
  const counts = (one) => (numbers ? one.id === numbers.event_id : isInForce(one, now));
  return { event: events.find(counts), numbers };
}
