// A message to everybody who waits: a form that says who will read it, and when.

import { pathOf } from "./api.js";
import { useDraft } from "./drafts.js";
import { count } from "./facts.js";
import { Button, Outcome } from "./parts.jsx";

/** The longest message that the API takes, in bytes. */
const BYTES_MAX = 4_000;

export function Message({ room, event, numbers, changes, isOff }) {
  // An event with a message of its own shows that one.
  const of = typeof event?.page_message === "string" ? event : room;
  const inForce = of.page_message ?? "";
  const [draft, setDraft] = useDraft(`${room.id}/message`);
  const message = (draft ?? inForce).replace(/\s+/g, " ").trim();
  const problem = problemOf(message);
  const mayApply = !isOff && !problem && message !== inForce;
  const make = async (page_message) => {
    const path = of === room ? pathOf(room) : pathOf(room, event);
    const change = { path, patch: { page_message }, seen: of, where: "message" };
    if (await changes.make(change)) setDraft(undefined);
  };
  const submit = (form) => {
    form.preventDefault();
    if (mayApply) make(message);
  };
  return (
    <section aria-labelledby="message">
      <h2 id="message">Message</h2>
      <form onSubmit={submit} class="message">
        <p>
          <label for="page-message">To everybody who waits</label>
          <textarea
            id="page-message"
            rows="3"
            value={draft ?? inForce}
            onInput={(input) => setDraft(input.currentTarget.value)}
            aria-describedby="message-do"
          />
        </p>
        <p class="row">
          <Button class="main" isOff={!mayApply} aria-describedby="message-do">
            Show
          </Button>
          {inForce && (
            <Button type="button" isOff={isOff} onClick={() => make("")}>
              Take away
            </Button>
          )}
        </p>
        <p id="message-do">{problem ?? whoReads({ room, event, of, inForce, numbers })}</p>
      </form>
      <Outcome changes={changes} of="message" />
    </section>
  );
}

function problemOf(message) {
  const bytes = new TextEncoder().encode(message).length;
  if (bytes > BYTES_MAX) return `A message has at most ${BYTES_MAX} bytes; this one has ${bytes}.`;
}

function whoReads({ room, event, of, inForce, numbers }) {
  if (room.custom_page_html) {
    return "The room has a page of its own, which shows the message only as {{pageMessage}}.";
  }
  const waiting = numbers?.estimated_queued_users;
  const readers = waiting ? `About ${count(waiting, "visitor")} in line` : "Whoever waits";
  const whose = of === room ? "" : ` It is the message of the event "${event.name}".`;
  return inForce
    ? `It is shown to everybody who waits.${whose}`
    : `${readers} will read it at the next check-in. Nobody inside sees it.${whose}`;
}
