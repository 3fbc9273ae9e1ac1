// Makes a room: what the API needs, with the labels of the reference, and refusals at their fields.
import { useEffect, useRef } from "preact/hooks";

import { count, number } from "./facts.js";
import { Form } from "./form.jsx";
import { NEW_ROOM_FIELDS } from "./room_fields.js";
import { useZones } from "./zones.js";

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
          fields={[zoneField(zones), ...NEW_ROOM_FIELDS]}
          initial={{ ...EMPTY, zone: zones[0]?.value ?? "" }}
          label="Save"
          draft="new-room"
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
