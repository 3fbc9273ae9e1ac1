// One line at the bottom of the terminal that changes in place, with ordinary lines above it.
// Without a terminal (a log file, CI) each change is an ordinary line.

export class LiveLine {
  #text = "";

  /** Shows `text` in place of what the line said before. */
  show(text) {
    if (text === this.#text) return;
    this.#text = text;
    if (process.stdout.isTTY) this.#draw();
    else if (text) console.log(text);
  }

  /** Writes ordinary text above the line. */
  print(text) {
    if (!process.stdout.isTTY)
      return process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
    process.stdout.write(`\r\x1b[K${text}${text.endsWith("\n") ? "" : "\n"}`);
    this.#draw();
  }

  /** Leaves the line as it stands; what follows begins below it. */
  end() {
    if (process.stdout.isTTY && this.#text) process.stdout.write("\n");
    this.#text = "";
  }

  #draw() {
    // A line longer than the terminal would wrap, and then pile up.
    process.stdout.write(`\r\x1b[K${this.#text.slice(0, (process.stdout.columns ?? 80) - 1)}`);
  }
}
