// Whether something is wrong, and what was changed: the doctor's lines and the audit log, with
// Undo.
import { useEffect, useReducer, useRef, useState } from "preact/hooks";

import { caches, health } from "../scripts/doctor/isolates.mjs";
import { objects } from "../scripts/doctor/objects.mjs";
import { access, keys, limits, onFailure, tokens, zones } from "../scripts/doctor/settings.mjs";
import { usedOfPlan } from "../scripts/doctor/usage.mjs";
import { told, undoOf } from "./audit.js";
import { inForce, moment, number, status, timeOfDay } from "./facts.js";
import { ASKED_MAX, HELD_AT_MOST, heldSentence, useHolds } from "./holds.js";
import { useLive } from "./live.js";
import { Age, Button, NextEvent, Outcome, Sentence, Status, waiting } from "./parts.jsx";
import { useNow } from "./polling.js";
import { Question } from "./question.jsx";
import { useChanges } from "./use_changes.js";

const ENTRIES_AT_FIRST = 20;
const LEVELS = { ok: "good", look: "look", wrong: "act" };
const WORDS = { ok: "Works", look: "Look", wrong: "Mend" };

export function Health({ session, rooms, log, version, inFront, reload }) {
  const heading = useRef();
  useEffect(() => {
    document.title = "Health – Waiting room";
    heading.current.focus();
  }, []);
  return (
    <main>
      <h1 ref={heading} tabIndex={-1}>
        Health
      </h1>
      {!session.isScoped && <Examination {...{ session, rooms, version, inFront }} />}
      <Log {...{ session, rooms, log, reload }} />
    </main>
  );
}

/** What the doctor says. It is asked when the screen opens, and by a button. */
function Examination({ session, rooms, version, inFront }) {
  const [{ lines, at, problem }, set] = useState({});
  const [round, next] = useReducer((count) => count + 1, 0);
  const ask = () => {
    const show = (examined) => set({ lines: judged(examined, rooms), at: Date.now() });
    const fail = ({ message }) => set((old) => ({ ...old, problem: message }));
    session.call("GET", "waiting_rooms/doctor").then(show, fail);
  };
  const askAgain = () => {
    next();
    ask();
  };
  useEffect(ask, []);
  const { held, silent, isAsked } = useHolds(session, rooms, useNow(inFront), round);
  const all = [...silent.map(ofSilent), ...(lines ?? [])];
  const bad = all.filter(({ verdict }) => verdict !== "ok");
  return (
    <section aria-labelledby="state">
      <h2 id="state">State</h2>
      <p class="problem" role="alert">
        {problem}
      </p>
      {lines && (
        <>
          <p role="status">
            <Headline {...{ bad, held, isAsked, rooms }} />
          </p>
          <ul class="lines">
            {held.slice(0, HELD_AT_MOST).map(({ room }) => (
              <Held key={room.id} {...{ session, room, version, inFront }} />
            ))}
          </ul>
          <ul class="lines">
            {[...bad, ...all.filter((line) => !bad.includes(line))].map((line) => (
              <Line {...line} />
            ))}
          </ul>
        </>
      )}
      <p>
        <button onClick={askAgain}>Ask again</button>{" "}
        {at && <span class="soft">Asked at {timeOfDay(at)}.</span>}
      </p>
    </section>
  );
}

function judged(examined, rooms) {
  const isLocal = /(^|\.)localhost$|^127\./.test(location.hostname);
  const { problem: reason, refusal, notes } = examined.known;
  const all = [examined];
  const facts = { samples: all, examined: all, rooms, isLocal, health: { reason, refusal, notes } };
  const ofSettings = [keys, tokens, access, zones, onFailure, limits];
  const judges = [health, usedOfPlan, objects, caches, ...ofSettings];
  return judges.flatMap((judge) => judge(facts));
}

/** What is said of a room that does not answer, or of which a data center does not report. */
function ofSilent({ room, problem, isPart }) {
  const figure = problem.replace(/\.$/, "");
  const remedy = isPart
    ? "Its line does not count meanwhile, and places of its visitors are held. Ask again."
    : "Ask again; npm run doctor says more.";
  return { what: `Room ${room.name}`, figure, verdict: isPart ? "look" : "wrong", remedy };
}

/** The worst first: what is broken, then who is held, then what should be looked at. */
function Headline({ bad, held, isAsked, rooms }) {
  const wrong = bad.find(({ verdict }) => verdict === "wrong");
  if (!wrong && held.length > 0) return <strong>{heldSentence(held)}</strong>;
  const worst = wrong ?? bad[0];
  const asked = rooms.length > ASKED_MAX ? `, of ${number(ASKED_MAX)} rooms that were asked` : "";
  const well = isAsked ? `Everything works${asked}.` : "The rooms are asked.";
  return <strong>{worst ? `${worst.what}: ${worst.figure}.` : well}</strong>;
}

/** A room that is held, with its numbers of now. */
function Held({ session, room, version, inFront }) {
  const live = useLive(session, room, version, inFront);
  const { numbers, event, now } = live;
  const state = status(room, event, numbers);
  const { limit } = inForce(room, event);
  return (
    <li>
      <Status of={state} />
      <span>
        <a href={`#/room/${room.zone_id}/${room.id}`}>{room.name}</a>
        {numbers &&
          `: ${number(numbers.estimated_total_active_users)} of ${number(limit)} inside, ` +
            `${waiting(numbers)} waiting. `}
        {state.sentence} {event && <NextEvent {...{ room, event, now }} />} <Age live={live} />
      </span>
    </li>
  );
}

function Line({ what, figure, verdict, remedy }) {
  return (
    <li>
      <Status of={{ level: LEVELS[verdict], word: WORDS[verdict] }} />
      <span>
        <strong>{what}</strong>: {figure}{" "}
        <span class="soft">
          <Sentence of={remedy} />
        </span>
      </span>
    </li>
  );
}

function Log({ session, rooms, log, reload }) {
  const [most, setMost] = useState(ENTRIES_AT_FIRST);
  const changes = useChanges(session, reload);
  return (
    <section aria-labelledby="log">
      <h2 id="log">Audit log</h2>
      {log.length === 0 && <p>Nothing was changed yet: the rooms are those of rooms.json.</p>}
      <ol class="log">
        {log.slice(0, most).map((entry) => (
          <Entry key={entry.version} {...{ entry, rooms, session, changes }} />
        ))}
      </ol>
      {log.length > most && (
        <p>
          <button onClick={() => setMost(Infinity)}>Show all {number(log.length)}</button>
        </p>
      )}
      {changes.asked && <Question room={changes.asked.room} changes={changes} />}
    </section>
  );
}

function Entry({ entry, rooms, session, changes }) {
  const { what, from, to } = told(entry, rooms);
  const undo = session.mayManage && undoOf(entry, rooms);
  return (
    <li>
      <p>
        <strong>{what}</strong>
        {to && `: ${to}, before: ${from}`}{" "}
        <span class="soft">
          {moment(entry.at)}, by {entry.actor}
        </span>
      </p>
      {undo && (
        <Button
          isOff={changes.isBusy}
          aria-label={undo.label}
          onClick={() => changes.make({ ...undo, where: entry.version })}
        >
          Undo
        </Button>
      )}
      <Outcome changes={changes} of={entry.version} />
    </li>
  );
}
