// The message to those who wait: whose it is, who will read it, and what is shown while another one
// is written.
import { count } from "./facts.js";

/** The longest message that the API takes, in bytes. */
const BYTES_MAX = 4_000;
/** How a template names the message. */
const NAMED = /\{\{[^}]*\bpageMessage\b/;

/** The room, or its event in force where that has a message of its own, which is shown instead. */
export function ownerOf(room, event) {
  return typeof event?.page_message === "string" ? event : room;
}

/**
 * Describes what is written of a message: `{ text, inForce, seen, isOther, isWrong, sentence }`.
 * `draft` is `{ basis, text }`: with the message that was shown when the writing began. `seen` is
 * the room or event as it was then, and `isOther` says whether another message is shown by now.
 */
export function messageOf({ room, event, numbers, draft }) {
  const of = ownerOf(room, event);
  const inForce = of.page_message ?? "";
  const text = (draft?.text ?? inForce).replace(/\s+/g, " ").trim();
  const isOther = draft !== undefined && draft.basis !== inForce;
  const problem = problemOf(text);
  const whose = of === room ? "" : `It is the message of the event “${event.name}”.`;
  const shown = draft && whatIsShown(inForce, isOther);
  const read = readBy({ room, event, numbers, isShown: inForce && !draft });
  return {
    text,
    inForce,
    seen: isOther ? { ...of, page_message: draft.basis } : of,
    isOther,
    isWrong: problem !== undefined,
    sentence: problem ?? [shown, read, whose].filter(Boolean).join(" "),
  };
}

function problemOf(message) {
  const bytes = new TextEncoder().encode(message).length;
  if (bytes > BYTES_MAX) return `A message has at most ${BYTES_MAX} bytes; this one has ${bytes}.`;
}

function whatIsShown(inForce, isOther) {
  const what = inForce ? `“${inForce}” is shown` : "no message is shown";
  if (isOther) return `Meanwhile somebody else has changed it: ${what}.`;
  return inForce && `Until then ${what}.`;
}

function readBy({ room, event, numbers, isShown }) {
  const html = event?.custom_page_html ?? room.custom_page_html;
  if (html && !NAMED.test(html)) {
    const whose = event?.custom_page_html ? "event" : "room";
    return `The ${whose} has a page of its own, which shows no message: it lacks {{pageMessage}}.`;
  }
  if (isShown) return "It is shown to everybody who waits.";
  const waiting = numbers?.estimated_queued_users;
  const readers = waiting ? `About ${count(waiting, "visitor")} in line` : "Whoever waits";
  return `${readers} will read it at the next check-in. Nobody inside sees it.`;
}
