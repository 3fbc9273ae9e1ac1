// The rooms of the site: those of rooms.json that are not of this machine, or else one that is made
// of what the owner answers and kept beside the secrets.
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

import { stop } from "../stop.mjs";
import { wholeNumber } from "../usage.mjs";
import { hostsOf } from "./hosts.mjs";

const FILE = path.join(import.meta.dirname, "..", "..", "rooms.json");
const PER_MINUTE = "new_users_per_minute";
const LIMITS = [
  ["total_active_users", "total-active-users", "How many visitors may be inside at a time?"],
  [PER_MINUTE, "new-users-per-minute", "How many may enter in any 60 seconds?"],
];

/**
 * Keeps the rooms to deploy as rooms.json of the folder, and returns them as `rooms`; `edited` is
 * the file in which the owner writes them.
 */
export async function siteRooms(kept, options, questions) {
  const own = ownRooms(kept.settings.zone);
  const rooms = own.length > 0 ? own : await madeRooms(kept, options, questions);
  if (own.length > 0 && LIMITS.some(([, flag]) => options[flag] !== undefined)) {
    stop("rooms.json has rooms of its own: write their limits there, not into flags");
  }
  await askForGone(kept, rooms, options, questions);
  kept.write("rooms.json", rooms);
  return { rooms, edited: own.length > 0 ? FILE : kept.file("rooms.json") };
}

/** Asks before a deployed room goes: its line is kept under its id. */
async function askForGone(kept, rooms, options, questions) {
  if (!kept.state.began) return;
  const known = kept.state.deployed?.rooms ?? kept.rooms() ?? [];
  const ids = rooms.map(({ id }) => id);
  const gone = known.filter(({ id }) => !ids.includes(id));
  if (gone.length === 0) return;
  const names = gone.map(({ name, id }) => `"${name}" (id ${id})`).join(", ");
  const question =
    `Deploy without ${names}? Whoever waits there loses the place; a room with the same id would ` +
    "keep the line.";
  if (!(await questions.agrees(question, options))) stop("nothing was changed");
}

function ownRooms(zone) {
  let rooms;
  try {
    rooms = JSON.parse(fs.readFileSync(FILE, "utf8"));
  } catch (error) {
    stop(`rooms.json cannot be read: ${error.message}`);
  }
  if (!Array.isArray(rooms)) stop("rooms.json must be a list of rooms: [{ ... }]");
  const own = rooms.filter((room) => {
    const hosts = hostsOf([room]);
    return hosts.length === 0 || !hosts.every(isLocal);
  });
  for (const room of own) {
    if (room.zone_id !== zone.id) {
      stop(`rooms.json: the zone_id of "${room.name}" must be that of ${zone.name}: ${zone.id}`);
    }
    const outside = hostsOf([room]).find((host) => !`.${host}`.endsWith(`.${zone.name}`));
    if (outside) stop(`rooms.json: ${outside} of "${room.name}" is not in the zone ${zone.name}`);
  }
  return own;
}

function isLocal(host) {
  return host === "localhost" || host.endsWith(".localhost") || host === "127.0.0.1";
}

/**
 * Makes the room of the site, or takes what the folder keeps, with the limits of `options`; asks
 * for those that are missing. `limits` are their fields, flags and questions.
 */
export async function madeRooms(kept, options, questions, limits = LIMITS) {
  const { host, zone } = kept.settings;
  const rooms = kept.rooms() ?? [
    {
      id: randomBytes(16).toString("hex"),
      name: host.replaceAll(/[^a-z0-9]+/g, "-"),
      host,
      path: "/",
    },
  ];
  if (!Array.isArray(rooms) || rooms.length === 0) {
    stop(`${kept.file("rooms.json")} must be a list of rooms: [{ ... }]`);
  }
  const [room] = rooms;
  for (const one of rooms) one.zone_id = zone.id;
  for (const [field, flag, question] of limits) {
    // More cannot enter than may be inside.
    const most = field === PER_MINUTE ? room.total_active_users : Infinity;
    room[field] = options[flag] ?? room[field] ?? (await asked(questions, question, flag, most));
  }
  if (room[PER_MINUTE] > room.total_active_users) {
    const [[, most], [, rate]] = limits;
    stop(
      `--${rate} must be at most --${most}: more cannot be inside ` +
        `(${room[PER_MINUTE]} and ${room.total_active_users} were given)`,
    );
  }
  return rooms;
}

async function asked(questions, question, flag, most) {
  const problem = (answer) => {
    if (!/^[1-9]\d*$/.test(answer)) return "A whole number from 1, please.";
    return Number(answer) > most ? `At most ${most}, please: no more may be inside.` : "";
  };
  return wholeNumber(await questions.text(question, `--${flag}`, problem), `--${flag}`);
}
