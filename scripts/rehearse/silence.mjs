// Notices that a site answers nobody any more. Pure: the times are arguments, in milliseconds.

/** A site that has answered nobody for so long has ended, in milliseconds. */
const SILENT_MS = 60_000;

/** The answers of one site, of whoever asked. */
export class Silence {
  #answeredMs = -Infinity;
  #sinceMs;

  /** Takes note of an answer. */
  answered(nowMs) {
    this.#answeredMs = nowMs;
    this.#sinceMs = undefined;
  }

  /** Takes note of a request without an answer; true if there has been none for too long. */
  failed(askedMs, nowMs) {
    this.#sinceMs ??= Math.max(askedMs, this.#answeredMs);
    return nowMs - this.#sinceMs >= SILENT_MS;
  }
}
