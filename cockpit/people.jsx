// Who may use the cockpit and the API: a token for each person or program, made here, shown once,
// and revoked here.
import { useEffect, useRef, useState } from "preact/hooks";

import { moment } from "./facts.js";
import { Form } from "./form.jsx";
import { EntryButtons, useList } from "./list.jsx";
import { Outcome, Status } from "./parts.jsx";
import { ROLES, placesOf, wordsOf } from "./roles.js";
import { useZones } from "./zones.js";

const PATH = "user/tokens";
const DRAFT = "people/new";
/** The most tokens of a page of the list: more than there can be. */
const ALL = "?per_page=100";
const EMPTY = { name: "", role: "look", place: "", expires_on: "" };

export function People({ session, rooms }) {
  const heading = useRef();
  const zones = useZones(session, rooms);
  const people = usePeople(session);
  const [isMaking, setMaking] = useState(false);
  useEffect(() => {
    document.title = "People – Waiting room";
    heading.current.focus();
  }, []);
  const save = async (body) => {
    await people.make(body);
    setMaking(false);
  };
  const { made, entries } = people;
  return (
    <main>
      <h1 ref={heading} tabIndex={-1}>
        People
      </h1>
      <p>
        Each person and each program gets a token of its own: so the audit log says who did what,
        and one is revoked without the others. API_TOKEN, the owner’s own, always works.
      </p>
      {made && <Value key={made.value} made={made} />}
      {isMaking && zones && (
        <NewToken {...{ rooms, zones }} onSave={save} onCancel={() => setMaking(false)} />
      )}
      {!isMaking && entries && zones && (
        <Tokens {...{ people, rooms, zones }} onNew={() => setMaking(true)} />
      )}
      <Outcome changes={people} />
    </main>
  );
}

/** What is known of the tokens, and what can be done with them. */
function usePeople(session) {
  const sorted = (tokens) => tokens.sort((one, other) => one.name.localeCompare(other.name));
  const list = useList(session, PATH, { query: ALL, sorted });
  const { learn, press, read } = list;
  const renew = ({ id, name }) =>
    press(async () => {
      const value = await session.call("PUT", `${PATH}/${id}/value`);
      learn({ made: { name, value }, done: `The old value of ${name} counts no more.` });
    });
  const revoke = ({ id, name }) =>
    press(async () => {
      await session.call("DELETE", `${PATH}/${id}`);
      learn({ made: undefined, done: `${name} is revoked: within 5 s it opens nothing.` });
      await read();
    });
  return { ...list, renew, revoke };
}

/** The value of a token that was just made, and the way to take it along. */
function Value({ made: { name, value } }) {
  const [told, tell] = useState("");
  const copy = async () => {
    const done = () => tell("Copied.");
    await navigator.clipboard.writeText(value).then(done, () => tell("Not copied: select it."));
  };
  return (
    <section class="told" aria-labelledby="value">
      <h2 id="value">Token of {name}</h2>
      <p>
        <code>{value}</code>
      </p>
      <p class="row">
        <button onClick={copy}>Copy</button> <span role="status">{told}</span>
      </p>
      <p>
        It is shown this once. Hand it over by a way that nobody else reads; it signs in here, and
        in the API it is <code>Authorization: Bearer</code>.
      </p>
    </section>
  );
}

function NewToken({ rooms, zones, onSave, onCancel }) {
  const places = [
    { value: "", label: "Everything" },
    ...zones.map(({ value, label }) => ({ value: `zones/${value}`, label: `Zone ${label}` })),
    ...rooms.map(({ id, name }) => ({ value: `rooms/${id}`, label: `Room ${name}` })),
  ];
  const roles = ROLES.map(([value, label, words]) => ({ value, label: `${label}: ${words}` }));
  const fields = [
    { name: "name", label: "Name", type: "text", help: "Whose it is. The audit log has it." },
    { name: "role", label: "May", type: "select", options: roles },
    { name: "place", label: "For", type: "select", options: places },
    {
      name: "expires_on",
      label: "Ends",
      type: "datetime-local",
      help: "From then on it opens nothing. Empty: until it is revoked.",
    },
  ];
  const save = ({ place = "", ...body }) => {
    const [kind, id] = place.split("/");
    return onSave(id ? { ...body, [kind]: [id] } : body);
  };
  return (
    <section aria-labelledby="new">
      <h2 id="new">New token</h2>
      <Form
        {...{ fields, initial: EMPTY, onSave: save, onCancel }}
        draft={DRAFT}
        label="Make"
      />
    </section>
  );
}

function Tokens({ people, rooms, zones, onNew }) {
  const { entries, isBusy, renew, revoke } = people;
  const actsOf = (token) => [
    ["Revoke", () => revoke(token), "Revoke for ever"],
    ["New value", () => renew(token), "Make the old one void"],
  ];
  return (
    <section aria-labelledby="list">
      <h2 id="list">Tokens</h2>
      {entries.length === 0 && <p>No token yet: all who work here share the owner’s.</p>}
      <ul class="rules">
        {entries.map((token) => (
          <li key={token.id}>
            <Token {...{ token, rooms, zones }} />
            <EntryButtons name={token.name} isBusy={isBusy} acts={actsOf(token)} />
          </li>
        ))}
      </ul>
      <p class="row">
        <button onClick={onNew}>New token</button>
      </p>
    </section>
  );
}

function Token({ token, rooms, zones }) {
  const { name, role, status, not_before: from, expires_on: until } = token;
  const state =
    status === "active"
      ? { level: "good", word: "Active" }
      : { level: "unknown", word: isToCome(from) ? "To come" : "Ended" };
  return (
    <>
      <p>
        <Status of={state} /> <strong>{name}</strong> {wordsOf(role)},{" "}
        {placesOf(token, rooms, zones)}.
      </p>
      <p class="soft small">
        {from && `From ${moment(from)}. `}
        {until ? `Until ${moment(until)}.` : "Until it is revoked."} Made {moment(token.issued_on)}.
      </p>
    </>
  );
}

function isToCome(from) {
  return from && Date.parse(from) > Date.now();
}
