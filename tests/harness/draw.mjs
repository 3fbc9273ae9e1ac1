/**
 * An event that draws lots (`shuffle_at_event_start`) and is in its prequeue when a test begins.
 */

const MINUTE_MS = 60_000;
/** How long after the beginning of a test the event starts, in milliseconds. */
const PREQUEUE_MS = 5 * MINUTE_MS;

/** Makes the event as owners write it. Call it when the test begins: times count from now. */
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
