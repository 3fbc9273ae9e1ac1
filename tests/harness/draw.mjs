/**
 * An event that draws the order of all who come before it: in its prequeue when a test begins. It
 * knows no room and no visitor.
 */

const MINUTE_MS = 60_000;
/** How long after the beginning of a test it starts. */
export const PREQUEUE_MS = 5 * MINUTE_MS;

/** The event as owners write it, made when a test begins and not when its file is read. */
export function drawnEvent(fields) {
  const at = (ms) => new Date(Date.now() + ms).toISOString();
  return {
    id: "d".repeat(32),
    name: "sale",
    prequeue_start_time: at(-1_000),
    event_start_time: at(PREQUEUE_MS),
    event_end_time: at(PREQUEUE_MS + 60 * MINUTE_MS),
    shuffle_at_event_start: true,
    ...fields,
  };
}
