// A list that owners make entry by entry: what is known of it, and the buttons of an entry.
import { useEffect, useState } from "preact/hooks";

import { Button } from "./parts.jsx";

/**
 * Returns `{ entries, made, done, problem, isBusy, learn, press, read, make }`: what the API has at
 * `path` in the order of `sorted`; the entry that was just `made`, which may show a secret; and how
 * the last button came out. `press(act)` does what a button is for, `learn` adds to what is known.
 */
export function useList(session, path, { query = "", sorted = (entries) => entries } = {}) {
  const [known, set] = useState({});
  const learn = (news) => set((old) => ({ ...old, ...news }));
  const read = async () => learn({ entries: sorted(await session.call("GET", path + query)) });
  const press = async (act) => {
    learn({ isBusy: true, done: "", problem: "" });
    await act().catch(({ message }) => learn({ problem: message }));
    learn({ isBusy: false });
  };
  useEffect(() => {
    press(read);
  }, []);
  const make = async (body) => {
    learn({ made: await session.call("POST", path, body), done: "", problem: "" });
    await press(read);
  };
  return { ...known, learn, press, read, make };
}

/**
 * The buttons of the entry called `name`: `[label, act, sure]` each. One with a word `sure` asks
 * before it does what cannot be taken back.
 */
export function EntryButtons({ name, isBusy, acts }) {
  const [asked, ask] = useState();
  const [, act, sure] = acts.find(([label]) => label === asked) ?? [];
  const keep = () => ask(undefined);
  const press = () => {
    keep();
    act();
  };
  const first = acts.map(([label, once, word]) => [label, word ? () => ask(label) : once]);
  const buttons = sure ? [[sure, press], ["Keep", keep]] : first;
  return (
    <p class="row">
      {buttons.map(([label, onClick]) => (
        <Button key={label} aria-label={`${label}: ${name}`} isOff={isBusy} {...{ onClick }}>
          {label}
        </Button>
      ))}
    </p>
  );
}
