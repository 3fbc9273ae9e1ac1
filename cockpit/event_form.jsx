// Makes or changes an event; an empty field leaves it to the room. And makes more of one, each a
// week after the other.
import { pathOf } from "./api.js";
import { EVENT_FIELDS, shownOf, weeksLater, whatIsOver } from "./event_fields.js";
import { moment, number } from "./facts.js";
import { Form } from "./form.jsx";

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
  const initial = shownOf(event ?? like);
  const save = async (body, written) => {
    const path = event ? pathOf(room, event) : `${pathOf(room)}/events`;
    const differs = ([name]) => !event || written[name] !== initial[name];
    const changed = Object.fromEntries(Object.entries(body).filter(differs));
    const saved = await session.call(event ? "PATCH" : "POST", path, changed);
    onSaved(saved, `Saved: ${saved.name}. ${whatIsOver(saved, Date.now())}`);
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
        sentence={(values) => whatIsOver(values, Date.now())}
        onSave={save}
        onCancel={onCancel}
      />
    </section>
  );
}

/** Makes the events of the weeks to come, like one that there is. */
export function WeeklyForm({ session, room, event, draft, onSaved, onCancel }) {
  const save = async ({ weeks }) => {
    if (!isCount(weeks)) {
      const message = `must be a whole number from 1 to ${WEEKS_MAX}`;
      throw Object.assign(new Error(), { errors: [{ field: WEEKS.name, message }] });
    }
    for (let week = 1; week <= weeks; week += 1) {
      const body = weeksLater(event, week);
      const made = session.call("POST", `${pathOf(room)}/events`, body);
      await made.catch(({ message }) => {
        const before = `${number(week - 1)} of ${number(weeks)} were made. `;
        throw new Error(`${before}${body.name} was not: ${message}`);
      });
    }
    onSaved(event, `Made: ${number(weeks)}, like ${event.name}.`);
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
