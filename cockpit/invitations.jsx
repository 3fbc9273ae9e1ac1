// Invitations to one room: makes links for a group, and shows the groups' keys.
import { useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { Form } from "./form.jsx";
import { number } from "./facts.js";
import { linksOf, tableOf } from "./invitation_codes.js";
import { offer } from "./offer.js";

export function Invitations({ session, room }) {
  const [made, setMade] = useState();
  const [keys, setKeys] = useState();
  const read = () => session.call("GET", `${pathOf(room)}/invitation_keys`);
  const make = async (_, written) => {
    const { group } = written;
    const { key } = (await read()).find(({ name }) => name === group) ?? {};
    if (!key) throw new Error("This group is gone.");
    const newId = () => crypto.randomUUID();
    setMade({ group, links: await linksOf(room, key, written, Date.now(), newId) });
  };
  const signed = room.invitation_groups.filter((group) => !group.public_key);
  const groups = signed.map(({ name }) => ({ value: name, label: name }));
  const fields = [
    { name: "group", label: "Group", type: "select", options: groups },
    { name: "links", label: "Links", type: "number", help: "1 to 10,000, each with its own code." },
    { name: "uses", label: "Uses", type: "number", help: "How many visitors may use a link." },
    { name: "hours", label: "Hours", type: "number", help: "For how long from now; up to 8,784." },
  ];
  const initial = { group: groups[0]?.value, links: "1", uses: "1", hours: "168" };
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
          label="Make links"
          onSave={make}
          isOff={!session.mayManage}
        />
      ) : (
        <p>Only you can sign these groups' codes: the room has their public keys alone.</p>
      )}
      {made && <Made {...{ room, ...made }} />}
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

/** The links that were just made: one to be read, more in a field and as a file. */
function Made({ room, group, links }) {
  if (links.length === 1) {
    return (
      <p role="status">
        <code class="link">{links[0]}</code>
      </p>
    );
  }
  const save = () => offer(tableOf(links), `${room.name}-invitations.csv`, "text/csv");
  return (
    <>
      <p role="status">
        {number(links.length)} links for “{group}” are made. No other screen shows them again.
      </p>
      <div class="field">
        <label for="links-made">One a line</label>
        <textarea id="links-made" readOnly rows={6} spellcheck={false} value={links.join("\n")} />
      </div>
      <button type="button" onClick={save}>
        Download as CSV
      </button>
    </>
  );
}
