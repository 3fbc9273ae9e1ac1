// The checklist of an event: what has to be so, checked by itself as long as the screen is open.
import { useEffect, useState } from "preact/hooks";

import { page, quota, route } from "./checks.js";
import { checklist } from "./event_facts.js";
import { Sentence, Status } from "./parts.jsx";
import { TestVisitor } from "./test_visitor.jsx";

const LEVELS = { ok: "good", look: "look", wrong: "act", unknown: "unknown" };
const WORDS = { ok: "Ready", look: "Look", wrong: "Mend", unknown: "Not known" };

export function Checklist({ session, room, event, live }) {
  const { now, numbers } = live;
  const { isScoped } = session;
  const { examined, found, problem } = useFindings(session, room, event);
  const isLocal = /(^|\.)localhost$|^127\./.test(location.hostname);
  const isHere = numbers?.estimated_total_active_users + numbers?.estimated_queued_users > 0;
  const came = { what: "Route", told: "visitors are here now", verdict: "ok" };
  const asked = found.map((line) => (line.what === "Route" && isHere ? came : line));
  const known = checklist({ room, event, examined, isScoped, isLocal, now, numbers });
  const lines = [...known, ...asked, quota()];
  return (
    <section aria-labelledby="ready">
      <h2 id="ready">Checklist</h2>
      <p class="problem">{problem}</p>
      <ul class="lines">
        {lines.map((line) => (
          <Line {...line} />
        ))}
      </ul>
      {session.maySteer && <TestVisitor {...{ session, room }} />}
    </section>
  );
}

function Line({ what, told, verdict, remedy }) {
  return (
    <li>
      <Status of={{ level: LEVELS[verdict], word: WORDS[verdict] }} />
      <span>
        <strong>{what}</strong>: {told}{" "}
        <span class="soft">
          <Sentence of={remedy} />
        </span>
      </span>
    </li>
  );
}

/** What is asked once for each event that is looked at, and again when it was changed. */
function useFindings(session, room, event) {
  const [known, set] = useState({ found: [] });
  useEffect(() => {
    let isMeant = true;
    const add = (next) => isMeant && set((old) => ({ ...old, ...next }));
    const tell = (found) => add({ found });
    const fail = ({ message }) => add({ problem: message });
    if (!session.isScoped) {
      const ask = session.call("GET", `waiting_rooms/doctor?room=${room.id}`);
      ask.then((examined) => add({ examined }), fail);
    }
    Promise.all([route(session.call, room), page(session, room, event)]).then(tell, fail);
    return () => {
      isMeant = false;
    };
  }, [event.id, event.modified_on, room.modified_on]);
  return known;
}
