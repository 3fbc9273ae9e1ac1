// Who is signed in: by the token of this tab, which is entered once, forgotten when the tab closes,
// and never in an address; or by Cloudflare Access, which needs none.
import { useEffect, useMemo, useState } from "preact/hooks";

import { ask, bytes, rights, stream, visit } from "./api.js";
import { forgetDrafts } from "./drafts.js";
import { Watch } from "./watch.js";

const KEY = "waiting-room-cockpit";
const TOKEN_LOST = "The token is not accepted any more: it was changed, revoked, or has ended.";
const ACCESS_LOST = "Cloudflare Access does not sign you in any more.";
/** Where Access ends a sign-in, on the host of each of its applications. */
const ACCESS_LOGOUT = "/cdn-cgi/access/logout";
/** Whether Access may sign somebody in here: the Worker writes so into the page. */
export const HAS_ACCESS = "access" in document.documentElement.dataset;

/**
 * Returns `{ session, farewell, isAsking, signIn, signOut }`.
 *
 * A session is `{ token, ...rights, ask, call, bytes, visit, watch }`, with the rights of
 * `rightsOf`: `ask` makes a call and returns the whole answer, `call` its result, `bytes` a file,
 * `visit` sends a test visitor, `watch` has the numbers of now. One of Access has no token.
 * `farewell` says why the last session ended, if nobody asked for it, or why Access has begun none.
 * `isAsking` is true while Access is asked.
 */
export function useSession() {
  const [kept, set] = useState(read);
  const [farewell, setFarewell] = useState("");
  const [isAsking, setAsking] = useState(HAS_ACCESS && !kept);
  useEffect(() => {
    if (!isAsking) return;
    const show = (found) => set({ token: "", ...found });
    const tell = ({ message }) => setFarewell(message);
    rights("").then(show, tell).finally(() => setAsking(false));
  }, []);
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
  const signOut = () => {
    leave("");
    if (session.token === "") location.assign(ACCESS_LOGOUT);
  };
  return { session, farewell, isAsking, signIn, signOut };
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
      if (refusal.isOfToken) leave(token ? TOKEN_LOST : ACCESS_LOST);
      throw refusal;
    }
  };
  const askOr = guarded(ask);
  const call = async (...parameters) => (await askOr(...parameters)).result;
  const watch = new Watch(guarded(stream));
  return { ask: askOr, call, bytes: guarded(bytes), visit: guarded(visit), watch };
}
