// One room, large enough to read across a table, with the buttons that steer it.
import { useState } from "preact/hooks";

import { undoable } from "./changes.js";
import { Actions } from "./controls.jsx";
import {
  addressOf,
  duration,
  inForce,
  isHeldByHand,
  methodName,
  number,
  status,
  wait,
} from "./facts.js";
import { Limits } from "./limits.jsx";
import { useLive } from "./live.js";
import { Age, Bar, NextEvent, Status, waiting } from "./parts.jsx";
import { useChanges } from "./use_changes.js";
import { LastChanges } from "./last_changes.jsx";
import { Message } from "./message.jsx";
import { Recent } from "./recent.jsx";
import { RemoveRoom } from "./remove_room.jsx";
import { RoomTabs } from "./room_tabs.jsx";

export function Room({ session, room, isNew, log, version, inFront, reload }) {
  const live = useLive(session, room, version, inFront);
  const changes = useChanges(session, () => {
    live.again();
    reload();
  });
  const { numbers, event } = live;
  const isEmpty = !numbers?.estimated_total_active_users && !numbers?.estimated_queued_users;
  const isUnreachable = live.problem?.status === 0;
  const isOff = changes.isBusy || isUnreachable || live.isUnknown;
  const steer = { room, event, numbers, changes, isOff };
  return (
    <main>
      <RoomTabs room={room} at="" />
      {isNew && isEmpty && <NextSteps room={room} />}
      <Now room={room} live={live} />
      <div class="steering">
        <Recent {...{ session, room, log, version, inFront }} />
        {session.maySteer && <Actions {...{ ...steer, log }} />}
      </div>
      {session.maySteer ? (
        <>
          <Limits {...steer} />
          <Message {...steer} />
          <LastChanges {...steer} undos={undoable({ room, event, log })} />
        </>
      ) : (
        <p>
          You may only look. To change the room, sign out and enter a token that may, like{" "}
          <code>API_TOKEN</code>.
        </p>
      )}
      <Facts room={room} live={live} />
      {session.mayManage && <RemoveRoom {...{ session, ...steer, reload }} />}
    </main>
  );
}

/** What is left to do for a room that was just made here, until somebody comes. */
function NextSteps({ room }) {
  const path = `#/room/${room.zone_id}/${room.id}`;
  const steps = [
    ["/page", "Page", "its name, colour and text, as visitors will see them"],
    ["/settings", "Settings", "who enters next, bots, sessions, more places"],
    ["/events", "Events", "the start of a sale, and a test visitor to see it work"],
    ["/rules", "Rules", "what is to pass: payments, your office, health checks"],
  ];
  return (
    <section aria-labelledby="next">
      <h2 id="next">It is made. What next</h2>
      <ul>
        {steps.map(([at, name, what]) => (
          <li>
            <a href={path + at}>{name}</a>: {what}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The three figures that matter, and what they mean. */
function Now({ room, live }) {
  const { numbers, event } = live;
  const { limit } = inForce(room, event);
  const state = status(room, event, numbers);
  const inside = numbers?.estimated_total_active_users;
  return (
    <section aria-label="Now" class={live.age.isOld ? "old" : ""}>
      <p>
        <Status of={state} /> <span>{state.sentence}</span>
      </p>
      <dl class="figures">
        <div class="wide">
          <dt>inside / limit</dt>
          <dd>
            {numbers ? number(inside) : "–"}{" "}
            <span class="soft">/ {live.isUnknown ? "–" : number(limit)}</span>
          </dd>
        </div>
        <div>
          <dt>waiting</dt>
          <dd>{numbers ? waiting(numbers) : "–"}</dd>
        </div>
        <div>
          <dt>longest shown wait</dt>
          <dd>{numbers ? wait(numbers) : "–"}</dd>
        </div>
      </dl>
      <Bar inside={inside ?? 0} limit={limit} />
      <p class="soft">
        <NextEntry {...{ room, numbers }} /> <Age live={live} />
      </p>
      {inside === 0 && numbers.estimated_queued_users === 0 && <FirstVisitor room={room} />}
    </section>
  );
}

function NextEntry({ room, numbers }) {
  // The numbers may still be those of some seconds ago.
  if (isHeldByHand(room)) return null;
  const seconds = numbers?.next_admission_seconds;
  if (typeof seconds !== "number" || numbers.estimated_queued_users === 0) return null;
  return <>Next enters {seconds > 0 ? `in about ${duration(seconds)}` : "now"} ·</>;
}

function FirstVisitor({ room }) {
  const address = addressOf(room, location);
  return (
    <p>
      Nobody is here.{" "}
      {address && (
        <a href={address} target="_blank" rel="noopener noreferrer">
          Open the room in a new tab
        </a>
      )}
    </p>
  );
}

/** What else is set, as a list. */
function Facts({ room, live: { event, now } }) {
  const { perMinute, sessionMinutes, method } = inForce(room, event);
  const routes = [room, ...room.additional_routes];
  const [open, setOpen] = useState(false);
  const shown = open ? routes : routes.slice(0, 3);
  return (
    <section aria-labelledby="facts">
      <h2 id="facts">In force</h2>
      <dl class="facts">
        <dt>New users per minute</dt>
        <dd>{number(perMinute)}</dd>
        <dt>Session duration</dt>
        <dd>{number(sessionMinutes)} min</dd>
        <dt>Queueing method</dt>
        <dd>{methodName(method)}</dd>
        <dt>{event ? `Event “${event.name}”` : "Next event"}</dt>
        <dd>
          <NextEvent {...{ room, event, now }} />
        </dd>
        <dt>Covers</dt>
        <dd>
          {shown.map(({ host, path }) => (
            <span class="line">
              {host}
              {path}
            </span>
          ))}
          {routes.length > shown.length && (
            <button class="link" onClick={() => setOpen(true)}>
              {number(routes.length - shown.length)} more
            </button>
          )}
        </dd>
        <dt>Room id</dt>
        <dd>
          <code>{room.id}</code>
        </dd>
      </dl>
      <p class="soft small">
        Numbers come each second while this is on the screen. What is counted may be 5 s older, and
        50 s in a room that is far from its limits.
      </p>
    </section>
  );
}
