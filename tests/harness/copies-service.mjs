/**
 * The copies of all isolates in one memory, in place of Miniflare's Cache API: that one is true to
 * the platform and takes half the processor time of a story. The cluster reads, changes and keeps
 * them. Runs in workerd, beside the Worker under test.
 */

import { WorkerEntrypoint } from "cloudflare:workers";

/** The copies by cache and key: [text, when it is over in milliseconds since the epoch]. */
let copies = {};

/** What the Cache API of an isolate asks. */
export class Copies extends WorkerEntrypoint {
  /** Returns the text under a name, or `null`. */
  read(name) {
    const [text, endMs] = copies[name] ?? [null, 0];
    return Date.now() < endMs ? text : null;
  }

  /** Keeps a text under a name. */
  write(name, text, maxAgeS) {
    copies[name] = [text, Date.now() + maxAgeS * 1_000];
  }
}

/** All copies at once: GET returns them, PUT replaces them. */
export default {
  async fetch(request) {
    if (request.method === "PUT") copies = await request.json();
    return Response.json(copies);
  },
};
