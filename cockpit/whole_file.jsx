// Everything in one file: saved from here, and brought back, in as many requests as it takes.
import { useState } from "preact/hooks";

import {
  FileProblem,
  exported,
  imported,
  newWebhooks,
  summary,
} from "../scripts/whole-file.mjs";
import { offer } from "./offer.js";
import { Button } from "./parts.jsx";

export function WholeFile({ session, reload }) {
  const [{ progress, done, problem, secrets = [], isBusy }, set] = useState({});
  const press = async (act) => {
    set({ isBusy: true });
    try {
      set(await act((text) => set({ isBusy: true, progress: text })));
    } catch (why) {
      set({ problem: why.message });
    }
    reload();
  };
  const save = () => press((tell) => saved(session.call, tell));
  const restore = (event) => {
    const [file] = event.currentTarget.files;
    event.currentTarget.value = "";
    if (file) press((tell) => restored(session.call, file, tell));
  };
  return (
    <section aria-labelledby="file">
      <h2 id="file">Save and restore</h2>
      <p>
        One file has all rooms with their events, rules and webhooks, the lists, and the settings of
        zones. It has no secret of a webhook: keep addresses and keys elsewhere. What the file does
        not name stays as it is.
      </p>
      <p class="row">
        <Button isOff={isBusy} onClick={save}>
          Save everything
        </Button>
      </p>
      {session.mayAdmin && (
        <p>
          <label for="restore">Restore from a file</label>{" "}
          <input
            id="restore"
            type="file"
            accept="application/json,.json"
            disabled={isBusy}
            onChange={restore}
          />
        </p>
      )}
      <p role="status">{progress ?? done}</p>
      <ul class="lines">
        {secrets.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <p class="problem" role="alert" style="white-space: pre-wrap">
        {problem}
      </p>
    </section>
  );
}

/** Hands everything to the browser as a file, and says what it has. */
async function saved(call, tell) {
  const file = await exported(call, (part) => tell(`${summary(part)} read …`));
  offer(`${JSON.stringify(file, null, 2)}\n`, `waiting-room-${today()}.json`);
  return { done: `${summary(file)} saved.` };
}

function today() {
  return new Date().toISOString().slice(0, 10);
}

async function restored(call, file, tell) {
  const given = await parsed(file);
  const onPart = (part, total) => tell(`Part ${part} of ${total} is in force …`);
  const result = await imported(call, given, onPart);
  return {
    done: `${summary(result)} of ${file.name} are in force; ${result.changed} of them changed.`,
    secrets: newWebhooks(result.new_webhooks, given.rooms ?? given),
  };
}

async function parsed(file) {
  try {
    return JSON.parse(await file.text());
  } catch (error) {
    throw new FileProblem(`${file.name} is not JSON: ${error.message}`);
  }
}
