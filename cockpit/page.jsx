// What those who wait see: the fields of a room's page, and beside them the page itself, in each
// state, language and width, before it counts.
import { useEffect, useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { apply } from "./changes.js";
import { timeOfDay } from "./facts.js";
import { Form } from "./form.jsx";
import { PAGE_FIELDS, PAGE_STATES, pageOf, whenSeen } from "./page_fields.js";
import { presentOf } from "./present.js";
import { RoomTabs } from "./room_tabs.jsx";

/** The tags of all languages that pages have: the build puts them here. */
const LANGUAGES = PAGE_LANGUAGES;
/** How long nothing is written before the page is shown anew, in milliseconds. */
const PAUSE_MS = 600;
/** How long after a call that was not answered the page is asked for again, in milliseconds. */
const AGAIN_MS = 3_000;
const WIDTHS = [
  ["phone", "Phone"],
  ["desktop", "Desktop"],
];
const LANGUAGE_OPTIONS = LANGUAGES.map((tag) => ({ value: tag, label: languageName(tag) }));
const FIELDS = PAGE_FIELDS.map((field) =>
  field.type === "select" ? { ...field, options: LANGUAGE_OPTIONS } : field,
);

export function Page({ session, room, reload }) {
  // What the form began with: what somebody else has changed since is not written over.
  const [begun, begin] = useState(room);
  const [values, setValues] = useState(() => valuesOf(room));
  const [saved, setSaved] = useState("");
  const seen = useAddress(session, room, values);
  const fields = FIELDS.map((field) =>
    field.type === "html" ? { ...field, told: seen.problem ? seen.faults : seen.notes } : field,
  );
  const save = async (_, written, stale) => {
    const before = valuesOf(begun);
    const names = Object.keys(written).filter((name) => written[name] !== before[name]);
    const patch = Object.fromEntries(names.map((name) => [name, written[name]]));
    if (names.length === 0) throw new Error("Nothing is different from what counts.");
    await apply(session.ask, { path: pathOf(room), patch }, { ...begun, ...before, ...stale });
    begin({ ...begun, ...patch });
    const { event } = await presentOf(session.call, room);
    setSaved(`${timeOfDay(Date.now())}: ${whenSeen(patch, event)}`);
    reload();
  };
  return (
    <main>
      <RoomTabs room={room} at="/page" />
      {session.mayManage ? (
        <div class="beside">
          <section aria-labelledby="fields">
            <h2 id="fields">What it says</h2>
            <Form
              {...{ fields, initial: valuesOf(begun), label: "Save", onSave: save }}
              draft={`${room.id}/page`}
              isStored
              onWrite={(written) => {
                setValues(written);
                setSaved("");
              }}
            />
            <p role="status">{saved}</p>
          </section>
          <Preview values={values} seen={seen} />
        </div>
      ) : (
        <>
          <p>
            {session.maySteer ? "You may only steer." : "You may only look."} To change the page,
            sign out and enter a token that may, like <code>API_TOKEN</code>.
          </p>
          <Preview values={values} seen={seen} />
        </>
      )}
    </main>
  );
}

function valuesOf(room) {
  return Object.fromEntries(FIELDS.map(({ name }) => [name, room[name] ?? ""]));
}

/** The page as it would be, with the choice of state, language and width. */
function Preview({ values, seen: { address, notes, problem } }) {
  const [state, setState] = useState("");
  const [language, setLanguage] = useState(values.default_template_language);
  const [width, setWidth] = useState("phone");
  const query = [state, `language=${language}`].filter(Boolean).join("&");
  return (
    <section aria-labelledby="preview">
      <h2 id="preview">What they see</h2>
      <p class="row">
        <Choice label="State" choices={PAGE_STATES} value={state} onChoice={setState} />
        <Choice
          label="Language of the visitor"
          choices={LANGUAGES.map((tag) => [tag, languageName(tag)])}
          value={language}
          onChoice={setLanguage}
        />
        <Choice label="Screen" choices={WIDTHS} value={width} onChoice={setWidth} />
      </p>
      <p class="problem" role="alert">
        {problem && `The page below shows what was written before. ${problem}`}
      </p>
      {notes.map((note) => (
        <p class="note">{note}</p>
      ))}
      {address && (
        <iframe
          class={`seen ${width}`}
          title="The page"
          sandbox="allow-scripts"
          src={`${address}?${query}`}
        />
      )}
      <p class="soft small">With its script, as visitors see it; but nobody enters from here.</p>
    </section>
  );
}

/**
 * Where the page of these values is to be seen: `{ address, notes, problem, faults }`, with what is
 * wrong in one sentence and part by part.
 */
function useAddress(session, room, values) {
  const [known, set] = useState({ notes: [], faults: [] });
  const body = pageOf(values, room);
  const text = JSON.stringify(body);
  useEffect(() => {
    let isMeant = true;
    const show = async () => {
      const path = `zones/${room.zone_id}/waiting_rooms/preview`;
      const next = await session.ask("POST", path, body).then(
        ({ result, messages }) => ({
          address: new URL(result.preview_url).pathname,
          notes: messages.map(({ message }) => message),
        }),
        ({ message, status = 0, errors = [] }) => ({
          problem: message,
          faults: errors.map((fault) => fault.message),
          isSilent: status === 0 || status >= 500,
        }),
      );
      if (!isMeant) return;
      set((old) => ({ ...old, problem: undefined, faults: [], ...next }));
      if (next.isSilent) timer = setTimeout(show, AGAIN_MS);
    };
    let timer = setTimeout(show, known.address ? PAUSE_MS : 0);
    return () => {
      isMeant = false;
      clearTimeout(timer);
    };
  }, [text]);
  return known;
}

function Choice({ label, choices, value, onChoice }) {
  const id = `choice-${label.toLowerCase().replaceAll(" ", "-")}`;
  return (
    <span>
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChoice(event.currentTarget.value)}>
        {choices.map(([of, name]) => (
          <option value={of}>{name}</option>
        ))}
      </select>
    </span>
  );
}

function languageName(tag) {
  return new Intl.DisplayNames("en", { type: "language" }).of(tag) ?? tag;
}
