// The buttons of a room, each with what it will do, and the question before those that disturb
// people inside.
import { actionsOf } from "./actions.js";
import { Button, Outcome } from "./parts.jsx";
import { Question } from "./question.jsx";

/** Buttons that are not there any more once they were pressed. */
const GONE = ["on", "off", "start", "stop"];

export function Actions({ room, event, numbers, changes, isOff }) {
  const seen = (action) => (action.path.includes("/events/") ? event : room);
  return (
    <>
      <ActionList
        heading="Steer"
        actions={actionsOf({ room, event, numbers })}
        {...{ changes, isOff }}
        onPress={(action) => changes.make({ ...action, seen: seen(action), where: action.id })}
      />
      {changes.asked && <Question room={room} changes={changes} />}
    </>
  );
}

/**
 * Buttons, each with what it will do beside it, and then what came of it; of one that is not there
 * any more below the others.
 */
export function ActionList({ heading, actions, changes, isOff, onPress }) {
  const isThere = actions.some(({ id }) => id === changes.where);
  return (
    <section aria-labelledby="steer">
      <h2 id="steer">{heading}</h2>
      <ul class="actions">
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
