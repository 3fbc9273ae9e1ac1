/**
 * A helper process of the benchmark that answers one message at a time. It knows nothing of what
 * the process does.
 */

import { fork } from "node:child_process";
import path from "node:path";

/** Starts `file` of this folder; `ask` sends it a message and resolves with its answer. */
export class Child {
  #process;

  constructor(file) {
    this.#process = fork(path.join(import.meta.dirname, file));
  }

  /** @param {object} question @returns {Promise<any>} */
  ask(question) {
    return new Promise((resolve, reject) => {
      const onExit = (code, signal) => {
        reject(new Error(`a helper process ended: ${signal ?? code}`));
      };
      this.#process.once("exit", onExit);
      this.#process.once("message", (answer) => {
        this.#process.off("exit", onExit);
        if (answer?.problem) reject(new Error(answer.problem));
        else resolve(answer);
      });
      this.#process.send(question);
    });
  }

  stop() {
    this.#process.kill();
  }
}
