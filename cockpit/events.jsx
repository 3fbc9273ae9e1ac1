// The events of one room: the next with its timeline, buttons and checklist, a form, and a list.
import { useEffect, useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { undoable } from "./changes.js";
import { Checklist } from "./checklist.jsx";
import { ActionList } from "./controls.jsx";
import { eventActions, moments, phase } from "./event_facts.js";
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
    let isOld = false;
    const take = (news) => isOld || set(news);
    const fail = ({ message }) => take((old) => ({ ...old, problem: message }));
    session.call("GET", path).then((events) => take({ events }), fail);
    // An answer that comes after a later question is an old one.
    return () => {
      isOld = true;
    };
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
  const undos = undoable({ room, event, log });
  const lasts = state.word !== "Over";
  return (
    <>
      <section aria-labelledby="event">
        <h2 id="event">{event.name}</h2>
        <p>
          <Status of={state} /> {state.sentence}
        </p>
        <Timeline event={event} now={now} />
        {isOn && numbers && <p>In line now: {waiting(numbers)}.</p>}
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
      {session.mayWrite && <LastChanges {...{ undos, changes, isOff }} />}
      {lasts && <Checklist {...{ session, room, event, live }} />}
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
