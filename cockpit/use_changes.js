// Making changes of a room: one at a time, with a confirmation where people inside are disturbed,
// and what came of it.
import { useRef, useState } from "preact/hooks";

import { apply } from "./changes.js";
import { timeOfDay } from "./facts.js";

/**
 * Returns `{ make, say, asked, confirm, cancel, isBusy, done, problem, where }`. `make(change)`
 * makes a change at once, or keeps it as `asked` until `confirm()`. Both return whether it was
 * made. `where` is the `where` of the last change: the control beside which its outcome is told.
 * `say(done)` tells what was done otherwise, `perform(made, done)` what came of a call.
 */
export function useChanges(session, onChanged) {
  const [asked, ask] = useState();
  const [state, set] = useState({});
  // What was changed here in a document that has not been read again yet: nobody else did that.
  const own = useRef({});
  const perform = async (change) => {
    ask(undefined);
    const { where } = change;
    set({ isBusy: true, where });
    const made = own.current.document === change.seen ? own.current.patch : {};
    const outcome = await apply(session.ask, change, { ...change.seen, ...made }).then(
      (done) => {
        own.current = { document: change.seen, patch: { ...made, ...change.patch } };
        return { done: `${timeOfDay(Date.now())}: ${done}` };
      },
      (refusal) => ({ problem: refusal.message }),
    );
    onChanged();
    set({ ...outcome, where });
    return !outcome.problem;
  };
  return {
    ...state,
    asked,
    say: (done) => set({ done }),
    perform: async (made, done) => {
      set({ isBusy: true });
      const outcome = await made.then(() => ({ done }), ({ message }) => ({ problem: message }));
      onChanged();
      set(outcome);
    },
    make: (change) => (change.disturbs ? ask(change) : perform(change)),
    confirm: () => perform(asked),
    cancel: () => ask(undefined),
  };
}
