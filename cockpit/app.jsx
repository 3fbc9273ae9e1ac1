// The whole cockpit: the token first, then the screen that the address names behind its `#`.
import { useEffect, useState } from "preact/hooks";

import { configuration, pathOf } from "./api.js";
import { Events } from "./events.jsx";
import { moment, timeOfDay } from "./facts.js";
import { Health } from "./health.jsx";
import { History } from "./history.jsx";
import { NewRoom } from "./new_room.jsx";
import { Page } from "./page.jsx";
import { People } from "./people.jsx";
import { usePolling, useTabInFront } from "./polling.js";
import { Rehearse } from "./rehearse.jsx";
import { limitOf } from "./roles.js";
import { Room } from "./room.jsx";
import { RoomSettings } from "./room_settings.jsx";
import { Rooms } from "./rooms.jsx";
import { Rules } from "./rules.jsx";
import { useSession } from "./session.js";
import { Settings } from "./settings.jsx";
import { SignIn } from "./sign_in.jsx";
import { Webhooks } from "./webhooks.jsx";

/** How often the audit log is asked whether somebody has changed something, in milliseconds. */
const LOOK_EVERY_MS = 5_000;
/** After how long rooms are read again although nobody changed them: events come nearer. */
const FRESH_MS = 60_000;

export function App() {
  const { session, farewell, isAsking, signIn, signOut } = useSession();
  if (session) return <Cockpit session={session} onSignOut={signOut} />;
  if (isAsking) return <main class="soft">Cloudflare Access is asked who you are …</main>;
  return <SignIn farewell={farewell} onSignIn={signIn} />;
}

function Cockpit({ session, onSignOut }) {
  const inFront = useTabInFront();
  const read = (known) => configuration(session.call, known, FRESH_MS);
  const { value, at, problem, again } = usePolling(read, LOOK_EVERY_MS, inFront);
  return (
    <>
      <header>
        <a href="#/">Waiting room</a>
        <a href="#/health" class="plain">
          Health
        </a>
        <a href="#/settings" class="plain">
          Settings
        </a>
        {session.mayAdmin && (
          <a href="#/people" class="plain">
            People
          </a>
        )}
        <span class="soft">{location.host}</span>
        <span class="soft">{session.name}</span>
        <button onClick={onSignOut}>Sign out</button>
      </header>
      {limitOf(session) && (
        <aside class="soft small rights" aria-label="What you may">
          {limitOf(session)}
        </aside>
      )}
      <p class="banner" role="status">
        {problem && lateSettings(problem, at)}
      </p>
      {value ? (
        <Screen {...{ session, inFront }} {...value} reload={again} />
      ) : (
        <main>{problem ? null : <p class="soft">Reading the rooms …</p>}</main>
      )}
    </>
  );
}

/** The screens of a room, by what stands behind its address. */
const SCREENS = {
  "": Room,
  "/events": Events,
  "/rules": Rules,
  "/page": Page,
  "/history": History,
  "/rehearse": Rehearse,
  "/webhooks": Webhooks,
  "/settings": RoomSettings,
};

function lateSettings({ message }, at) {
  return at ? `${message} The settings below are of ${timeOfDay(at)}.` : message;
}

function Screen({ rooms, ...rest }) {
  const hash = useHash();
  // A room that was just made here is there before the list has it.
  const [made, setMade] = useState();
  const [, zone, id, at = ""] = /^#\/room\/(\w+)\/(\w+)(\/\w+)?$/.exec(hash) ?? [];
  if (hash === "#/new" && rest.session.mayMakeRooms) {
    const onMade = (room) => {
      setMade(room);
      rest.reload();
    };
    return <NewRoom {...{ session: rest.session, rooms, onMade }} />;
  }
  if (hash === "#/settings") return <Settings rooms={rooms} {...rest} />;
  if (hash === "#/people" && rest.session.mayAdmin) {
    return <People {...{ session: rest.session, rooms }} />;
  }
  if (hash === "#/health") return <Health rooms={rooms} {...rest} />;
  if (!id) return <Rooms rooms={rooms} {...rest} />;
  const isMeant = (one) => one?.id === id && one.zone_id === zone;
  const deleted = rest.log.find(
    (one) => one.target === pathOf({ zone_id: zone, id }) && one.before && !one.after,
  );
  const room = rooms.find(isMeant) ?? (isMeant(made) && !deleted ? made : undefined);
  const OfRoom = SCREENS[at];
  const isNew = isMeant(made);
  if (room && OfRoom) return <OfRoom key={id} {...{ room, isNew }} {...rest} />;
  return <NoRoom deleted={deleted} />;
}

/** Where a room was, or never was; `deleted` is the entry of the log that says how it ended. */
function NoRoom({ deleted }) {
  return (
    <main>
      <h1>{deleted ? `Room ${deleted.before.name} was deleted` : "No such room"}</h1>
      <p role="status">
        {deleted
          ? `${moment(deleted.at)}, by ${deleted.actor}: its visitors pass, uncounted, and ` +
            "nothing of it can be changed any more. "
          : "It may have been deleted. "}
        <a href="#/">All rooms</a>
      </p>
    </main>
  );
}

function useHash() {
  const [hash, set] = useState(location.hash);
  useEffect(() => {
    const look = () => set(location.hash);
    addEventListener("hashchange", look);
    // A link that was followed before this listened.
    look();
    return () => removeEventListener("hashchange", look);
  }, []);
  return hash;
}
