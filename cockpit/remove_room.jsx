// Removes a room, after its name was entered.
import { useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { number } from "./facts.js";
import { Button } from "./parts.jsx";
import { Question } from "./question.jsx";

export function RemoveRoom({ session, room, numbers, isOff, reload }) {
  const [asked, ask] = useState();
  const [problem, setProblem] = useState("");
  const sentence = consequence(room, numbers);
  const remove = async () => {
    ask(undefined);
    try {
      await session.call("DELETE", pathOf(room));
      location.hash = "#/";
      reload();
    } catch (refusal) {
      setProblem(refusal.message);
    }
  };
  const changes = { asked, confirm: remove, cancel: () => ask(undefined) };
  return (
    <section aria-labelledby="remove">
      <h2 id="remove">Delete</h2>
      <ul class="actions">
        <li>
          <Button
            isOff={isOff}
            aria-describedby="removes"
            onClick={() => ask({ label: "Delete room", sentence })}
          >
            Delete room
          </Button>
          <p id="removes">{sentence}</p>
        </li>
      </ul>
      <p class="problem" role="alert">
        {problem}
      </p>
      {asked && <Question room={room} changes={changes} />}
    </section>
  );
}

function consequence({ transparency_log: log }, numbers) {
  const waiting = numbers?.estimated_queued_users;
  const who = waiting ? `everybody, also about ${number(waiting)} in line,` : "everybody";
  const what = log && log !== "off" ? "events, rules and log of admissions" : "events and rules";
  return `Within 5 s ${who} passes, uncounted. Its ${what} go with it, for ever.`;
}
