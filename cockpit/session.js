// The token of this tab: entered once, forgotten when the tab closes, never in an address.
import { useMemo, useState } from "preact/hooks";

import { call } from "./api.js";

const KEY = "waiting-room-cockpit";
const TOKEN_LOST = "The token is not accepted any more: it was changed. Sign in with the new one.";

/**
 * Returns `{ session, farewell, signIn, signOut }`. A session is `{ token, mayWrite, call }`;
 * `farewell` says why the last one ended, if nobody asked for it.
 */
export function useSession() {
  const [kept, set] = useState(read);
  const [farewell, setFarewell] = useState("");
  const leave = (why) => {
    sessionStorage.removeItem(KEY);
    setFarewell(why);
    set(null);
  };
  const session = useMemo(() => kept && { ...kept, call: callOr(kept.token, leave) }, [kept]);
  const signIn = (token, mayWrite) => {
    sessionStorage.setItem(KEY, JSON.stringify({ token, mayWrite }));
    setFarewell("");
    set({ token, mayWrite });
  };
  return { session, farewell, signIn, signOut: () => leave("") };
}

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY));
  } catch {
    return null;
  }
}

/** Makes a `call` that ends the session when its token opens nothing any more. */
function callOr(token, leave) {
  return async (...parameters) => {
    try {
      return await call(token, ...parameters);
    } catch (refusal) {
      if (refusal.isOfToken) leave(TOKEN_LOST);
      throw refusal;
    }
  };
}
