// A form for both limits, which says what they will do before they are applied.

import { limitsChange, limitsSeen } from "./actions.js";
import { useDraft } from "./drafts.js";
import { inForce, number } from "./facts.js";
import { Button, Outcome } from "./parts.jsx";
import { writtenNumber } from "./written_number.js";

export function Limits({ room, event, numbers, changes, isOff }) {
  const { limit, perMinute } = inForce(room, event);
  // What is written, and the limits at the moment when the writing began.
  const [draft, setDraft] = useDraft(`${room.id}/limits`);
  const shown = draft ?? { limit, perMinute };
  const write = (field) => (input) =>
    // Whoever writes on has seen what the room has by now.
    setDraft({ ...shown, basis: { limit, perMinute }, [field]: input.currentTarget.value });
  const wanted = { limit: writtenNumber(shown.limit), perMinute: writtenNumber(shown.perMinute) };
  const problem = problemOf(wanted);
  const differs = wanted.limit !== limit || wanted.perMinute !== perMinute;
  const change = problem ? undefined : limitsChange(room, event, numbers, wanted);
  const mayApply = !isOff && differs && !problem;
  const submit = async (form) => {
    form.preventDefault();
    if (!mayApply) return;
    const owner = change.path.includes("/events/") ? event : room;
    const seen = limitsSeen(owner, draft.basis);
    if (await changes.make({ ...change, seen, where: "limits" })) setDraft(undefined);
  };
  const meanwhile =
    draft && (draft.basis.limit !== limit || draft.basis.perMinute !== perMinute)
      ? `The room has changed meanwhile: now ${number(limit)}, and ${number(perMinute)} a minute. `
      : "";
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">Limits</h2>
      <form onSubmit={submit} class="limits">
        <Field id="total" label="Total active users" value={shown.limit} onInput={write("limit")} />
        <Field
          id="rate"
          label="New users per minute"
          value={shown.perMinute}
          onInput={write("perMinute")}
        />
        <p class="row">
          <Button class="main" isOff={!mayApply} aria-describedby="limits-do">
            Apply
          </Button>
          {draft && (
            <button type="button" onClick={() => setDraft(undefined)}>
              Cancel
            </button>
          )}
        </p>
        <p id="limits-do">
          {meanwhile}
          {differs ? (problem ?? change.sentence) : ""}
        </p>
      </form>
      <Outcome changes={changes} of="limits" />
    </section>
  );
}

function Field({ id, label, value, onInput }) {
  return (
    <p>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="number"
        inputmode="numeric"
        min="1"
        step="1"
        value={value}
        onInput={onInput}
        aria-describedby="limits-do"
      />
    </p>
  );
}

function problemOf({ limit, perMinute }) {
  const isWhole = (value) => Number.isInteger(value) && value >= 1;
  if (!isWhole(limit) || !isWhole(perMinute)) {
    return "Both limits are whole numbers from 1, without points or commas: 5000.";
  }
  if (perMinute > limit) return "New users per minute cannot be more than total active users.";
}
