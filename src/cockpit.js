// Serves the owner's cockpit at `/_waiting-room/`: four texts that the build makes of `cockpit/`.
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
  "trusted-types 'none'",
].join("; ");
const FILES = new Map([
  ["/_waiting-room/", { type: "text/html; charset=utf-8", body: html }],
  ["/_waiting-room/cockpit.js", { type: "text/javascript; charset=utf-8", body: script }],
  ["/_waiting-room/editor.js", { type: "text/javascript; charset=utf-8", body: editor }],
  ["/_waiting-room/cockpit.css", { type: "text/css; charset=utf-8", body: style }],
]);

/** Returns the verdict that answers with a file of the cockpit; nothing for any other request. */
export async function cockpitFile({ url, method, headers: asked }) {
  const file = FILES.get(new URL(url).pathname);
  if (!file || (method !== "GET" && method !== "HEAD")) return;
  file.tag ??= await tagOf(file.body);
  const headers = [
    ["content-type", file.type],
    // Browsers ask each time whether it is still the same, so a deployment counts at once.
    ["cache-control", "no-cache"],
    ["etag", file.tag],
    ["content-security-policy", POLICY],
    ["cross-origin-opener-policy", "same-origin"],
    ["cross-origin-resource-policy", "same-origin"],
    ["referrer-policy", "no-referrer"],
    ["x-content-type-options", "nosniff"],
    ["x-robots-tag", "noindex"],
  ];
  const isKnown = asked.get("if-none-match")?.includes(file.tag);
  const [status, body] = isKnown ? [304, ""] : [200, file.body];
  return { kind: "respond", after: false, status, headers, body };
}

async function tagOf(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const bytes = [...new Uint8Array(digest.slice(0, 12))];
  return `"${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}"`;
}
