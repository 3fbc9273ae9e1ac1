/**
 * Keeps what the Workers of a test write to their console, and shows it only when the test fails:
 * tests break instances on purpose, and a hundred lines of stack traces would hide the one failure
 * that counts.
 */

import { setTimeout as sleep } from "node:timers/promises";

/** How long after its answer a line may come, and how long to wait between two looks. */
const LATE_MS = 10_000;
const LOOK_MS = 10;
/** How many of the newest entries are kept; a crowd can make thousands. */
const ENTRIES_MAX = 200;
/** How many lines of an entry are kept: the message, and where it came from. */
const LINES_MAX = 6;
const LINE_LENGTH_MAX = 200;

/** The log of the Workers of one test or test file. */
export class WorkerLog {
  #entries = [];
  /** The counts of challenges in the log, all rooms together: { turnstileChallenges: 3, ... } */
  facts = {};

  /** Keeps one entry; for Miniflare's option `handleStructuredLogs`. */
  keep = ({ level, message }) => {
    const lines = message.split("\n").slice(0, LINES_MAX);
    const text = lines.map((line) => line.slice(0, LINE_LENGTH_MAX)).join("\n");
    this.#entries.push(`[${level}] ${text}`);
    if (this.#entries.length > ENTRIES_MAX) this.#entries.shift();
    this.#count(message);
  };

  #count(message) {
    if (!message.startsWith('{"facts":')) return;
    for (const [name, count] of Object.entries(JSON.parse(message).facts)) {
      this.facts[name] = (this.facts[name] ?? 0) + count;
    }
  }

  /**
   * Shows the entries of a failed test and forgets them; for `afterEach` of tests that share
   * Workers.
   */
  afterTest = ({ passed, fullName }) => {
    if (!passed) this.show(fullName);
    this.#entries.length = 0;
  };

  /** Counts the kept entries that hold `text`. */
  count(text) {
    return this.#entries.filter((entry) => entry.includes(text)).length;
  }

  /** Waits until as many as are `wanted` have come, and counts them. */
  async countOnceThere(text, wanted) {
    const end = Date.now() + LATE_MS;
    while (this.count(text) < wanted && Date.now() < end) await sleep(LOOK_MS);
    return this.count(text);
  }

  /** Shows the kept entries under `title`, if there are any. */
  show(title) {
    if (this.#entries.length === 0) return;
    console.log(`the Workers of "${title}" wrote last:\n${this.#entries.join("\n")}`);
  }
}
