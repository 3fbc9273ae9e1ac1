// Asks the owner what the command cannot know. Without a terminal, or with --yes, nothing is asked.
import readline from "node:readline/promises";

import { stop } from "../stop.mjs";

export class Questions {
  #asks;
  #command;

  /** `command` is whose flags may answer instead. */
  constructor({ yes }, command = "deploy") {
    this.#asks = !yes && process.stdin.isTTY === true;
    this.#command = command;
  }

  /** Returns the answer in which `problem` finds nothing; ends the process where none can come. */
  async text(question, flag, problem) {
    if (!this.#asks) stop(`${question} Say it with ${flag}: npm run ${this.#command} -- --help`);
    for (;;) {
      const answer = await this.#line(`  ${question} `);
      const why = problem(answer);
      if (!why) return answer;
      console.log(`  ${why}`);
    }
  }

  /** Returns whether the owner agrees; where nothing is asked only the flag does. */
  async agrees(question, { yes, flag = "--yes" }) {
    if (yes) return true;
    if (!this.#asks) stop(`${question} Nothing is asked without a terminal: add ${flag}`);
    return /^y(es)?$/i.test(await this.#line(`  ${question} [y/N] `));
  }

  async #line(question) {
    const reader = readline.createInterface({ input: process.stdin, output: process.stdout });
    // Ctrl-C and Ctrl-D close it without an answer.
    const leave = () => stop("no answer, so nothing was changed");
    reader.once("close", leave);
    const answer = await reader.question(question);
    reader.off("close", leave);
    reader.close();
    return answer.trim();
  }
}
