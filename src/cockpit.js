// Serves the owner's cockpit at `/_waiting-room/`: five texts that the build makes of `cockpit/`.
// Only requests of the management surface come here, so on other hosts nothing of it is there.
import html from "../build/cockpit/index.html";
import editor from "../build/cockpit/editor.js.txt";
import script from "../build/cockpit/cockpit.js.txt";
import style from "../build/cockpit/cockpit.css.txt";

/**
 * What the page may do: run our script and style, talk to this host, and show previews of it.
 * Nothing inline.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  // One, which makes one address: that of the simulator's thread.
  "trusted-types rehearsal",
].join("; ");
/**
 * What the simulator's thread may do: run its wasm. It loads nothing and sends nothing, so a plan
 * stays in the browser; and the page itself runs no wasm.
 */
const THREAD_POLICY = "default-src 'none'; script-src 'wasm-unsafe-eval'";
const SCRIPT = "text/javascript; charset=utf-8";
const NOT_BUILT = "This deployment was built without the simulator (docs/rehearsal.md).";
const FILES = new Map([
  ["/_waiting-room/", { type: "text/html; charset=utf-8", load: page }],
  ["/_waiting-room/cockpit.js", { type: SCRIPT, body: script }],
  ["/_waiting-room/editor.js", { type: SCRIPT, body: editor }],
  ["/_waiting-room/cockpit.css", { type: "text/css; charset=utf-8", body: style }],
  ["/_waiting-room/rehearsal.js", { type: SCRIPT, policy: THREAD_POLICY, load: simulator }],
]);

/** Returns the verdict that answers with a file of the cockpit; nothing for any other request. */
export async function cockpitFile({ url, method, headers: asked }, env) {
  const file = FILES.get(new URL(url).pathname);
  if (!file || (method !== "GET" && method !== "HEAD")) return;
  file.body ??= await file.load(env);
  file.tag ??= await tagOf(file.body);
  const headers = [
    ["content-type", file.type],
    // Browsers ask each time whether it is still the same, so a deployment counts at once.
    ["cache-control", "no-cache"],
    ["etag", file.tag],
    ["content-security-policy", file.policy ?? POLICY],
    ["cross-origin-opener-policy", "same-origin"],
    ["cross-origin-resource-policy", "same-origin"],
    ["referrer-policy", "no-referrer"],
    ["x-content-type-options", "nosniff"],
    ["x-robots-tag", "noindex"],
  ];
  if (!file.body) return respond(404, headers, NOT_BUILT);
  const isKnown = asked.get("if-none-match")?.includes(file.tag);
  return isKnown ? respond(304, headers, "") : respond(200, headers, file.body);
}

function respond(status, headers, body) {
  return { kind: "respond", after: false, status, headers, body };
}

/** The page itself, which is told whether Cloudflare Access may sign somebody in. */
function page({ ACCESS_TEAM }) {
  return ACCESS_TEAM ? html.replace("<html ", "<html data-access ") : html;
}

/** The largest of them, which few isolates ever need; empty where it was not built. */
async function simulator() {
  const { default: text } = await import("../build/cockpit/rehearsal.js.txt");
  return text.trim();
}

async function tagOf(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const bytes = [...new Uint8Array(digest.slice(0, 12))];
  return `"${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}"`;
}
