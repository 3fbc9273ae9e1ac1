// Ends a command that cannot go on, with one sentence that says what to do.

/** Prints the sentence and ends the process with status 1. */
export function stop(sentence) {
  console.error(`\n  ${sentence}\n`);
  process.exit(1);
}
