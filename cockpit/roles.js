// What a sender may do, by the API's roles, and where: in words, and as what the screens ask.

/** The roles from least to most, with what each may. */
export const ROLES = [
  ["look", "Look", "looks only: numbers, settings, history"],
  [
    "steer",
    "Steer",
    "looks, and presses the buttons of a sale: limits, hold, sold out, message, events",
  ],
  ["manage", "Manage", "also makes, changes and deletes rooms, events, rules and webhooks"],
  ["admin", "Admin", "may all: also people, settings of zones, and importing"],
];
/** What some roles may not; where a screen offers nothing to look, it says so itself. */
const LIMITS = {
  steer:
    "You may steer: limits, holds, sold out, messages, events. Other changes need the role manage.",
  manage: "You may change rooms; people and settings of zones need the role admin.",
};

/**
 * What a screen may offer, of the API's answer about a token:
 * `{ name, role, isScoped, maySteer, mayManage, mayAdmin, mayMakeRooms }`.
 */
export function rightsOf({ name, role, zones, rooms }) {
  const may = (least) => levelOf(role) >= levelOf(least);
  const isScoped = Boolean(zones ?? rooms);
  return {
    name,
    role,
    isScoped,
    maySteer: may("steer"),
    mayManage: may("manage"),
    mayAdmin: may("admin"),
    mayMakeRooms: may("manage") && (!isScoped || zones.length > 0),
  };
}

/** Says what the one who is signed in may not; "" if everything is allowed. */
export function limitOf({ role, isScoped }) {
  const where = isScoped ? "That is for some zones or rooms; you see no others." : "";
  return [LIMITS[role], where].filter(Boolean).join(" ");
}

/** What a role may, in words. */
export function wordsOf(role) {
  return ROLES.find(([name]) => name === role)?.[2] ?? role;
}

/** Where a token may do it, in words; `rooms` and `zones` have the names. */
export function placesOf(token, rooms, zones) {
  if (!token.zones && !token.rooms) return "everywhere";
  const zone = (id) => `zone ${zones.find(({ value }) => value === id)?.label ?? id}`;
  const room = (id) => `room ${rooms.find((one) => one.id === id)?.name ?? id}`;
  return `in ${[...token.zones.map(zone), ...token.rooms.map(room)].join(", ")}`;
}

function levelOf(role) {
  return ROLES.findIndex(([name]) => name === role);
}
