// The buttons of a room, each with what it will do, and the question before those that disturb
// people inside.
import { actionsOf } from "./actions.js";
import { Button } from "./parts.jsx";
import { Question } from "./question.jsx";

export function Actions({ room, event, numbers, changes, isOff }) {
  const seen = (action) => (action.path.includes("/events/") ? event : room);
  return (
    <>
      <ActionList
        heading="Steer"
        actions={actionsOf({ room, event, numbers })}
        isOff={isOff}
        onPress={(action) => changes.make({ ...action, seen: seen(action) })}
      />
      {changes.asked && <Question room={room} changes={changes} />}
    </>
  );
}

/** Buttons, each with what it will do beside it. */
export function ActionList({ heading, actions, isOff, onPress }) {
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
          </li>
        ))}
      </ul>
    </section>
  );
}
