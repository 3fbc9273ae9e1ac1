// What the method reject costs those who wait: the page that says so does not check in.
import { isHeldByHand, number } from "./facts.js";

const ANOTHER = "the method is another one";
/** What becomes of those who waited when a room sells again. */
export const WHO_IS_BACK =
  "Whoever waited has the place for 5 minutes and has to reload the page; the others stand at " +
  "the end of the line.";

/**
 * Says who loses the place once a room lets nobody new in, with these numbers where they are known;
 * "" where nobody does. `when` says what has to happen before, and `unless` what takes it back.
 */
export function whoLoses(numbers, when = "", unless = ANOTHER) {
  const whoever =
    `whoever waits loses the place, unless ${unless} within 5 minutes and the visitor reloads by ` +
    "then.";
  if (when) return `When ${when}, ${whoever}`;
  const waiting = numbers?.estimated_queued_users;
  if (waiting === undefined) return `From now on ${whoever}`;
  if (waiting === 0) return "";
  return (
    `About ${number(waiting)} in line lose their places, unless ${unless} within 5 minutes and ` +
    "they reload by then."
  );
}

/** Whether an event lets nobody new in by the method that counts in it; its hold goes before. */
export function rejects(event, room) {
  return (event.queueing_method ?? room.queueing_method) === "reject" && !event.queue_all;
}

const isToCome = (event, now) => Date.parse(event.event_start_time) > now;

/** Says who loses the place by an event as it is to be saved; "" where nobody does. */
export function whoLosesBy(event, { room, numbers, now }) {
  const counts = !room.suspended && !event.suspended && Date.parse(event.event_end_time) > now;
  if (!rejects(event, room) || !counts) return "";
  if (isToCome(event, now)) return whoLoses(numbers, `the event “${event.name}” starts`);
  return numbers?.held_by === "reject" ? "" : whoLoses(numbers, afterHold(isHeldByHand(room)));
}

/** The same of events that are to be made at once. */
export function whoLosesByAll(events, facts) {
  const closing = events.filter((event) => whoLosesBy(event, facts));
  const toCome = closing.filter((event) => isToCome(event, facts.now));
  const begun = closing.filter((event) => !isToCome(event, facts.now));
  const of = (event) => whoLosesBy(event, facts);
  // All that are to come say the same.
  const later =
    toCome.length > 1
      ? [whoLoses(facts.numbers, `one of these ${number(toCome.length)} events starts`)]
      : toCome.map(of);
  return [...begun.map(of), ...later].join(" ");
}

/** The same of a change of an event, where it is not so without the change. */
export function whoLosesByChange(event, patch, facts) {
  const changed = { ...event, ...patch };
  const lost = whoLosesBy(changed, facts);
  // Another name changes nothing for those who wait.
  const isSoAlready = event && whoLosesBy({ ...event, name: changed.name }, facts) === lost;
  return isSoAlready ? "" : lost;
}

/** Says who loses the place when a room's own settings count again after an event. */
export function whoLosesAfter({ room, numbers }) {
  const rejects = room.queueing_method === "reject" && !room.suspended;
  if (!rejects || numbers?.held_by === "reject") return "";
  return whoLoses(numbers, afterHold(isHeldByHand(room)));
}

/**
 * What it does to people to take the method of a room or an event back, from the fields `seen` to
 * those of `patch`: `{ asks, sentence }`. It asks where that sells out or sells again.
 */
export function ofMethodBack(patch, seen, room) {
  const isSoldOut = (fields) =>
    "queueing_method" in fields && (fields.queueing_method ?? room?.queueing_method) === "reject";
  if (isSoldOut(patch)) return { asks: true, sentence: whoLoses(undefined, "that method counts") };
  return isSoldOut(seen) && "queueing_method" in patch
    ? { asks: true, sentence: WHO_IS_BACK }
    : { asks: false, sentence: "" };
}

/** What has to happen before a method counts in a room, if that is held. */
export const afterHold = (isHeld) => (isHeld ? "the hold ends" : "");
