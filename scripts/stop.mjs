// How a command of this checkout ends when it cannot go on: one sentence that says what to do.

/** Prints the sentence and ends the process. */
export function stop(sentence) {
  console.error(`\n  ${sentence}\n`);
  process.exit(1);
}
