// Invitations to one room: makes a link for a group, and shows the groups' keys.
import { useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { Form } from "./form.jsx";
import { claimsOf, codeOf, linkOf } from "./invitation_codes.js";

export function Invitations({ session, room }) {
  const [link, setLink] = useState("");
  const [keys, setKeys] = useState();
  const read = () => session.call("GET", `${pathOf(room)}/invitation_keys`);
  const make = async (_, written) => {
    const claims = claimsOf(room, written, Date.now(), crypto.randomUUID());
    const { key } = (await read()).find(({ name }) => name === written.group) ?? {};
    if (!key) throw new Error("This group is gone.");
    setLink(linkOf(room, await codeOf(key, claims)));
  };
  const signed = room.invitation_groups.filter((group) => !group.public_key);
  const groups = signed.map(({ name }) => ({ value: name, label: name }));
  const fields = [
    { name: "group", label: "Group", type: "select", options: groups },
    { name: "uses", label: "Uses", type: "number", help: "How many visitors may use the link." },
    { name: "hours", label: "Hours", type: "number", help: "For how long from now; up to 8,784." },
  ];
  const initial = { group: groups[0]?.value, uses: "1", hours: "168" };
  return (
    <section aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      <p>
        A link fills in the code, and its visitor presses the button. Your own programs make them
        with a group's key.
      </p>
      {groups.length > 0 ? (
        <Form
          {...{ fields, initial }}
          draft={`${room.id}/invitation`}
          label="Make a link"
          onSave={make}
          isOff={!session.mayManage}
        />
      ) : (
        <p>Only you can sign these groups' codes: the room has their public keys alone.</p>
      )}
      {link && (
        <p role="status">
          <code class="link">{link}</code>
        </p>
      )}
      {session.mayManage && !keys && (
        <button type="button" onClick={async () => setKeys(await read())}>
          Show the keys
        </button>
      )}
      {keys && (
        <dl>
          {keys.map(({ name, key }) => (
            <>
              <dt>{name}</dt>
              <dd>
                <code>{key ?? "Yours alone"}</code>
              </dd>
            </>
          ))}
        </dl>
      )}
    </section>
  );
}
