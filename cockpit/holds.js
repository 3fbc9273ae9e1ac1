// Which rooms are held, by whom and until when: by their owner, by a prequeue, or by an event. No
// list tells the last, so rooms are asked one by one; and which of them do not answer.
import { useEffect, useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { clock, isHeldByHand, number } from "./facts.js";

/** So many rooms are asked at most. */
export const ASKED_MAX = 50;
/** Of how many rooms that are held the names and numbers are told. */
export const HELD_AT_MOST = 10;
/** From this status on the Worker answers that a part of it does not. */
const FAILED = 500;
const NOT_FOUND = 404;

/**
 * Returns `{ held, silent, isAsked }`: the rooms that are held at the moment `now`, each
 * `{ room, event }`, with the name of the event and the time `until` which it holds, if one does;
 * those that did not answer or not wholly, each `{ room, problem, isPart }`; and whether all have
 * been asked once. They are asked anew with each reading of `rooms` and each `round`.
 */
export function useHolds(session, rooms, now, round) {
  const [{ byEvents, silent, isAsked }, set] = useState({ byEvents: new Map(), silent: [] });
  useEffect(() => {
    let ended = false;
    askedOf(session.call, rooms).then((found) => ended || set({ ...found, isAsked: true }));
    return () => {
      ended = true;
    };
  }, [rooms, round]);
  const isOn = ({ until } = {}) => until && Date.parse(until) > now;
  const held = rooms.flatMap((room) => {
    if (isHeld(room, now)) return [{ room }];
    const event = byEvents.get(room.id);
    return !room.suspended && isOn(event) ? [{ room, event }] : [];
  });
  return { held, silent, isAsked };
}

/**
 * Asks rooms how they are: `byEvents` has which events hold them now, `{ name, until }` by the id
 * of the room, and `silent` the rooms that did not answer, and those with data centers that do not
 * report, `isPart`.
 */
export async function askedOf(call, rooms) {
  const byEvents = new Map();
  const ask = async (room) => {
    const status = await call("GET", `${pathOf(room)}/status`);
    const { held_by: by, held_until: until, event_id: id, silent_data_centers: places } = status;
    if (by === "event") {
      const event = await call("GET", pathOf(room, { id })).catch(unlessGone);
      if (event) byEvents.set(room.id, { name: event.name, until });
    }
    return places ?? [];
  };
  const asked = rooms.filter(({ suspended }) => !suspended).slice(0, ASKED_MAX);
  const answers = await Promise.allSettled(asked.map(ask));
  const silent = asked.flatMap((room, at) => {
    const { reason, value: places = [] } = answers[at];
    if (places.length > 0) return [{ room, problem: places.map(silence).join("; "), isPart: true }];
    // A room that was deleted is not silent, nor one that this network or sign-in does not reach.
    return reason?.status >= FAILED ? [{ room, problem: reason.message }] : [];
  });
  return { byEvents, silent };
}

/** Of an event that was deleted meanwhile there is nothing to tell. */
function unlessGone(refusal) {
  if (refusal.status !== NOT_FOUND) throw refusal;
}

function silence({ data_center: place, silent_seconds: seconds }) {
  return `data center ${place}: no report for ${number(seconds)} s`;
}

/** Whether nobody new enters a room, by its owner's hand or in a prequeue. */
export function isHeld(room, now) {
  if (room.suspended) return false;
  const isPast = (text) => text && Date.parse(text) <= now;
  const isPrequeueing = isPast(room.next_event_prequeue_start_time);
  return isHeldByHand(room) || isPrequeueing;
}

/** Says which rooms are held; of a single one also by which event and until when. */
export function heldSentence(held) {
  if (held.length === 1) {
    const [{ room, event }] = held;
    const why = event ? ` by the event ${event.name} until ${clock(event.until)}` : "";
    return `Room ${room.name} is held${why}: nobody new enters.`;
  }
  const names = held.slice(0, HELD_AT_MOST).map(({ room }) => room.name);
  const more = held.length > names.length ? ` and ${number(held.length - names.length)} more` : "";
  return `Rooms ${names.join(", ")}${more} are held: nobody new enters.`;
}
