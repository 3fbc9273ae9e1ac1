/**
 * Rooms as the tests configure them: small builders of entries for `rooms.json`.
 */

import { createHash } from "node:crypto";

/** The zone id of local development. */
export const ZONE = "0123456789abcdef0123456789abcdef";

/**
 * Makes one room of `rooms.json`: a host of its own, first come, first served, two visitors at a
 * time, and sessions of one minute, unless `fields` says otherwise. The id follows from the name,
 * so a room keeps its objects when a test changes its settings.
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

/** Makes a room for one visitor at a time, on a host that a browser on this machine finds. */
export function localRoom(fields) {
  return room({ host: `${fields.name}.localhost`, total_active_users: 1, ...fields });
}

/** The shortest refresh intervals that are allowed. */
export const FREQUENT_CHECK_INS = {
  refresh_interval_seconds: 5,
  near_head_refresh_interval_seconds: 3,
};

/** The longest refresh intervals that are allowed: a page stays as it is for at least 54 s. */
export const RARE_CHECK_INS = {
  refresh_interval_seconds: 300,
  near_head_refresh_interval_seconds: 60,
};

/** The names that the Worker gives to the objects of a room, by class. */
export const objectName = {
  /** @param {{ id: string }} room @param {string} colo three letters */
  DataCenterCounter: (room, colo) => `${room.id}/${colo}`,
  /** @param {{ id: string }} room @param {string} colo three letters */
  DataCenterAggregator: (room, colo) => `${room.id}/${colo}`,
  /** @param {{ id: string }} room */
  GlobalAggregator: (room) => room.id,
};
