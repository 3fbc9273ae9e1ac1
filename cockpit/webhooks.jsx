// The webhooks of one room: who is told what, what became of the last messages, a form for one
// more, and a test.
import { useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { readDraft } from "./drafts.js";
import { Form } from "./form.jsx";
import { EntryButtons, useList } from "./list.jsx";
import { Outcome, Status } from "./parts.jsx";
import { RoomTabs } from "./room_tabs.jsx";
import { EMPTY, delivery, failure, fieldsOf, summary, writtenOf } from "./webhook_words.js";

/** How often, in milliseconds, and how many times it is asked what became of a test: 12 s. */
const LOOK_EVERY_MS = 1_500;
const LOOKS_MAX = 8;

export function Webhooks({ session, room }) {
  const { entries, made, done, problem, isBusy, make, test, remove } = useWebhooks(session, room);
  const draft = `${room.id}/webhook`;
  const [isMaking, setMaking] = useState(() => readDraft(draft) !== undefined);
  const save = async (body) => {
    await make(writtenOf(body));
    setMaking(false);
  };
  return (
    <main>
      <RoomTabs room={room} at="/webhooks" />
      <p>
        A webhook tells your server, Slack, PagerDuty or a mailbox what happens in this room. No
        visitor waits for it.
      </p>
      {made && <Secret hook={made} />}
      {isMaking && <NewWebhook {...{ draft }} onSave={save} onCancel={() => setMaking(false)} />}
      {!isMaking && entries && (
        <WebhookList
          {...{ session, entries, isBusy, test, remove }}
          onNew={() => setMaking(true)}
        />
      )}
      <Outcome changes={{ done, problem }} />
    </main>
  );
}

/** What is known of the webhooks, and what can be done with them. */
function useWebhooks(session, room) {
  const path = `${pathOf(room)}/webhooks`;
  const list = useList(session, path);
  const { learn, press, read } = list;
  const test = (hook) =>
    press(async () => {
      const before = await session.call("POST", `${path}/${hook.id}/test`);
      const last = await outcomeOf(session, `${path}/${hook.id}`, before.last_delivery?.id);
      await read();
      learn({ done: last ? `The test was ${delivery(last)}.` : "No outcome is known yet." });
    });
  const remove = (hook) =>
    press(async () => {
      await session.call("DELETE", `${path}/${hook.id}`);
      learn({ made: undefined, done: `${hook.url} is told nothing any more.` });
      await read();
    });
  return { ...list, test, remove };
}

/** Asks what became of a test, until one was sent after the message called `before`. */
async function outcomeOf(session, path, before) {
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    await new Promise((wake) => setTimeout(wake, LOOK_EVERY_MS));
    const { last_delivery: last } = await session.call("GET", path);
    if (last?.type === "test" && last.id !== before) return last;
  }
  return undefined;
}

function Secret({ hook: { secret, url } }) {
  return (
    <section class="told" aria-labelledby="secret">
      <h2 id="secret">Secret of {url}</h2>
      <p role="status">
        <code>{secret}</code>
      </p>
      <p>
        It is shown this once. Your receiver checks with it that a message is genuine; Slack,
        PagerDuty and e-mails need none.
      </p>
    </section>
  );
}

function NewWebhook({ draft, onSave, onCancel }) {
  const [values, write] = useState(EMPTY);
  return (
    <section aria-labelledby="new">
      <h2 id="new">New webhook</h2>
      <Form
        fields={fieldsOf(values)}
        initial={EMPTY}
        {...{ draft }}
        label="Make"
        onSave={onSave}
        onWrite={write}
        onCancel={onCancel}
      />
    </section>
  );
}

function WebhookList({ session, entries, isBusy, test, remove, onNew }) {
  const actsOf = (hook) => [
    ["Send a test", () => test(hook)],
    ["Delete", () => remove(hook), "Delete for ever"],
  ];
  return (
    <section aria-labelledby="list">
      <h2 id="list">Webhooks</h2>
      {entries.length === 0 && <p>No webhook yet: nobody is told.</p>}
      <ul class="rules">
        {entries.map((hook) => (
          <li key={hook.id}>
            <Webhook hook={hook} />
            {session.mayManage && (
              <EntryButtons
                name={hook.description || hook.url}
                isBusy={isBusy}
                acts={actsOf(hook)}
              />
            )}
          </li>
        ))}
      </ul>
      {session.mayManage && (
        <p class="row">
          <button onClick={onNew}>New webhook</button>
        </p>
      )}
    </section>
  );
}

function Webhook({ hook }) {
  const { enabled, description, url, last_delivery: last, last_error: failed } = hook;
  // The version before has no such field.
  const missing = hook.missing_fields ?? [];
  const isWhole = missing.length === 0;
  const on = isWhole ? { level: "good", word: "Enabled" } : { level: "look", word: "Incomplete" };
  const state = enabled ? on : { level: "unknown", word: "Off" };
  return (
    <>
      <p>
        <Status of={state} /> {description && <strong>{description}: </strong>}
        <code>{url}</code>
      </p>
      <p>{summary(hook)}</p>
      {!isWhole && (
        <p>
          It came from a file, which has no secrets: nothing is sent. Set{" "}
          {missing.join(" and ")} by the API, or delete it and make a new one.
        </p>
      )}
      <p class="soft small">
        {last ? `The last message was ${delivery(last)}.` : "Nothing was sent yet."}
        {failed && failed.id !== last?.id && ` The last that failed was ${failure(failed)}.`}
      </p>
    </>
  );
}
