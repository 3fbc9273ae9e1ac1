// One line of what the doctor says: a figure, a verdict, and what to do.

/** The verdicts, the better first. */
export const VERDICTS = ["ok", "look", "wrong"];

/** All is as it should be, or nothing can be said against it. */
export function ok(what, figure, remedy = "") {
  return { what, figure, verdict: "ok", remedy };
}

/** Visitors are served; somebody should look at it. */
export function look(what, figure, remedy) {
  return { what, figure, verdict: "look", remedy };
}

/** Visitors, places or secrets are at risk. */
export function wrong(what, figure, remedy) {
  return { what, figure, verdict: "wrong", remedy };
}

/** Writes milliseconds as people read them. */
export function duration(ms) {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}

/** Writes a number of things: `1 isolate`, `2,000 isolates`. */
export function counted(count, thing) {
  return `${Math.round(count).toLocaleString("en-US")} ${thing}${count === 1 ? "" : "s"}`;
}

/** The value in the middle. */
export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}
