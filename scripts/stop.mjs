// Ends a command that cannot go on, with one sentence that says what to do.

/** Prints the sentence and ends the process with status 1, or another. */
export function stop(sentence, status = 1) {
  console.error(`\n  ${sentence}\n`);
  process.exit(status);
}
