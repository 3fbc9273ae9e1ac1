// What belongs to no room: the settings of each zone, everything as one file, and the secrets of
// the Worker, of which it is told whether they are set and never what they are.
import { useEffect, useRef, useState } from "preact/hooks";

import { apply } from "./changes.js";
import { count, timeOfDay } from "./facts.js";
import { Form } from "./form.jsx";
import { Status } from "./parts.jsx";
import { WholeFile } from "./whole_file.jsx";
import { useZones } from "./zones.js";

const FIELDS = [
  {
    name: "search_engine_crawler_bypass",
    label: "Search engines pass",
    type: "checkbox",
    help: "Crawlers that Cloudflare has verified meet no room here, so that pages stay found.",
  },
  {
    name: "always_use_https",
    label: "HTTPS",
    type: "select",
    options: [
      { value: "", label: "As each request has it" },
      { value: "true", label: "Always" },
      { value: "false", label: "Not always" },
    ],
    help: "As “Always Use HTTPS” of the zone is set at Cloudflare: cookies on auto go by it.",
  },
];
/** By the doctor's names: the secret, what it is for, and how it is changed. */
const SECRETS = [
  {
    fact: "api_token",
    name: "API_TOKEN",
    may: "Looks at and changes everything: rooms, events, rules, lists, settings.",
    isNeeded: true,
  },
  {
    fact: "api_token_read",
    name: "API_TOKEN_READ",
    may: "Looks only: for a colleague, a screen on the wall, Prometheus.",
  },
  {
    fact: "ticket_keys",
    name: "TICKET_KEYS",
    may: "Seal the tickets of visitors; they open nothing here.",
    isNeeded: true,
    change: "npm run rotate-keys",
    after: "Nobody loses a place.",
  },
  {
    fact: "turnstile_secret",
    name: "TURNSTILE_SECRET",
    may: "Asks Turnstile whether a visitor’s token is good. Without it nobody is challenged.",
    made: "the widget’s page at Cloudflare",
  },
  {
    fact: "origin_lock_secret",
    name: "ORIGIN_LOCK_SECRET",
    may: "Signs what is passed on, so that your origin can refuse everything else.",
    after: "The origin has to know the new one first.",
  },
];
const DRAWN = "openssl rand -hex 32";

export function Settings({ session, rooms, version, reload }) {
  const heading = useRef();
  const zones = useZones(session, rooms);
  useEffect(() => {
    document.title = "Settings – Waiting room";
    heading.current.focus();
  }, []);
  return (
    <main>
      <h1 ref={heading} tabIndex={-1}>
        Settings
      </h1>
      {zones?.map(({ value, label }) => (
        <Zone key={value} {...{ session, zone: value, name: label, version, reload }} />
      ))}
      {zones?.length === 0 && <p>No zone is known yet: the first room names one.</p>}
      {!session.isScoped && <WholeFile session={session} reload={reload} />}
      {!session.isScoped && <Secrets session={session} />}
    </main>
  );
}

/**
 * The settings of one zone, read again when the configuration has another version: but not while
 * somebody fills them in, who would lose what is written.
 */
function Zone({ session, zone, name, version, reload }) {
  const path = `zones/${zone}/waiting_rooms/settings`;
  const [{ known, problem }, set] = useState({});
  const [{ saved, refused }, tell] = useState({});
  const isWritten = useRef(false);
  const read = () => {
    const show = (found) => set((old) => ({ known: isWritten.current ? old.known : found }));
    const fail = ({ message }) => set((old) => ({ ...old, problem: message }));
    session.call("GET", path).then(show, fail);
  };
  useEffect(read, [version]);
  const save = async (_, written, stale) => {
    const patch = settingsOf(written);
    const seen = { ...known, ...settingsOf({ ...valuesOf(known), ...stale }) };
    isWritten.current = false;
    tell({});
    try {
      const done = await apply(session.ask, { path, patch }, seen);
      set({ known: { ...known, ...patch } });
      tell({ saved: `${timeOfDay(Date.now())}: ${done}` });
    } catch (why) {
      // Told outside of the form, which is drawn anew with what is stored.
      tell({ refused: why.message });
      read();
    }
    reload();
  };
  const write = () => {
    isWritten.current = true;
  };
  return (
    <section aria-labelledby={`zone-${zone}`}>
      <h2 id={`zone-${zone}`}>Zone {name}</h2>
      <p class="problem" role="alert">
        {problem ?? refused}
      </p>
      {known && (
        <Form
          key={JSON.stringify(known)}
          {...{ fields: FIELDS, initial: valuesOf(known), label: "Save", onSave: save }}
          onWrite={write}
          of={`field-${zone}`}
          draft={`zone/${zone}`}
          isStored
          isOff={!session.mayAdmin}
        />
      )}
      <p role="status">{saved}</p>
    </section>
  );
}

function valuesOf({ search_engine_crawler_bypass: bypass, always_use_https: https }) {
  return { search_engine_crawler_bypass: bypass, always_use_https: String(https ?? "") };
}

function settingsOf({ search_engine_crawler_bypass: bypass, always_use_https: https }) {
  const always = https === "" ? null : https === "true";
  return { search_engine_crawler_bypass: bypass, always_use_https: always };
}

/** Which secrets are set, what each may, and how it is changed. */
function Secrets({ session }) {
  const [{ facts, problem }, set] = useState({});
  useEffect(() => {
    const fail = ({ message }) => set({ problem: message });
    const show = ({ secrets }) => set({ facts: secrets });
    session.call("GET", "waiting_rooms/doctor").then(show, fail);
  }, []);
  return (
    <section aria-labelledby="tokens">
      <h2 id="tokens">Tokens and keys</h2>
      <p>
        They are secrets of the Worker and kept in <code>production/secrets.json</code>. None is
        shown here, and none can be changed here: whoever finds this tab open must not be able to
        lock you out. You are signed in with{" "}
        <code>{session.name}</code>.{" "}
        {session.mayAdmin && <a href="#/people">Tokens for others are made under People.</a>}
      </p>
      <p class="problem" role="alert">
        {problem}
      </p>
      {facts && (
        <ul class="lines">
          {SECRETS.map((secret) => (
            <Secret key={secret.name} {...{ secret, facts: facts[secret.fact] }} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Secret({ secret: { name, may, made, change, after, isNeeded }, facts }) {
  const all = [facts ?? []].flat();
  const isSet = all.length > 0;
  const level = isSet ? "good" : isNeeded ? "act" : "unknown";
  const keys = all.length > 1 ? `, ${count(all.length, "key")}` : "";
  return (
    <li>
      <Status of={{ level, word: isSet ? "Set" : "Not set" }} />
      <span>
        <strong>{name}</strong>
        {keys}: {may}{" "}
        <span class="soft">
          {isSet ? "Change it: " : "Set it: "}
          <How {...{ made, change }} /> {isSet && after}
        </span>
      </span>
    </li>
  );
}

function How({ made, change }) {
  if (change) {
    return (
      <>
        <code>{change}</code>.
      </>
    );
  }
  return (
    <>
      {made ?? <code>{DRAWN}</code>} makes one; write it into{" "}
      <code>production/secrets.json</code>, then <code>npm run deploy</code>.
    </>
  );
}
