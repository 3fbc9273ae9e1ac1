/**
 * The origin behind the waiting room: it answers everything and writes down who arrived and when,
 * by the clock of workerd. Runs in workerd, beside the Worker under test.
 */

import { WorkerEntrypoint } from "cloudflare:workers";

/**
 * Arrivals since this isolate began: [milliseconds since the epoch, visitor, method, path and
 * query].
 */
const arrivals = [];
/** What Cloudflare's binding for e-mails takes, of what it can take. */
const MAIL_FIELDS = ["from", "subject", "text", "to"];

export default {
  /**
   * Answers what the Worker under test fetches. The query can ask for a `delay-ms`, a `set-cookie`,
   * and a `command` to the waiting room.
   */
  async fetch(request, { OUTSIDE }) {
    const url = new URL(request.url);
    const port = OUTSIDE[url.hostname];
    if (port) return fetch(new Request(`http://127.0.0.1:${port}${url.pathname}`, request));
    const visitor = request.headers.get("x-visitor") ?? "";
    arrivals.push([Date.now(), visitor, request.method, url.pathname + url.search]);
    if (request.headers.get("upgrade") === "websocket") return socket();
    const body = request.body ? await request.text() : "";
    const delayMs = Number(url.searchParams.get("delay-ms"));
    if (delayMs > 0) await new Promise((wake) => setTimeout(wake, delayMs));
    const headers = new Headers({ "x-origin": "1" });
    if (url.searchParams.has("set-cookie")) {
      headers.append("set-cookie", url.searchParams.get("set-cookie"));
    }
    if (url.searchParams.has("command")) {
      headers.set("cf-waiting-room-command", url.searchParams.get("command"));
    }
    const cookie = request.headers.get("cookie");
    return Response.json({ method: request.method, url: request.url, cookie, body }, { headers });
  },
};

/**
 * A binding for e-mails like Cloudflare's: it hands each message to the host `mail.example`, and
 * throws what Cloudflare would where that one refuses it.
 */
export class Mail extends WorkerEntrypoint {
  async send(message) {
    const fields = Object.keys(message).sort();
    if (String(fields) !== String(MAIL_FIELDS)) throw refusal("E_FIELD_MISSING");
    const { "mail.example": port } = this.env.OUTSIDE;
    const sent = { method: "POST", body: JSON.stringify(message) };
    const answer = await fetch(`http://127.0.0.1:${port}/mail`, sent);
    if (!answer.ok) throw refusal("E_SENDER_NOT_VERIFIED");
    return { messageId: crypto.randomUUID() };
  }
}

function refusal(code) {
  return Object.assign(new Error("told to nobody@shop.example"), { code });
}

/** The entrypoint at which the harness reads the arrivals; with `DELETE` they are forgotten. */
export const Arrivals = {
  fetch({ method }) {
    return Response.json(method === "DELETE" ? arrivals.splice(0) : arrivals);
  },
};

/** Answers with a WebSocket that sends every message back. */
function socket() {
  const [client, server] = Object.values(new WebSocketPair());
  server.accept();
  server.addEventListener("message", (event) => server.send(event.data));
  return new Response(null, { status: 101, webSocket: client, headers: { "x-origin": "1" } });
}
