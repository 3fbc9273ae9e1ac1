// The buttons of a room, each with what it will do, and the question before those that disturb
// people inside or take places of those in line.
import { useRef } from "preact/hooks";

import { actionsOf } from "./actions.js";
import { Button, Outcome } from "./parts.jsx";
import { Question } from "./question.jsx";

/** Buttons that are not there any more once they were pressed. */
const GONE = ["on", "off", "start", "stop", "sold-out", "sell-again"];
/** Where a button is held to be read, as the style sheet has it. */
const PHONE = "(max-width: 30rem)";
/** Whoever holds a button for longer reads what it will do, in milliseconds. */
const PRESSED_MS = 500;

export function Actions({ room, event, numbers, log, changes, isOff }) {
  const seen = (action) => (action.path.includes("/events/") ? event : room);
  return (
    <>
      <ActionList
        heading="Steer"
        actions={actionsOf({ room, event, numbers, log })}
        held={useHeld()}
        {...{ changes, isOff }}
        onPress={(action) => changes.make({ ...action, seen: seen(action), where: action.id })}
      />
      {changes.asked && <Question room={room} changes={changes} />}
    </>
  );
}

/**
 * Returns listeners for buttons that are held to be read: then a button has the focus, so that what
 * was read stays, and the click at the end is none.
 */
function useHeld() {
  const held = useRef({});
  const end = () => clearTimeout(held.current.timer);
  return {
    onPointerDown: ({ target }) => {
      end();
      const read = () => {
        held.current.isRead = matchMedia(PHONE).matches;
        if (held.current.isRead) target.focus();
      };
      held.current = { timer: setTimeout(read, PRESSED_MS) };
    },
    onPointerUp: end,
    onPointerCancel: end,
    onClickCapture: (event) => {
      // The click of a keyboard has no detail.
      if (held.current.isRead && event.detail > 0) event.stopPropagation();
      held.current = {};
    },
  };
}

/**
 * Buttons, each with what it will do beside it, and then what came of it; of one that is not there
 * any more below the others. `held` has more listeners.
 */
export function ActionList({ heading, actions, changes, isOff, held, onPress }) {
  const isThere = actions.some(({ id }) => id === changes.where);
  return (
    <section aria-labelledby="steer">
      <h2 id="steer">{heading}</h2>
      <ul class="actions" {...held}>
        {actions.map((action) => (
          <li key={action.id}>
            <Button
              aria-describedby={`does-${action.id}`}
              aria-pressed={action.isInForce}
              isOff={isOff || action.isInForce || action.isImpossible}
              onClick={() => onPress(action)}
            >
              {action.label}
            </Button>
            <p id={`does-${action.id}`}>
              {action.isInForce && <strong>In force. </strong>}
              {action.sentence}
            </p>
            <Outcome changes={changes} of={action.id} />
          </li>
        ))}
      </ul>
      {!isThere && GONE.includes(changes.where) && <Outcome changes={changes} of={changes.where} />}
    </section>
  );
}
