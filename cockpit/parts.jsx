// Small parts of several screens: a status with its mark, a bar with the limit, the age of numbers.
import { duration, moment, nextEvent, number } from "./facts.js";

/** What a room does, by a word, a shape (of the style sheet) and a colour. */
export function Status({ of: { level, word } }) {
  return <span class={`status ${level}`}>{word}</span>;
}

/** How full a room is: a bar with a mark at the limit. The numbers stand beside it as text. */
export function Bar({ inside, limit }) {
  const whole = Math.max(limit * 1.1, inside);
  const share = (value) => `${(100 * value) / whole}%`;
  return (
    <span class="bar" aria-hidden="true">
      <span class="fill" style={{ width: share(inside) }} />
      <span class="mark" style={{ left: share(limit) }} />
    </span>
  );
}

/** Shows the age of the numbers; if they are stale, also the reason. */
export function Age({ live: { age, problem } }) {
  return (
    <span class={age.isOld ? "old" : "soft"}>
      {age.text}
      {age.isOld && problem ? `: ${problem.message}` : ""}
    </span>
  );
}

/** A sentence of the doctor, whose commands stand between backticks for a terminal. */
export function Sentence({ of: text = "" }) {
  return text.split("`").map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part));
}

/** The next change by an event, with a countdown. */
export function NextEvent({ room, event, now }) {
  const next = nextEvent(room, event, now);
  if (!next) return <>none</>;
  const seconds = (new Date(next.at).getTime() - now) / 1_000;
  return (
    <>
      {next.what} {seconds > 0 ? `in ${duration(seconds)}` : "now"}
      <span class="soft small"> {moment(next.at)}</span>
    </>
  );
}

/** How many wait: an estimate, so it says so. */
export function waiting({ estimated_queued_users: value }) {
  return value === 0 ? "0" : `about ${number(value)}`;
}

/**
 * A button that keeps the focus while it is off, so that a keyboard does not lose its place. The
 * second click of a double click is none: what was changed may have moved another button there.
 */
export function Button({ isOff, onClick, children, ...rest }) {
  const press = (event) => {
    if (isOff || event.detail > 1) event.preventDefault();
    else onClick?.(event);
  };
  return (
    <button {...rest} aria-disabled={isOff ? "true" : undefined} onClick={press}>
      {children}
    </button>
  );
}

/**
 * What came of the last change, where it was made: beside the control with the name `of`, so that
 * it lies over nothing else.
 */
export function Outcome({ changes: { done, problem, where }, of }) {
  const isHere = where === of;
  return (
    <div class="outcome">
      <p class="problem" role="alert">
        {isHere && problem}
      </p>
      <p role="status">{isHere && done}</p>
    </div>
  );
}
