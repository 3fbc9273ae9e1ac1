// The signals that end a rehearsal against a running Worker: Ctrl-C, an end by the system, and a
// terminal that closes.

/**
 * Takes them, so that none ends the process: however often they come, from a terminal and from
 * npm, the room is removed first.
 *
 * @param {NodeJS.Process} process
 * @returns {AbortSignal} is aborted by the first of them
 */
export function endingOf(process) {
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => ending.abort());
  // A closed terminal takes no more text: what is written to it fails, and is to end nothing.
  process.on("SIGHUP", () => {
    for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  });
  return ending.signal;
}
