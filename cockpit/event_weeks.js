// Makes an event again each week: each is there once, however often that is tried, and one that is
// refused keeps no later one back.
import { pathOf } from "./api.js";
import { isSameEvent, weeksLater } from "./event_fields.js";
import { count, number } from "./facts.js";
import { eventsPathOf } from "./use_events.js";

/** The statuses of refusals are from this one on, and below the other. */
const REFUSED = 400;
const FAILED = 500;
const isRefused = ({ status }) => status >= REFUSED && status < FAILED;

/** The events that are still to be made where one is to be there in each of so many weeks. */
export function missingWeeks(event, weeks, events) {
  const all = Array.from({ length: weeks }, (_, at) => weeksLater(event, at + 1));
  return all.filter((body) => !events.some((one) => isSameEvent(one, body)));
}

/**
 * Makes so many events like one, each a week after the other, and says what was made. Throws what
 * was refused; where an answer is lost, and the event is not there, it goes no further.
 */
export async function makeWeekly(call, room, event, weeks) {
  let present = await call("GET", eventsPathOf(room));
  const isThere = (body) => present.some((one) => isSameEvent(one, body));
  const make = async (body) => {
    try {
      await call("POST", `${pathOf(room)}/events`, body);
    } catch (refusal) {
      if (isRefused(refusal)) throw refusal;
      present = await call("GET", eventsPathOf(room)).catch(() => present);
      if (!isThere(body)) throw refusal;
    }
  };
  const refused = [];
  let [made, were] = [0, 0];
  for (let week = 1; week <= weeks; week += 1) {
    const body = weeksLater(event, week);
    if (isThere(body)) were += 1;
    else {
      const refusal = await make(body).catch((why) => why);
      if (refusal) refused.push(`${body.name} was not made: ${refusal.message}`);
      else made += 1;
      if (refusal && !isRefused(refusal)) break;
    }
  }
  if (refused.length > 0) {
    const there = `${number(made + were)} of ${number(weeks)} are there.`;
    throw new Error([there, ...refused].join(" "));
  }
  const others = were > 0 ? `; ${count(were, "was", "were")} there already` : "";
  return `Made: ${number(made)}, like ${event.name}${others}.`;
}
