// Makes or changes an event; an empty field leaves it to the room.
import { pathOf } from "./api.js";
import { localTime } from "./facts.js";
import { Form } from "./form.jsx";

const TIME = "datetime-local";
const FIELDS = [
  { name: "name", label: "Name", type: "text", help: "Letters, digits, - and _. For you." },
  {
    name: "prequeue_start_time",
    label: "Prequeue start",
    type: TIME,
    isOptional: true,
    help: "From then on everybody new waits; at least 5 minutes before the start. Empty: none.",
  },
  { name: "event_start_time", label: "Event start", type: TIME },
  { name: "event_end_time", label: "Event end", type: TIME },
  {
    name: "shuffle_at_event_start",
    label: "Shuffle at event start",
    type: "checkbox",
    help: "Draws lots among those in the prequeue, whenever they came. Needs a prequeue.",
  },
  {
    name: "total_active_users",
    label: "Total active users",
    type: "number",
    isOptional: true,
    help: "Both limits or neither. Empty: those of the room.",
  },
  {
    name: "new_users_per_minute",
    label: "New users per minute",
    type: "number",
    isOptional: true,
  },
  {
    name: "page_event_name",
    label: "Shown on the page as",
    type: "text",
    isOptional: true,
    help: "What waiting visitors read. Empty: the name above, with spaces for - and _.",
  },
  {
    name: "page_message",
    label: "Message on the page",
    type: "text",
    isOptional: true,
    help: "News for everybody who waits. Empty: the message of the room.",
  },
];

export function EventForm({ session, room, event, onSaved, onCancel }) {
  const save = async (body) => {
    const path = event ? pathOf(room, event) : `${pathOf(room)}/events`;
    onSaved(await session.call(event ? "PATCH" : "POST", path, body));
  };
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <section aria-labelledby="edit">
      <h2 id="edit">{event ? `Edit “${event.name}”` : "New event"}</h2>
      <p class="soft">Times are those of {zone}, where you are.</p>
      <Form
        fields={FIELDS}
        initial={Object.fromEntries(FIELDS.map((field) => [field.name, shown(field, event)]))}
        label="Save"
        onSave={save}
        onCancel={onCancel}
      />
    </section>
  );
}

function shown({ name, type }, event) {
  const value = event?.[name];
  if (type === "checkbox") return value ?? false;
  if (value === undefined || value === null) return "";
  return type === TIME ? localTime(value) : String(value);
}
