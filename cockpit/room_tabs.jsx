// The heads of the screens of one room: its name, and the way to the others.
import { useEffect, useRef } from "preact/hooks";

const TABS = [
  ["", "Now"],
  ["/events", "Events"],
  ["/rules", "Rules"],
  ["/history", "History"],
  ["/rehearse", "Rehearse"],
  ["/page", "Page"],
  ["/webhooks", "Webhooks"],
  ["/settings", "Settings"],
];

/** The head of the screen `at` of a room: the path of one of its tabs. */
export function RoomTabs({ room, at }) {
  const heading = useRef();
  const [, title] = TABS.find(([path]) => path === at);
  useEffect(() => {
    const screen = at ? `${title}, ${room.name}` : room.name;
    document.title = `${screen} – Waiting room`;
    heading.current.focus();
  }, []);
  return (
    <>
      <p>
        <a href="#/">All rooms</a>
      </p>
      <h1 ref={heading} tabIndex={-1}>
        {room.name}
      </h1>
      <nav class="tabs" aria-label="Screens of this room">
        {TABS.map(([path, name]) => (
          <a
            href={`#/room/${room.zone_id}/${room.id}${path}`}
            aria-current={path === at ? "page" : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
    </>
  );
}
