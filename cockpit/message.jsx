// A message to everybody who waits: a form that says who will read it, and when.

import { pathOf } from "./api.js";
import { useDraft } from "./drafts.js";
import { messageOf, ownerOf } from "./message_words.js";
import { Button, Outcome } from "./parts.jsx";

/** The form for the room, or for its event in force: what is written for one is not the other's. */
export function Message({ changes, ...rest }) {
  const of = ownerOf(rest.room, rest.event);
  return (
    <section aria-labelledby="message">
      <h2 id="message">Message</h2>
      <Written key={of.id} {...{ ...rest, of, changes }} />
      <Outcome changes={changes} of="message" />
    </section>
  );
}

function Written({ room, event, of, numbers, changes, isOff }) {
  const [draft, setDraft] = useDraft(`message/${of.id}`);
  const message = messageOf({ room, event, numbers, draft });
  const { text, inForce, seen, isOther } = message;
  const path = of === room ? pathOf(room) : pathOf(room, event);
  const mayApply = !isOff && !message.isWrong && text !== inForce;
  const make = (page_message, seen) =>
    changes.make({ path, patch: { page_message }, seen, where: "message" });
  const show = async (seen) => {
    if (await make(text, seen)) setDraft(undefined);
  };
  const takeAway = async () => {
    // What is half written stays, and is about no message from then on.
    if ((await make("", of)) && draft) setDraft({ ...draft, basis: "" });
  };
  const submit = (form) => {
    form.preventDefault();
    if (mayApply) show(seen);
  };
  const write = ({ currentTarget }) =>
    setDraft({ basis: inForce, ...draft, text: currentTarget.value });
  return (
    <form onSubmit={submit} class="message">
      <p>
        <label for="page-message">To everybody who waits</label>
        <textarea
          id="page-message"
          rows="3"
          value={draft?.text ?? inForce}
          onInput={write}
          aria-describedby="message-do message-help"
        />
      </p>
      <p class="soft small" id="message-help">
        Then in other languages: [de] Guten Tag [fr] Bonjour
      </p>
      <p class="row">
        <Button class="main" isOff={!mayApply} aria-describedby="message-do">
          Show
        </Button>
        {inForce && (
          <Button type="button" isOff={isOff} onClick={takeAway}>
            Take away
          </Button>
        )}
        {draft && (
          <button type="button" onClick={() => setDraft(undefined)}>
            Cancel
          </button>
        )}
        {isOther && (
          <Button type="button" isOff={!mayApply} onClick={() => show(of)}>
            Show mine instead
          </Button>
        )}
      </p>
      <p id="message-do">{message.sentence}</p>
    </form>
  );
}
