// The events of one room: the next with its timeline, buttons and checklist, a form, and a list.
import { useEffect, useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { undoable } from "./changes.js";
import { Checklist } from "./checklist.jsx";
import { ActionList } from "./controls.jsx";
import { draftBelow, keepDraft } from "./drafts.js";
import {
  eventActions,
  isInForce,
  isOver,
  isUnderWay,
  lineAfter,
  moments,
  phase,
} from "./event_facts.js";
import { copyOf } from "./event_fields.js";
import { EventForm, WeeklyForm } from "./event_form.jsx";
import { duration, moment } from "./facts.js";
import { LastChanges } from "./last_changes.jsx";
import { useLive } from "./live.js";
import { Button, Outcome, Status, waiting } from "./parts.jsx";
import { Question } from "./question.jsx";
import { RoomTabs } from "./room_tabs.jsx";
import { useChanges } from "./use_changes.js";
import { useEvents } from "./use_events.js";

export function Events({ session, room, log, version, inFront, reload }) {
  const live = useLive(session, room, version, inFront);
  const { events, problem, again } = useEvents(session, room, version);
  const [chosen, choose] = useState();
  // The list that may lack what was saved last: until another comes, no other event is shown.
  const [lacking, setLacking] = useState();
  // The form that is open, by the name of its draft: "new", or what is done with an event's id.
  const drafts = `${room.id}/event-form/`;
  const [{ open, isBack }, set] = useState(() => ({ open: draftBelow(drafts), isBack: true }));
  const setOpen = (name) => set({ open: name });
  const changed = () => {
    again();
    live.again();
    reload();
  };
  const changes = useChanges(session, changed);
  const sorted = events?.toSorted(bySoonest(live.now));
  const next = events === lacking ? undefined : sorted?.[0];
  const event = sorted?.find(({ id }) => id === chosen) ?? next;
  const form = sorted && formOf(open, sorted, live.now);
  const onSaved = (saved, done) => {
    choose(saved.id);
    setLacking(events);
    setOpen(undefined);
    changes.say(done);
    changed();
  };
  const close = () => setOpen(undefined);
  const isGone = sorted && open !== undefined && !form;
  useEffect(() => {
    if (isGone) keepDraft(drafts + open, undefined);
  }, [isGone]);
  const steer = { session, room, log, changes, live };
  return (
    <main>
      <RoomTabs room={room} at="/events" />
      {problem && <p class="problem">{problem}</p>}
      {isGone && (
        <p class="note" role="status">
          The event of the form that was open here is gone.
        </p>
      )}
      {form ? (
        <Opened
          {...{ ...steer, sorted, form, isBack, choose, close, onSaved, draft: drafts + open }}
        />
      ) : (
        sorted && <Chosen {...{ ...steer, sorted, event, choose, setOpen }} />
      )}
      {changes.asked && <Question room={room} changes={changes} />}
    </main>
  );
}

/** The form that is open; one that is back as a draft does not hide the event that is on. */
function Opened({ sorted, form, isBack, choose, close, draft, onSaved, ...steer }) {
  const { session, room, live } = steer;
  const on = isBack && sorted.find((one) => isUnderWay(one, live.now));
  // What is done to it is told where it is alone; what is written is kept.
  const leave = (id) => {
    close();
    choose(id);
  };
  return (
    <>
      {on && <One {...steer} event={on} choose={leave} />}
      <form.Of {...{ session, room, draft, onSaved, onCancel: close }} {...form.with} />
    </>
  );
}

/** The form that has this name, with what it is about; nothing of an event that is gone. */
function formOf(open, events, now) {
  if (open === undefined) return undefined;
  if (open === "new") return { Of: EventForm, with: {} };
  const [what, id] = open.split("-");
  const event = events.find((one) => one.id === id);
  // A copy goes on without its model; what is written in it stays.
  if (what === "copy") return { Of: EventForm, with: { like: event && copyOf(event, now) } };
  if (!event) return undefined;
  return { Of: what === "weekly" ? WeeklyForm : EventForm, with: { event, events } };
}

/** The event that is looked at, and the way to the others. */
function Chosen({ sorted, choose, setOpen, ...of }) {
  const { session, event, live } = of;
  return (
    <>
      <Outcome changes={of.changes} />
      {sorted.length === 0 && (
        <p>No event yet. One changes the room for a while: a sale, a draw, other limits.</p>
      )}
      {event && <One {...of} choose={choose} />}
      {session.mayManage && <EventButtons {...{ ...of, setOpen }} />}
      {/* Below the buttons: it grows with each answer, and a click must not miss them. */}
      {event && !isOver(event, live.now) && (
        <Checklist {...{ session, room: of.room, event, live }} />
      )}
      {sorted.length > 1 && <List {...{ events: sorted, event, now: live.now, choose }} />}
    </>
  );
}

/** What else can be done with the event that is looked at. */
function EventButtons({ session, room, event, changes, live, setOpen }) {
  const [asked, ask] = useState();
  const remove = async () => {
    ask(undefined);
    const made = session.call("DELETE", pathOf(room, event));
    await changes.perform(made, `Deleted: ${event.name}.`);
  };
  const isAsked = event && asked === event.id;
  const isOn = live.numbers?.event_id === event?.id;
  return (
    <>
      <p class="row">
        <button onClick={() => setOpen("new")}>New event</button>
        {event && (
          <>
            <button onClick={() => setOpen(`edit-${event.id}`)}>Edit “{event.name}”</button>
            <button onClick={() => setOpen(`copy-${event.id}`)}>Duplicate</button>
            <button onClick={() => setOpen(`weekly-${event.id}`)}>Repeat weekly</button>
            {!isAsked && <button onClick={() => ask(event.id)}>Delete</button>}
          </>
        )}
      </p>
      {isAsked && (
        <p class="row">
          <span id="deletes">
            {isOn && "It is on: the room's own settings count again within 5 s. "}
            {isOn && `${lineAfter(room, live.numbers)} `}
            “{event.name}” is gone for ever.
          </span>
          <Button isOff={changes.isBusy} aria-describedby="deletes" onClick={remove}>
            Delete for ever
          </Button>
          <button onClick={() => ask(undefined)}>Keep</button>
        </p>
      )}
    </>
  );
}

/** Those that are on or to come first, the soonest at the top; then those that are over. */
function bySoonest(now) {
  const end = (event) => new Date(event.event_end_time).getTime();
  return (one, other) =>
    isOver(one, now) - isOver(other, now) ||
    (isOver(one, now) ? end(other) - end(one) : end(one) - end(other));
}

function One({ session, room, event, log, changes, live, choose }) {
  const { numbers, now } = live;
  const isOff = changes.isBusy || live.problem?.status === 0;
  const state = phase(event, now);
  const actions = eventActions(room, event, numbers, now);
  const isOn = numbers?.event_id === event.id;
  const undos = undoable({ room, event, log });
  const lasts = !isOver(event, now);
  const undo = session.maySteer && <LastChanges {...{ undos, changes, isOff }} />;
  const press = (action) => {
    // It stays on the screen, also where it is over by that.
    choose(event.id);
    changes.make({ ...action, seen: event, where: action.id });
  };
  return (
    <>
      <section aria-labelledby="event">
        <h2 id="event">{event.name}</h2>
        <p>
          <Status of={state} /> {state.sentence}
        </p>
        <Timeline event={event} now={now} />
        {/* It has its place before the numbers come: a click below must not miss its button. */}
        {isInForce(event, now) && <p>In line now: {isOn ? waiting(numbers) : "–"}.</p>}
        {event.draw_commitment && Date.parse(event.event_start_time) > now && (
          <p class="soft">
            The order of the prequeue is drawn at the start. Publish its commitment before; the
            queue page shows it from the prequeue on, the same for all:{" "}
            <code class="whole">{event.draw_commitment}</code>. It changes if you move the prequeue
            or the start.
          </p>
        )}
      </section>
      {!lasts && <Outcome changes={changes} of="stop" />}
      {!lasts && undo}
      {session.maySteer && actions.length > 0 && (
        <ActionList heading="Steer" {...{ actions, changes, isOff }} onPress={press} />
      )}
      {lasts && undo}
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
                aria-current={one.id === event?.id ? "true" : undefined}
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
