/**
 * What the Workers of a test wrote to their console: kept for whoever reads a failed test, and
 * silent otherwise, since tests break instances on purpose and a hundred lines of stack traces hide
 * the one failure that counts.
 */

/** The newest ones say why a test failed; a crowd can make thousands. */
const ENTRIES_MAX = 40;
/** The message and where it came from. */
const LINES_MAX = 6;
const LINE_LENGTH_MAX = 200;

export class WorkerLog {
  #entries = [];
  /** What the Workers counted of challenges, all rooms together: { turnstileChallenges: 3, ... } */
  facts = {};

  /** Miniflare's `handleStructuredLogs`. */
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

  /** For `afterEach` of tests that share Workers: shows what a failed one left. */
  afterTest = ({ passed, fullName }) => {
    if (!passed) this.show(fullName);
    this.#entries.length = 0;
  };

  /** How many of the entries that were kept hold `text`. */
  count(text) {
    return this.#entries.filter((entry) => entry.includes(text)).length;
  }

  /** Shows what was kept, if there is anything. */
  show(title) {
    if (this.#entries.length === 0) return;
    console.log(`the Workers of "${title}" wrote last:\n${this.#entries.join("\n")}`);
  }
}
