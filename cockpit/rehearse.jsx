// Plays an event before it happens, in this browser: how long people would wait with the limits of
// the room, and with more.
import { useEffect, useRef, useState } from "preact/hooks";

import { count, limitsText } from "../scripts/rehearse/answer.mjs";
import { PlanError } from "../scripts/rehearse/lanes.mjs";
import { PRESETS } from "../scripts/rehearse/presets.mjs";
import { Form } from "./form.jsx";
import {
  INITIAL,
  PLAYED_MAX,
  fieldsOf,
  limitsSentence,
  planOf,
  problemsIn,
  problemsOf,
  tooManyOf,
} from "./rehearse_fields.js";
import { Cancelled, TooMany, isThere, rehearse } from "./rehearse_thread.js";
import { RehearsedLimits } from "./rehearsed_limits.jsx";
import { RoomTabs } from "./room_tabs.jsx";
import { useEvents } from "./use_events.js";

const COMMAND = "npm run rehearse -- examples/rehearsal/ticket-drop.json";

export function Rehearse({ session, room, version }) {
  const { events, problem } = useEvents(session, room, version);
  const isMissing = useIsMissing();
  const { part, tried, said, rehearsal, play, cancel } = useRehearsal(room, events);
  return (
    <main>
      <RoomTabs room={room} at="/rehearse" />
      <p>
        How long will people wait? Your event is played here, in this browser, with the code that
        decides at your site. Nothing is sent anywhere, and nothing of the room changes.
      </p>
      {problem && <p class="problem">{problem}</p>}
      {isMissing && <Missing />}
      {events && !isMissing && (
        <section aria-labelledby="expected">
          <h2 id="expected">What you expect</h2>
          <Form
            fields={fieldsOf(events, Date.now())}
            initial={INITIAL}
            draft={`${room.id}/rehearse`}
            label="Rehearse"
            sentence={(values) => limitsSentence(room, events, values)}
            onSave={play}
          />
        </section>
      )}
      {part !== undefined && <Progress part={part} tried={tried} onCancel={cancel} />}
      <p role="status">{said}</p>
      {rehearsal && <Result of={rehearsal} room={room} />}
    </main>
  );
}

function useIsMissing() {
  const [isMissing, set] = useState(false);
  useEffect(() => {
    isThere().then((is) => set(!is));
  }, []);
  return isMissing;
}

/** What is played, how far it is, and what came of it. */
function useRehearsal(room, events) {
  const [part, setPart] = useState();
  const [tried, setTried] = useState(0);
  const [said, say] = useState("");
  const [rehearsal, set] = useState();
  const ending = useRef();
  useEffect(() => () => ending.current?.abort(), []);
  const play = async (body) => {
    const plan = planOf(room, events, body);
    const event = events.find(({ id }) => id === body.event);
    const { find } = body;
    refuse(problemsOf(plan, find));
    ending.current = new AbortController();
    set(undefined);
    say("");
    setPart(0);
    setTried(0);
    const { signal } = ending.current;
    const told = { onProgress: setPart, onTried: setTried };
    const options = { playedMax: PLAYED_MAX, findMinutes: find, signal, ...told };
    try {
      set(await rehearse(plan, options));
    } catch (why) {
      if (why instanceof PlanError) refuse(problemsIn(why));
      const where = { origin: location.origin, room, event, find };
      if (why instanceof TooMany) refuse(tooManyOf(plan, where));
      if (!(why instanceof Cancelled)) throw why;
      say("Cancelled: nothing is kept of it.");
    } finally {
      setPart(undefined);
    }
  };
  return { part, tried, said, rehearsal, play, cancel: () => ending.current.abort() };
}

/** Lets the form tell at its fields what is wrong, if anything is. */
function refuse(errors) {
  if (errors.length > 0) throw Object.assign(new Error(), { errors });
}

function Missing() {
  return (
    <p class="note" role="status">
      This deployment was built without the simulator, which takes some minutes to build. Run{" "}
      <code>{COMMAND}</code> once in the folder that you start or deploy from, and then start or
      deploy again. <code>npm run deploy</code> and a release folder bring it by themselves.
    </p>
  );
}

/** How far it is; how many limits a search tries is not known before. */
function Progress({ part, tried, onCancel }) {
  return (
    <p class="playing">
      <label for="playing">{tried > 0 ? "Searching" : "Rehearsing"}</label>
      <progress id="playing" max="1" value={tried > 0 ? undefined : part} />
      <span>{tried > 0 ? `${tried} limits tried` : `${Math.floor(part * 100)} %`}</span>
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
    </p>
  );
}

function Result({ of: { plan, plays: asked, found, tookS, report }, room }) {
  const [shown, show] = useState(0);
  const plays = found?.play ? [...asked, found.play] : asked;
  const heading = useRef();
  useEffect(() => heading.current.focus(), []);
  return (
    <section aria-labelledby="came">
      <h2 id="came" ref={heading} tabIndex={-1}>
        What came of it
      </h2>
      <p class="soft">
        {count(plan.visitors)} visitors. {PRESETS[plan.arrivals.preset]}.
      </p>
      {found && <p class="answer">{found.says}</p>}
      {plays.length > 1 && (
        <p class="row" role="group" aria-label="The limits whose answer is shown">
          {plays.map(({ outcome }, at) => (
            <button type="button" aria-pressed={at === shown} onClick={() => show(at)}>
              {limitsText(outcome.limits)}
            </button>
          ))}
        </p>
      )}
      <div class="answer">
        {plays[shown].answer.map((sentence) => (
          <p>{sentence}</p>
        ))}
      </div>
      <RehearsedLimits plan={plan} plays={plays} />
      <p>
        <Download report={report} name={`rehearsal-${room.name}.html`} />: one page with pictures
        minute by minute and the bill.
      </p>
      <p class="soft small">
        It took {Math.round(tookS)} s. People are drawn: how patient they are and how long they stay
        are guesses.
      </p>
    </section>
  );
}

/** The report as a file: its address is one of this browser, and goes with this screen. */
function Download({ report, name }) {
  const [address, set] = useState();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([report], { type: "text/html" }));
    set(made);
    return () => URL.revokeObjectURL(made);
  }, [report]);
  return (
    <a href={address} download={name}>
      Download the report
    </a>
  );
}
