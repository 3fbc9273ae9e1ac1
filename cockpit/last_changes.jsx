// The last changes, by whom, each with Undo: from the audit log, so also after a reload and for
// what somebody else has changed.
import { moment } from "./facts.js";
import { Button, Outcome } from "./parts.jsx";

/** Where the outcome of taking something back is told: that is no last change any more. */
const UNDO = "undo";

export function LastChanges({ undos, changes, isOff }) {
  if (undos.length === 0 && changes.where !== UNDO) return null;
  return (
    <section aria-labelledby="last">
      <h2 id="last">Last changes</h2>
      <ul class="actions">
        {undos.map((undo) => (
          <li key={undo.version}>
            <Button
              isOff={isOff}
              aria-describedby={`was-${undo.version}`}
              onClick={() => changes.make({ ...undo, where: UNDO })}
            >
              {undo.label}
            </Button>
            <p id={`was-${undo.version}`}>
              {undo.now}{" "}
              <span class="soft">
                {undo.back ? "" : "since "}
                {moment(undo.at)}, by {undo.by}
              </span>
            </p>
          </li>
        ))}
      </ul>
      <Outcome changes={changes} of={UNDO} />
    </section>
  );
}
