// Makes a room: what the API needs, with the labels of the reference, and refusals at their fields.
import { useEffect, useRef, useState } from "preact/hooks";

import { count, number } from "./facts.js";
import { Form } from "./form.jsx";

const FIELDS = [
  { name: "name", label: "Name", type: "text", help: "Letters, digits, - and _. For you." },
  { name: "host", label: "Hostname", type: "text", help: "Like shop.example, without https://." },
  { name: "path", label: "Path", type: "text", help: "It and all below it: / is the whole host." },
  {
    name: "total_active_users",
    label: "Total active users",
    type: "number",
    help: "How many may be inside at once.",
  },
  {
    name: "new_users_per_minute",
    label: "New users per minute",
    type: "number",
    help: "How many may enter in any 60 s; at most as many as may be inside.",
  },
  {
    name: "session_duration",
    label: "Session duration (minutes)",
    type: "number",
    help: "1 to 30. So long somebody counts as inside after the last request.",
  },
  {
    name: "turn_kept_minutes",
    label: "Turn kept (minutes)",
    type: "number",
    isOptional: true,
    help: "0 to 5. So long a place stays empty for somebody whose turn it is and who is away.",
  },
];
const EMPTY = {
  name: "",
  host: "",
  path: "/",
  total_active_users: "",
  new_users_per_minute: "",
  session_duration: "5",
  turn_kept_minutes: "",
};

export function NewRoom({ session, rooms, onMade }) {
  const heading = useRef();
  const zones = useZones(session, rooms);
  useEffect(() => {
    document.title = "New room – Waiting room";
    heading.current.focus();
  }, []);
  const save = async ({ zone, ...body }) => {
    const made = await session.call("POST", `zones/${zone}/waiting_rooms`, body);
    onMade(made);
    location.hash = `#/room/${made.zone_id}/${made.id}`;
  };
  return (
    <main>
      <p>
        <a href="#/">All rooms</a>
      </p>
      <h1 ref={heading} tabIndex={-1}>
        New room
      </h1>
      {zones && (
        <Form
          fields={[zoneField(zones), ...FIELDS]}
          initial={{ ...EMPTY, zone: zones[0]?.value ?? "" }}
          label="Save"
          sentence={consequence}
          onSave={save}
          onCancel={() => history.back()}
        />
      )}
    </main>
  );
}

function zoneField(zones) {
  const field = { name: "zone", label: "Zone" };
  if (zones.length > 0) return { ...field, type: "select", options: zones };
  return { ...field, type: "text", help: "The zone’s id at Cloudflare: 32 hexadecimal digits." };
}

/** The zones to choose from, those of the deployment and those that have rooms. */
function useZones(session, rooms) {
  const [zones, set] = useState();
  useEffect(() => {
    const ofRooms = rooms.map(({ zone_id: id }) => [id, id]);
    const show = (told) => {
      const all = Object.entries({ ...Object.fromEntries(ofRooms), ...told });
      set(all.map(([value, label]) => ({ value, label })));
    };
    const ask = session.call("GET", "waiting_rooms/doctor");
    ask.then(({ variables }) => show(namesOf(variables.zones)), () => show({}));
  }, []);
  return zones;
}

/** Reads the variable ZONES: `id=domain`, comma-separated. */
function namesOf(variable) {
  const pairs = variable.split(",").map((entry) => entry.split("=").map((word) => word.trim()));
  return Object.fromEntries(pairs.filter(([id]) => id).map(([id, name]) => [id, name ?? id]));
}

function consequence({ host, path, ...values }) {
  const [total, rate, minutes] = [
    values.total_active_users,
    values.new_users_per_minute,
    values.session_duration,
  ].map(Number);
  if (!host || !total || !rate || !minutes) return "";
  return (
    `Within 5 s at most ${count(total, "visitor")} may be inside ${host}${path}, and at most ` +
    `${number(rate)} enter a minute. Whoever is on the site now is a new visitor. Who makes no ` +
    `request for ${count(minutes, "minute")} has left.`
  );
}
