// The token of this tab: entered once, forgotten when the tab closes, never in an address.
import { useMemo, useState } from "preact/hooks";

import { ask, stream, visit } from "./api.js";
import { forgetDrafts } from "./drafts.js";
import { Watch } from "./watch.js";

const KEY = "waiting-room-cockpit";
const TOKEN_LOST = "The token is not accepted any more: it was changed, revoked, or has ended.";

/**
 * Returns `{ session, farewell, signIn, signOut }`. A session is
 * `{ token, ...rights, ask, call, visit, watch }`, with the rights of `rightsOf`:
 * `ask` makes a call and returns the whole answer, `call` its result, `visit` sends a test visitor,
 * `watch` has the numbers of now; `farewell` says why the last one ended, if nobody asked for it.
 */
export function useSession() {
  const [kept, set] = useState(read);
  const [farewell, setFarewell] = useState("");
  const leave = (why) => {
    sessionStorage.removeItem(KEY);
    if (!why) forgetDrafts();
    setFarewell(why);
    set(null);
  };
  const session = useMemo(() => kept && { ...kept, ...callsOr(kept.token, leave) }, [kept]);
  const signIn = (token, rights) => {
    sessionStorage.setItem(KEY, JSON.stringify({ token, ...rights }));
    setFarewell("");
    set({ token, ...rights });
  };
  return { session, farewell, signIn, signOut: () => leave("") };
}

function read() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY));
    // That of the version before knew no roles.
    return kept?.role ? kept : null;
  } catch {
    return null;
  }
}

/** Makes calls that end the session when its token opens nothing any more. */
function callsOr(token, leave) {
  const guarded = (send) => async (...parameters) => {
    try {
      return await send(token, ...parameters);
    } catch (refusal) {
      if (refusal.isOfToken) leave(TOKEN_LOST);
      throw refusal;
    }
  };
  const askOr = guarded(ask);
  const call = async (...parameters) => (await askOr(...parameters)).result;
  return { ask: askOr, call, visit: guarded(visit), watch: new Watch(guarded(stream)) };
}
