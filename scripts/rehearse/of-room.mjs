// The part of a plan that a room and an event of it say, as the API tells them. Pure: the command
// and the cockpit rehearse the same.

const MINUTE_MS = 60_000;
/** What a rehearsal needs of a room, as the API calls it. */
const ROOM_FIELDS = [
  "total_active_users",
  "new_users_per_minute",
  "session_duration",
  "disable_session_renewal",
  "queueing_method",
  "refresh_interval_seconds",
  "near_head_refresh_interval_seconds",
  "turn_kept_minutes",
  "turnstile_mode",
  "turnstile_action",
  "event_stream_enabled",
];
/** What an event sets anew of them, and that it lets nobody in, which the simulator refuses. */
const EVENT_FIELDS = [
  "total_active_users",
  "new_users_per_minute",
  "session_duration",
  "disable_session_renewal",
  "queueing_method",
  "turnstile_mode",
  "turnstile_action",
  "queue_all",
];

/**
 * Title and room of a plan; with an event also its prequeue, its shuffle and when it begins.
 *
 * @param {object} room
 * @param {object} [event]
 */
export function planOfRoom(room, event) {
  const plan = { title: room.name, room: picked(room, ROOM_FIELDS) };
  return event ? withEvent(plan, event) : plan;
}

function withEvent(plan, event) {
  const begins = Date.parse(event.prequeue_start_time ?? event.event_start_time);
  const prequeueMs = Date.parse(event.event_start_time) - begins;
  return {
    ...plan,
    title: `${event.name} of ${plan.title}`,
    begins_at: clockOf(begins),
    room: { ...plan.room, ...picked(event, EVENT_FIELDS) },
    prequeue_minutes: Math.round(prequeueMs / MINUTE_MS),
    shuffle_at_event_start: event.shuffle_at_event_start === true,
  };
}

function picked(from, names) {
  const known = names.filter((name) => from[name] !== undefined && from[name] !== null);
  return Object.fromEntries(known.map((name) => [name, from[name]]));
}

function clockOf(ms) {
  const at = new Date(ms);
  return [at.getHours(), at.getMinutes()].map((part) => `${part}`.padStart(2, "0")).join(":");
}
