/** What webhooks see of a room, for tests of what they tell. */

export const SECOND_MS = 1_000;
export const NOON = Date.parse("2026-11-24T12:00:00Z");
/** A webhook that is told of everything. */
export const HOOK = {
  id: "a",
  topics: ["queueing", "event", "told_wait", "limit", "save", "quota"],
  told_wait_minutes: 30,
};
/** A room that is half full, and nobody waits. */
export const QUIET = {
  room: "r",
  hooks: [HOOK],
  is_open: true,
  is_off: false,
  is_failing: false,
  active: 50,
  waiting: 0,
  told_wait_s: 0,
  active_limit: 100,
  new_limit: 60,
  event: null,
  change_at: null,
};
