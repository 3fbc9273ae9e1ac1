// Runs pieces of work side by side, no more at once than there are places.

/** Some places for work. */
export class Pool {
  #free;
  #waiting = [];

  /** @param {number} places */
  constructor(places) {
    this.#free = places;
  }

  /** Runs `work` once a place is free, in the order of the calls; resolves with its result. */
  async run(work) {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise((begin) => this.#waiting.push(begin));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
