// The first screen behind the token: all rooms of all zones, live.
import { useEffect, useRef, useState } from "preact/hooks";

import { inForce, methodName, number, status, wait } from "./facts.js";
import { useLive } from "./live.js";
import { Age, Bar, NextEvent, Status, waiting } from "./parts.jsx";
import { useOnScreen } from "./polling.js";

/** From this many rooms on there is a field to search in. */
const SEARCH_FROM = 8;
/** How many rows are shown before somebody asks for all: each one more costs time. */
const ROWS_AT_FIRST = 100;
const COLUMNS = [
  "Room",
  "Status",
  "Inside / limit",
  "Waiting",
  "Longest shown wait",
  "New users per minute",
  "Method",
  "Next event",
  "Numbers",
];

export function Rooms({ session, rooms, version, inFront }) {
  const [words, setWords] = useState("");
  const [most, setMost] = useState(ROWS_AT_FIRST);
  const heading = useRef();
  useEffect(() => {
    document.title = "Rooms – Waiting room";
    heading.current.focus();
  }, []);
  const found = rooms.filter((room) => matches(room, words));
  return (
    <main>
      <h1 ref={heading} tabIndex={-1}>
        Rooms
      </h1>
      {rooms.length >= SEARCH_FROM && <Search words={words} onWords={setWords} />}
      {rooms.length === 0 && (
        <p>There is no room yet, so everybody passes.</p>
      )}
      {session.mayMakeRooms && (
        <p>
          <a class="button" href="#/new">
            New room
          </a>
        </p>
      )}
      {found.length === 0 && words && <p>No room has “{words}” in its name or host.</p>}
      {found.length > 0 && (
        <table role="table">
          <thead role="rowgroup">
            <tr role="row">
              {COLUMNS.map((name) => (
                <th role="columnheader" scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {found.slice(0, most).map((room) => (
              <Row key={room.id} {...{ session, room, version, inFront }} />
            ))}
          </tbody>
        </table>
      )}
      {found.length > most && (
        <p>
          These are the first {number(most)} of {number(found.length)}.{" "}
          <button onClick={() => setMost(Infinity)}>Show all</button>
        </p>
      )}
    </main>
  );
}

function Search({ words, onWords }) {
  return (
    <p>
      <label for="search">Find a room</label>
      <input
        id="search"
        type="search"
        value={words}
        onInput={(event) => onWords(event.currentTarget.value)}
      />
    </p>
  );
}

function matches({ name, host, path, description }, words) {
  return `${name} ${host}${path} ${description}`.toLowerCase().includes(words.trim().toLowerCase());
}

function Row({ session, room, version, inFront }) {
  const element = useRef();
  const onScreen = useOnScreen(element);
  const live = useLive(session, room, version, inFront && onScreen);
  const { numbers, event, now } = live;
  const { limit, perMinute, method } = inForce(room, event);
  const cells = [
    <Status of={status(room, event, numbers)} />,
    <>
      {numbers ? number(numbers.estimated_total_active_users) : "–"} / {number(limit)}
      {numbers && <Bar inside={numbers.estimated_total_active_users} limit={limit} />}
    </>,
    numbers ? waiting(numbers) : "–",
    numbers ? wait(numbers) : "–",
    number(perMinute),
    methodName(method),
    <NextEvent {...{ room, event, now }} />,
    <Age live={live} />,
  ];
  return (
    <tr role="row" ref={element} class={live.age.isOld ? "old" : ""}>
      <th role="rowheader" scope="row">
        <a href={`#/room/${room.zone_id}/${room.id}`}>{room.name}</a>
        <span class="soft small">
          {room.host}
          {room.path === "/" ? "" : room.path}
        </span>
      </th>
      {cells.map((cell, at) => (
        <td role="cell" data-label={COLUMNS[at + 1]}>
          {cell}
        </td>
      ))}
    </tr>
  );
}
