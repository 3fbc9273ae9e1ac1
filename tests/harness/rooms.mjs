/**
 * Rooms as the tests configure them: small builders for `rooms.json`. Nothing here talks to
 * workerd.
 */

import { createHash } from "node:crypto";

/** The zone id of local development. */
export const ZONE = "0123456789abcdef0123456789abcdef";

/**
 * One room of `rooms.json`: a host of its own, FIFO, one-minute sessions, unless `fields` says
 * otherwise. The id follows from the name, so a room keeps its objects when a test changes its
 * settings.
 *
 * @param {object} fields fields of the room as in the product's configuration; `name` is required
 */
export function room(fields) {
  const id = createHash("sha256").update(fields.name).digest("hex").slice(0, 32);
  return {
    id,
    zone_id: ZONE,
    host: `${fields.name}.example`,
    path: "/",
    total_active_users: 2,
    new_users_per_minute: fields.total_active_users ?? 2,
    session_duration: 1,
    ...fields,
  };
}

/** The object that answers for a room, as the Worker names it. */
export const objectName = {
  /** @param {{ id: string }} room @param {string} colo three letters */
  DataCenterCounter: (room, colo) => `${room.id}/${colo}`,
  /** @param {{ id: string }} room @param {string} colo three letters */
  DataCenterAggregator: (room, colo) => `${room.id}/${colo}`,
  /** @param {{ id: string }} room */
  GlobalAggregator: (room) => room.id,
};
