// All settings of one room that have no button and are not about its page, in one form.
import { useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { apply } from "./changes.js";
import { timeOfDay } from "./facts.js";
import { Form } from "./form.jsx";
import { Invitations } from "./invitations.jsx";
import { presentOf } from "./present.js";
import { Question, useQuestion } from "./question.jsx";
import { ROOM_GROUPS, patchOf, valuesOf, whoNotices } from "./room_fields.js";
import { RoomTabs } from "./room_tabs.jsx";

const FIELDS = ROOM_GROUPS.flatMap(({ title, fields }) =>
  fields.map((field, at) => (at === 0 ? { ...field, title } : field)),
);

export function RoomSettings({ session, room, reload }) {
  const [saved, setSaved] = useState("");
  const question = useQuestion("Save");
  // What the form began with: what somebody else has changed since is not written over.
  const [begun, begin] = useState(room);
  const save = async (_, written, stale) => {
    const patch = patchOf(begun, written);
    if (Object.keys(patch).length === 0) throw new Error("Nothing is different from what counts.");
    const present = await presentOf(session.call, room);
    const noticed = whoNotices(patch, { room, ...present });
    if (noticed && !(await question.answered(noticed))) throw new Error("Nothing was changed.");
    const seen = { ...begun, ...patchOf(begun, { ...valuesOf(begun), ...stale }) };
    const done = await apply(session.ask, { path, patch, event: present.event }, seen);
    setSaved(`${timeOfDay(Date.now())}: ${done}`);
    begin({ ...begun, ...patch });
    reload();
  };
  const path = pathOf(room);
  return (
    <main>
      <RoomTabs room={room} at="/settings" />
      <p>
        Limits, message, Hold all, Sold out and Disable are on the screen Now, what the page says
        on Page. A change is taken back in Health.
      </p>
      <Form
        {...{ fields: FIELDS, initial: valuesOf(begun), label: "Save", onSave: save }}
        draft={`${room.id}/settings`}
        isStored
        isOff={!session.mayManage}
        onWrite={() => setSaved("")}
      />
      <p role="status">{saved}</p>
      {begun.invitation_groups.length > 0 && <Invitations {...{ session, room: begun }} />}
      {question.asked && <Question {...{ room, changes: question }} />}
    </main>
  );
}
