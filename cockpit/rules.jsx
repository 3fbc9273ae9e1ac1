// The bypass rules of one room: a list in the order in which they count, a form, and a made-up
// request to try them on.
import { useEffect, useReducer, useRef, useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { undoableRules } from "./audit.js";
import { unlessChanged } from "./changes.js";
import { draftBelow } from "./drafts.js";
import { Form } from "./form.jsx";
import { LastChanges } from "./last_changes.jsx";
import { Button, Status } from "./parts.jsx";
import { RoomTabs } from "./room_tabs.jsx";
import { Trial } from "./trial.jsx";
import { useChanges } from "./use_changes.js";

const FIELDS = [
  {
    name: "expression",
    label: "Expression",
    type: "textarea",
    help:
      'In Cloudflare’s Rules language, like: http.request.uri.path eq "/pay/callback", or ' +
      "ip.src in {203.0.113.0/24}.",
  },
  { name: "description", label: "Description", type: "text", help: "For you." },
  {
    name: "enabled",
    label: "Enabled",
    type: "checkbox",
    help: "A rule that is not enabled lets nobody pass.",
  },
];
const EMPTY = { expression: "", description: "", enabled: true };
/** Stands for the id of a rule that is not made yet. */
const NEW = "new";

export function Rules({ session, room, log, version, reload }) {
  const path = `${pathOf(room)}/rules`;
  const { rules, problem, make, press, again, isBusy } = useRules(session, path, version, reload);
  const changes = useChanges(session, () => {
    again();
    reload();
  });
  const drafts = `${room.id}/rules/`;
  const [edited, edit] = useState(() => draftBelow(drafts));
  const rule = rules?.find(({ id }) => id === edited);
  const isEdited = edited === NEW || rule;
  const [results, setResults] = useState({});
  // The rule as it was when it was opened: what others have changed since is not written over.
  const begun = useRef();
  if (begun.current?.id !== rule?.id) begun.current = rule;
  const save = async (body, _, stale) => {
    if (!rule) await make("POST", "", { ...body, action: "bypass_waiting_room" });
    else await change(body, stale);
    edit(undefined);
  };
  const change = async (body, stale) => {
    const seen = begun.current;
    const names = Object.keys(body).filter((name) => body[name] !== seen[name]);
    if (names.length === 0) return;
    const present = await session.call("GET", path);
    unlessChanged(present.find(({ id }) => id === edited) ?? {}, names, { ...seen, ...stale });
    await make("PATCH", `/${edited}`, Object.fromEntries(names.map((name) => [name, body[name]])));
  };
  return (
    <main>
      <RoomTabs room={room} at="/rules" />
      <p>
        A request that matches a rule passes as if there were no room: it is not counted, and
        nothing holds it.
      </p>
      <p class="problem" role="alert">
        {problem}
      </p>
      {isEdited ? (
        <section aria-labelledby="edit">
          <h2 id="edit">{rule ? "Edit rule" : "New rule"}</h2>
          <Form
            fields={FIELDS}
            initial={{ ...EMPTY, ...(rule && shown(begun.current)) }}
            draft={drafts + edited}
            isStored={Boolean(rule)}
            label="Save"
            onSave={save}
            onCancel={() => edit(undefined)}
          />
        </section>
      ) : (
        rules && <RuleList {...{ session, rules, results, isBusy, press, edit }} />
      )}
      {session.mayManage && (
        <LastChanges {...{ undos: undoableRules(room, log), changes, isOff: changes.isBusy }} />
      )}
      <Trial {...{ session, room, path }} onResult={setResults} />
    </main>
  );
}

/** The rules, read again when the configuration has another version; and `make`, which changes. */
function useRules(session, path, version, reload) {
  const [known, set] = useState({});
  const [round, again] = useReducer((count) => count + 1, 0);
  // An answer that comes after that of a later question, or of a change, is an old one.
  const turn = useRef(0);
  useEffect(() => {
    const mine = (turn.current += 1);
    const take = (news) => turn.current === mine && set(news);
    const fail = ({ message }) => take((old) => ({ ...old, problem: message }));
    session.call("GET", path).then((rules) => take({ rules }), fail);
  }, [version, round]);
  const make = async (method, rest, body) => {
    turn.current += 1;
    set((old) => ({ ...old, isBusy: true }));
    try {
      const rules = await session.call(method, path + rest, body);
      turn.current += 1;
      set({ rules });
    } catch (refusal) {
      set((old) => ({ ...old, isBusy: false }));
      throw refusal;
    }
    reload();
  };
  const fail = (refusal) => set((old) => ({ ...old, problem: refusal.message }));
  return { ...known, make, again, press: (...change) => make(...change).catch(fail) };
}

function shown({ expression, description, enabled }) {
  return { expression, description, enabled };
}

function RuleList({ session, rules, results, isBusy, press, edit }) {
  return (
    <section aria-labelledby="list">
      <h2 id="list">Rules</h2>
      {rules.length === 0 && <p>No rule yet: the room decides about every request.</p>}
      <ol class="rules">
        {rules.map((rule, at) => (
          <li key={rule.id}>
            <Rule {...{ rule, matches: results[rule.id] }} />
            {session.mayManage && <RuleButtons {...{ rule, at, rules, isBusy, press, edit }} />}
          </li>
        ))}
      </ol>
      {session.mayManage && (
        <p class="row">
          <button onClick={() => edit(NEW)}>New rule</button>
        </p>
      )}
    </section>
  );
}

function Rule({ rule: { expression, description, enabled }, matches }) {
  const state = enabled ? { level: "good", word: "Enabled" } : { level: "unknown", word: "Off" };
  return (
    <p>
      <Status of={state} /> {description && <strong>{description}: </strong>}
      <code>{expression}</code>
      {matches !== undefined && (
        <strong>{matches ? " – matches the request" : " – does not match"}</strong>
      )}
    </p>
  );
}

function RuleButtons({ rule, at, rules, isBusy, press, edit }) {
  const name = rule.description || rule.expression;
  const path = `/${rule.id}`;
  const move = (index) => press("PATCH", path, { position: { index } });
  const buttons = [
    [rule.enabled ? "Disable" : "Enable", () => press("PATCH", path, { enabled: !rule.enabled })],
    ["Edit", () => edit(rule.id)],
    ["Up", () => move(at), at === 0],
    ["Down", () => move(at + 2), at === rules.length - 1],
    ["Delete", () => press("DELETE", path)],
  ];
  return (
    <p class="row">
      {buttons.map(([label, act, isImpossible]) => (
        <Button aria-label={`${label}: ${name}`} isOff={isBusy || isImpossible} onClick={act}>
          {label}
        </Button>
      ))}
    </p>
  );
}
