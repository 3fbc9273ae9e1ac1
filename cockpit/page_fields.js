// The fields of a room that are about its page.

import { ofEvent, ownOf } from "./changes.js";
import { fieldsOf } from "./fields.js";

const TEXTS = {
  page_name: { label: "Name", help: "Empty: the host of the room." },
  page_logo: { label: "Logo", type: "picture", help: "At most 3 KB: pages carry it." },
  page_color: { label: "Colour", help: "Like #0f766e." },
  page_text: {
    label: "Text",
    type: "textarea",
    help: "For everybody who waits. Then in other languages: [de] Guten Tag [fr] Bonjour",
  },
  page_help_url: { label: "Help", help: "An address: https://…" },
  default_template_language: {
    label: "Language",
    help: "For visitors whose browsers ask for none that there is.",
  },
  custom_page_html: {
    label: "A page of your own",
    type: "html",
    help: "HTML with variables in {{braces}}. Empty: the built-in page, with the fields above.",
  },
};

/** Their values are the room's, or empty. The languages to choose from get their names later. */
export const PAGE_FIELDS = fieldsOf("Page", TEXTS);

/** What a page can look like: the preview's parameters, and a name. */
export const PAGE_STATES = [
  ["", "Waiting"],
  ["waitTime=1", "Nearly there"],
  ["queue_is_full=true", "The line is full"],
  ["force_queue=true", "Hold all"],
  ["event=prequeueing", "Before an event"],
  ["event=prequeueing&shuffle_at_event_start=true", "Before a draw"],
  ["event=started", "During an event"],
  ["queueing_method=random", "Lottery"],
  ["queueing_method=reject", "Reject"],
];

/**
 * What the API makes a preview of: the values of these fields, and the message of the room, or of
 * the event `of` it.
 */
export function pageOf(values, { host, page_message: ofRoom }, of) {
  const { custom_page_html: html, default_template_language: _, ...fields } = values;
  const page_message = of?.page_message ?? ofRoom;
  return { custom_html: html, ...fields, page_name: fields.page_name || host, page_message };
}

/** Says when visitors see what was stored of a room's page, with this event in force, if one is. */
export function whenSeen(stored, event) {
  const later = ownOf(event, stored);
  if (later.length === 0) return "stored; visitors see it within 5 s.";
  if (later.length === Object.keys(stored).length) return `stored; but ${ofEvent(event)}.`;
  const labels = PAGE_FIELDS.filter(({ name }) => later.includes(name)).map(({ label }) => label);
  const those = labels.map((label) => `“${label}”`).join(", ");
  return `stored; visitors see it within 5 s, but of ${those} ${ofEvent(event)}.`;
}
