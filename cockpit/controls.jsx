// The buttons of a room, each with what it will do, and the question before those that disturb
// people inside.
import { useEffect, useRef, useState } from "preact/hooks";

import { actionsOf } from "./actions.js";
import { Button } from "./parts.jsx";

export function Actions({ room, event, numbers, changes, isOff }) {
  const actions = actionsOf({ room, event, numbers });
  const seen = (action) => (action.path.includes("/events/") ? event : room);
  return (
    <section aria-labelledby="steer">
      <h2 id="steer">Steer</h2>
      <ul class="actions">
        {actions.map((action) => (
          <li key={action.id}>
            <Button
              aria-describedby={`does-${action.id}`}
              aria-pressed={action.isInForce}
              isOff={isOff || action.isInForce || action.isImpossible}
              onClick={() => changes.make({ ...action, seen: seen(action) })}
            >
              {action.label}
            </Button>
            <p id={`does-${action.id}`}>
              {action.isInForce && <strong>In force. </strong>}
              {action.sentence}
            </p>
          </li>
        ))}
      </ul>
      {changes.asked && <Question room={room} changes={changes} />}
    </section>
  );
}

/** Asks for the room's name before a change that people inside notice. */
function Question({ room, changes: { asked, confirm, cancel } }) {
  const dialog = useRef();
  const [name, setName] = useState("");
  useEffect(() => dialog.current.showModal(), []);
  const isNamed = name.trim() === room.name;
  const submit = (event) => {
    event.preventDefault();
    if (!isNamed) return;
    // Closed first, so that the focus goes back to the button that was pressed.
    dialog.current.close();
    confirm();
  };
  return (
    <dialog ref={dialog} aria-labelledby="question" aria-describedby="consequence" onClose={cancel}>
      <form onSubmit={submit}>
        <h2 id="question">{asked.label}</h2>
        <p id="consequence">{asked.sentence}</p>
        <label for="name">
          To go on, enter the room’s name: <strong>{room.name}</strong>
        </label>
        <input
          id="name"
          autocomplete="off"
          spellcheck={false}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <p class="row">
          <button class="main" disabled={!isNamed}>
            {asked.label}
          </button>
          <button type="button" onClick={() => dialog.current.close()}>
            Cancel
          </button>
        </p>
      </form>
    </dialog>
  );
}
