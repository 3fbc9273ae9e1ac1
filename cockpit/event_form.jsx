// Makes or changes an event; an empty field leaves it to the room. And makes more of one, each a
// week after the other.
import { useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { applyPatch, textsOf } from "./changes.js";
import { EVENT_FIELDS, shownOf, weeksLater, whatIsOver } from "./event_fields.js";
import { makeWeekly, missingWeeks } from "./event_weeks.js";
import { moment } from "./facts.js";
import { Form } from "./form.jsx";
import { presentOf } from "./present.js";
import { Question, useQuestion } from "./question.jsx";
import { rejects, whoLosesByAll, whoLosesByChange } from "./rejected.js";

/** How many weeks can be made at once: a year. */
const WEEKS_MAX = 52;
const WEEKS = {
  name: "weeks",
  label: "For how many weeks",
  type: "number",
  help: "1 to 52. Each is an event of its own: changed, disabled and deleted alone.",
};

/** The form of an event, or of a new one that begins `like` another. */
export function EventForm({ session, room, event, like, draft, onSaved, onCancel }) {
  // What the form began with: what somebody else has changed since is not written over.
  const [begun] = useState(event);
  const [initial] = useState(() => shownOf(event ?? like));
  const question = useQuestion("Save");
  const save = async (body, written, stale) => {
    const seen = { ...begun, ...stale };
    const path = begun ? pathOf(room, begun) : `${pathOf(room)}/events`;
    const patch = begun ? differing(written, initial, body) : body;
    await asksWhoLoses(patch);
    const { result: saved, messages } = begun
      ? await applyPatch(session.ask, path, patch, seen)
      : await session.ask("POST", path, patch);
    const told = [`Saved: ${saved.name}.`, whatIsOver(saved, Date.now()), ...textsOf(messages)];
    onSaved(saved, told.join(" "));
  };
  const asksWhoLoses = async (patch) => {
    if (!rejects({ ...begun, ...patch }, room)) return;
    const { numbers } = await presentOf(session.call, room);
    await agrees(question, whoLosesByChange(begun, patch, { room, numbers, now: Date.now() }));
  };
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <section aria-labelledby="edit">
      <h2 id="edit">{event ? `Edit “${event.name}”` : "New event"}</h2>
      <p class="soft">Times are those of {zone}, where you are.</p>
      <Form
        fields={EVENT_FIELDS}
        initial={initial}
        label="Save"
        draft={draft}
        isStored={begun !== undefined}
        sentence={(values) => whatIsOver(values, Date.now())}
        onSave={save}
        onCancel={onCancel}
      />
      {question.asked && <Question {...{ room, changes: question }} />}
    </section>
  );
}

/** Asks, if anybody loses the place by what is saved; throws unless the owner means it. */
async function agrees(question, lost) {
  if (lost && !(await question.answered(lost))) throw new Error("Nothing was changed.");
}

/** What is to be changed: all that is written otherwise. An emptied text is empty from then on. */
function differing(written, initial, body) {
  const names = Object.keys(written).filter((name) => written[name] !== initial[name]);
  const emptied = names.filter((name) => !(name in body));
  const errors = emptied
    .filter((name) => EVENT_FIELDS.find((field) => field.name === name).type !== "text")
    .map((field) => ({ field, message: "must not be empty" }));
  if (errors.length > 0) throw Object.assign(new Error(), { errors });
  return Object.fromEntries(names.map((name) => [name, body[name] ?? (name in body ? null : "")]));
}

/** Makes the events of the weeks to come, like one that there is. */
export function WeeklyForm({ session, room, event, events, draft, onSaved, onCancel }) {
  const question = useQuestion("Make them");
  const save = async ({ weeks }) => {
    if (!isCount(weeks)) {
      const message = `must be a whole number from 1 to ${WEEKS_MAX}`;
      throw Object.assign(new Error(), { errors: [{ field: WEEKS.name, message }] });
    }
    await asksWhoLoses(weeks);
    onSaved(event, await makeWeekly(session.call, room, event, weeks));
  };
  const asksWhoLoses = async (weeks) => {
    if (!rejects(event, room)) return;
    const { numbers } = await presentOf(session.call, room);
    const missing = missingWeeks(event, weeks, events);
    await agrees(question, whoLosesByAll(missing, { room, numbers, now: Date.now() }));
  };
  return (
    <section aria-labelledby="weekly">
      <h2 id="weekly">Repeat “{event.name}” each week</h2>
      <Form
        fields={[WEEKS]}
        initial={{ weeks: "4" }}
        label="Make them"
        draft={draft}
        sentence={({ weeks }) => whenTheyAre(event, Number(weeks))}
        onSave={save}
        onCancel={onCancel}
      />
      {question.asked && <Question {...{ room, changes: question }} />}
    </section>
  );
}

const isCount = (weeks) => Number.isInteger(weeks) && weeks >= 1 && weeks <= WEEKS_MAX;

function whenTheyAre(event, weeks) {
  if (!isCount(weeks)) return "";
  const start = (week) => moment(weeksLater(event, week).event_start_time);
  const last = weeks > 1 ? `, the last ${start(weeks)}` : "";
  return `The first starts ${start(1)}${last}: at the same time of day, with the same settings.`;
}
