// The events of one room: the next with its timeline, buttons and checklist, a form, and a list.
import { useEffect, useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { ActionList } from "./controls.jsx";
import { checklist, eventActions, moments, phase } from "./event_facts.js";
import { EventForm } from "./event_form.jsx";
import { duration, moment } from "./facts.js";
import { LastChanges } from "./last_changes.jsx";
import { useLive } from "./live.js";
import { Outcome, Status, waiting } from "./parts.jsx";
import { Question } from "./question.jsx";
import { RoomTabs } from "./room_tabs.jsx";
import { useChanges } from "./use_changes.js";

const EVENTS_AT_MOST = 1_000;

export function Events({ session, room, log, version, inFront, reload }) {
  const live = useLive(session, room, version, inFront);
  const { events, problem, again } = useEvents(session, room, version);
  const [chosen, choose] = useState();
  const [edited, edit] = useState();
  const changed = () => {
    edit(undefined);
    again();
    live.again();
    reload();
  };
  const changes = useChanges(session, changed);
  const sorted = events?.toSorted(bySoonest(live.now));
  const event = sorted?.find(({ id }) => id === chosen) ?? sorted?.[0];
  return (
    <main>
      <RoomTabs room={room} at="/events" />
      {problem && <p class="problem">{problem}</p>}
      {edited ? (
        <EventForm
          {...{ session, room }}
          event={edited.id ? edited : undefined}
          onSaved={(saved) => {
            choose(saved.id);
            changed();
          }}
          onCancel={() => edit(undefined)}
        />
      ) : (
        sorted && <Chosen {...{ session, room, log, changes, live, sorted, event, choose, edit }} />
      )}
      {changes.asked && <Question room={room} changes={changes} />}
      <Outcome changes={changes} />
    </main>
  );
}

/** The event that is looked at, and the way to the others. */
function Chosen({ sorted, choose, edit, ...of }) {
  const { session, event, live } = of;
  return (
    <>
      {sorted.length === 0 && (
        <p>No event yet. One changes the room for a while: a sale, a draw, other limits.</p>
      )}
      {event && <One {...of} />}
      {session.mayWrite && (
        <p class="row">
          <button onClick={() => edit({})}>New event</button>
          {event && <button onClick={() => edit(event)}>Edit “{event.name}”</button>}
        </p>
      )}
      {sorted.length > 1 && <List {...{ events: sorted, event, now: live.now, choose }} />}
    </>
  );
}

/** The events of a room, read again when the configuration has another version. */
function useEvents(session, room, version) {
  const [known, set] = useState({});
  const [round, next] = useState(0);
  useEffect(() => {
    const path = `${pathOf(room)}/events?per_page=${EVENTS_AT_MOST}`;
    const fail = ({ message }) => set((old) => ({ ...old, problem: message }));
    session.call("GET", path).then((events) => set({ events }), fail);
  }, [version, round]);
  return { ...known, again: () => next((count) => count + 1) };
}

/** Those that are on or to come first, the soonest at the top; then those that are over. */
function bySoonest(now) {
  const end = (event) => new Date(event.event_end_time).getTime();
  const isOver = (event) => end(event) <= now;
  return (one, other) =>
    isOver(one) - isOver(other) || (isOver(one) ? end(other) - end(one) : end(one) - end(other));
}

function One({ session, room, event, log, changes, live }) {
  const { numbers, now } = live;
  const isOff = changes.isBusy || live.problem?.status === 0;
  const state = phase(event, now);
  const actions = eventActions(room, event, numbers, now);
  const isOn = numbers?.event_id === event.id;
  const lasts = state.word !== "Over";
  return (
    <>
      <section aria-labelledby="event">
        <h2 id="event">{event.name}</h2>
        <p>
          <Status of={state} /> {state.sentence}
        </p>
        <Timeline event={event} now={now} />
        {isOn && numbers && <p>{waiting(numbers)} wait in line now.</p>}
        {event.shuffle_at_event_start && lasts && (
          <p class="soft">
            The order of the prequeue is drawn at the start. The commitment to publish stands on the
            queue page from the prequeue on, the same for all.
          </p>
        )}
      </section>
      {session.mayWrite && actions.length > 0 && (
        <ActionList
          heading="Steer"
          actions={actions}
          isOff={isOff}
          onPress={(action) => changes.make({ ...action, seen: event })}
        />
      )}
      {session.mayWrite && <LastChanges {...{ room, event, log, changes, isOff }} />}
      {lasts && <Checklist {...{ session, room, event, now }} />}
    </>
  );
}

function Timeline({ event, now }) {
  return (
    <ol class="timeline">
      {moments(event, now).map(({ what, at, isPast }) => (
        <li class={isPast ? "past" : ""}>
          <strong>{what}</strong> {moment(at)}
          <span class="soft">
            {isPast ? "past" : `in ${duration((new Date(at).getTime() - now) / 1_000)}`}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** What has to be so; the doctor is asked once for each event that is looked at. */
function Checklist({ session, room, event, now }) {
  const [examined, setExamined] = useState();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const ask = session.call("GET", `waiting_rooms/doctor?room=${room.id}`);
    ask.then(setExamined, ({ message }) => setProblem(message));
  }, [event.id]);
  const isLocal = /(^|\.)localhost$|^127\./.test(location.hostname);
  return (
    <section aria-labelledby="ready">
      <h2 id="ready">Checklist</h2>
      <p class="problem">{problem}</p>
      <ul class="lines">
        {checklist({ room, event, examined, isLocal, now }).map(
          ({ what, told, verdict, remedy }) => (
            <li>
              <Status of={{ level: LEVELS[verdict], word: WORDS[verdict] }} />
              <span>
                <strong>{what}</strong>: {told} <span class="soft">{remedy}</span>
              </span>
            </li>
          ),
        )}
      </ul>
    </section>
  );
}

const LEVELS = { ok: "good", look: "look", wrong: "act" };
const WORDS = { ok: "Ready", look: "Look", wrong: "Mend" };

function List({ events, event, now, choose }) {
  return (
    <section aria-labelledby="all">
      <h2 id="all">All events</h2>
      <ul class="lines">
        {events.map((one) => (
          <li key={one.id}>
            <Status of={phase(one, now)} />
            <span>
              <button
                class="link"
                aria-current={one.id === event.id ? "true" : undefined}
                onClick={() => choose(one.id)}
              >
                {one.name}
              </button>{" "}
              {moment(one.event_start_time)} to {moment(one.event_end_time)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
