// The first screen: asks for the token, where Cloudflare Access signs nobody in.
import { useEffect, useRef, useState } from "preact/hooks";

import { rights, whyNotSignedIn } from "./api.js";
import { HAS_ACCESS } from "./session.js";

export function SignIn({ farewell, onSignIn }) {
  const [problem, setProblem] = useState(farewell);
  const [busy, setBusy] = useState(false);
  const field = useRef();
  useEffect(() => {
    document.title = "Sign in – Waiting room";
    field.current.focus();
  }, []);
  const submit = async (event) => {
    event.preventDefault();
    const token = field.current.value.trim();
    if (!token) return setProblem("Enter the token.");
    setBusy(true);
    try {
      onSignIn(token, await rights(token));
    } catch (refusal) {
      setProblem(whyNotSignedIn(refusal));
      setBusy(false);
      field.current.select();
    }
  };
  // The field has no name, so that no browser would ever write it into an address.
  return (
    <main class="narrow">
      <h1>Waiting room</h1>
      <form onSubmit={submit}>
        <label for="token">Token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          aria-describedby="token-help token-problem"
          aria-invalid={problem ? "true" : undefined}
        />
        <p id="token-problem" class="problem" role="alert">
          {problem}
        </p>
        <p class="row">
          <button class="main" disabled={busy}>
            {busy ? "Signing in …" : "Sign in"}
          </button>
          {HAS_ACCESS && (
            <button type="button" onClick={() => location.reload()}>
              Sign in by Cloudflare Access
            </button>
          )}
        </p>
        <p id="token-help" class="soft">
          Your own, if somebody made you one under People; or API_TOKEN to look and to change,
          API_TOKEN_READ to look only: <code>npm run deploy</code> keeps these in
          production/secrets.json, <code>npm start</code> in .dev.vars. This tab keeps the token
          until it is closed or you sign out.
        </p>
      </form>
    </main>
  );
}
