// One line at the bottom of the terminal that changes in place, with ordinary lines above it.
// Without a terminal (a log file, CI) it becomes an ordinary line now and then.

/** The least time between two lines where there is no terminal, in milliseconds. */
const LOG_EVERY_MS = 10_000;

/** One line at the bottom of the terminal. */
export class LiveLine {
  #text = "";
  #logged = 0;

  /** Shows `text` in place of what the line said before. */
  show(text) {
    if (text === this.#text) return;
    this.#text = text;
    if (process.stdout.isTTY) return this.#draw();
    if (!text || Date.now() - this.#logged < LOG_EVERY_MS) return;
    this.#logged = Date.now();
    console.log(text);
  }

  /** Writes ordinary text above the line. */
  print(text) {
    if (!process.stdout.isTTY)
      return process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
    process.stdout.write(`\r\x1b[K${text}${text.endsWith("\n") ? "" : "\n"}`);
    this.#draw();
  }

  /** Leaves the line as it stands; later output begins below it. */
  end() {
    if (process.stdout.isTTY && this.#text) process.stdout.write("\n");
    this.#text = "";
  }

  #draw() {
    // A line longer than the terminal would wrap, and each change would add lines.
    process.stdout.write(`\r\x1b[K${this.#text.slice(0, (process.stdout.columns ?? 80) - 1)}`);
  }
}
