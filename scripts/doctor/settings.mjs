// Judges what owners have set: keys and tokens, hosts, rooms and their routes.
import { hostsOf } from "../deploy/hosts.mjs";
import { counted, look, ok, wrong } from "./line.mjs";

/** A token of fewer characters is one that somebody thought up: 16 bytes in hexadecimal. */
const TOKEN_MIN = 32;
/** A random key of 32 bytes has at least so many different characters, nearly always. */
const DISTINCT_MIN = 8;
/** The session of a room whose owner says nothing of it, in minutes. */
const SESSION_MINUTES = 5;

export function keys({ samples: [{ known, secrets }], isLocal }) {
  const all = secrets.ticket_keys;
  const figure = counted(all.length, "key");
  const rotate = "New ones without loss: `npm run rotate-keys`.";
  if (all.length === 0) {
    return [wrong("TICKET_KEYS", "none", "Nobody is served without: `npm run deploy` makes one.")];
  }
  if (known.public_keys && !isLocal) {
    const remedy = `Anybody can make tickets with the key of local development. ${rotate}`;
    return [wrong("TICKET_KEYS", "public", remedy)];
  }
  if (!known.public_keys && all.some(({ distinct }) => distinct < DISTINCT_MIN)) {
    const remedy = `One was not drawn at random, and can be guessed. ${rotate}`;
    return [wrong("TICKET_KEYS", `${figure}, one of few characters`, remedy)];
  }
  if (all.length > 2) {
    const remedy =
      "Old ones are needed for 31 minutes, and for draws and invitations that are out: " +
      "`npm run rotate-keys -- --drop-old` says which.";
    return [look("TICKET_KEYS", figure, remedy)];
  }
  return [ok("TICKET_KEYS", known.public_keys ? "that of local development" : figure)];
}

export function tokens({ samples: [{ secrets }], isLocal }) {
  const given = { API_TOKEN: secrets.api_token, API_TOKEN_READ: secrets.api_token_read };
  return Object.entries(given).filter(([, token]) => token).map(([name, token]) => {
    const figure = counted(token.characters, "character");
    const isWeak = token.characters < TOKEN_MIN || token.distinct < DISTINCT_MIN;
    if (!isWeak || isLocal) return ok(name, figure);
    const remedy =
      "It can be guessed: `openssl rand -hex 32` makes one; put it into production/secrets.json " +
      "and `npm run deploy`.";
    return wrong(name, `${figure}, ${token.distinct} different ones`, remedy);
  });
}

/** Whether Cloudflare Access can sign people in, where somebody has begun to set that up. */
export function access({ samples: [sample] }) {
  if (!sample.access) return [];
  const { problems, people, keys, failed } = sample.access;
  if (problems.length > 0) {
    const remedy = `${problems.join("; ")}. Until then it gives nobody a right: tokens count.`;
    return [wrong("Cloudflare Access", "half set up", remedy)];
  }
  if (keys === 0) {
    const why = failed ? `: ${failed}` : "";
    const remedy = "Is ACCESS_TEAM your team's name? Nobody is signed in by it: tokens count.";
    return [wrong("Cloudflare Access", `its keys cannot be read${why}`, remedy)];
  }
  const figure = `${counted(keys, "key")}, ${counted(people, "name")} in ACCESS_ROLES`;
  return [ok("Cloudflare Access", figure)];
}

export function adminHosts({ samples: [{ variables }], rooms, isLocal, inTheClear, host }) {
  const patterns = words(variables.admin_hosts ?? "");
  const figure = patterns.join(", ") || "as by default";
  const lines = [];
  const shared = hostsOf(rooms).filter((one) => patterns.some((pattern) => covers(pattern, one)));
  if (shared.length > 0 && !isLocal) {
    const where = shared.join(", ");
    const remedy = `The API is served on ${where} beside the site: give it a host of its own.`;
    lines.push(look("ADMIN_HOSTS", figure, remedy));
  } else lines.push(ok("ADMIN_HOSTS", figure));
  if (inTheClear) {
    const remedy =
      `http://${host} answers as well, so that a token may travel in the clear: switch on ` +
      '"Always Use HTTPS" for the zone (SSL/TLS, Edge Certificates).';
    lines.push(wrong("HTTPS", "not enforced on the admin host", remedy));
  } else if (!isLocal) lines.push(ok("HTTPS", "enforced on the admin host"));
  return lines;
}

export function zones({ samples: [{ variables }], rooms, isLocal }) {
  const names = words(variables.zones).map((zone) => zone.split("=")[1]?.trim()).filter(Boolean);
  if (names.length === 0) {
    if (isLocal) return [ok("ZONES", "any")];
    const remedy = "Copies of the configuration need a host of yours: `npm run deploy` sets it.";
    return [look("ZONES", "empty: any", remedy)];
  }
  const outside = hostsOf(rooms).filter(
    (host) => !names.some((name) => `.${host}`.endsWith(`.${name}`)),
  );
  if (outside.length === 0) return [ok("ZONES", names.join(", "))];
  const remedy = `No zone has ${outside.join(", ")}: no request of theirs comes here.`;
  return [wrong("ZONES", names.join(", "), remedy)];
}

export function onFailure({ samples: [{ variables }] }) {
  if (variables.on_failure !== "pass") return [ok("ON_FAILURE", "hold")];
  const remedy = "Everybody passes, past all limits, whenever no decision can be made.";
  return [look("ON_FAILURE", "pass", remedy)];
}

export function limits({ rooms }) {
  if (rooms.length === 0) {
    return [look("Rooms", "none", "Everybody passes: make one (docs/deploy.md), or see Visitors.")];
  }
  return rooms.map((room) => {
    const inside = counted(room.total_active_users, "visitor");
    const figure = `${inside} inside, ${room.new_users_per_minute} a minute`;
    const why = unusual(room);
    return why ? look(`Room ${room.name}`, figure, why) : ok(`Room ${room.name}`, figure);
  });
}

function unusual(room) {
  const session = room.session_duration ?? SESSION_MINUTES;
  if (room.suspended) return "Suspended: everybody passes, uncounted.";
  if (room.queueing_method === "passthrough") return "passthrough: its limits hold nobody up.";
  if (room.queueing_method === "reject") return "reject: nobody new enters.";
  if (room.queue_all) return "queue_all: nobody new enters.";
  const { maintenance = "off" } = room;
  if (maintenance !== "off") return `maintenance: ${maintenance}; nobody new enters.`;
  if (room.new_users_per_minute * session < room.total_active_users) {
    return (
      `So few enter in a session of ${session} min that never so many are inside, but for who ` +
      "stays longer: is `new_users_per_minute` meant so low?"
    );
  }
  return "";
}

/** Who answers at each place of the rooms. */
export function routes({ entrances, rooms, isLocal }) {
  return entrances.map((entrance) => {
    const { name, host, path } = entrance;
    const room = rooms.find(({ id }) => id === entrance.room);
    return routeOf(`Route ${host}${path}`, entrance, { name, room, host, isLocal });
  });
}

function routeOf(what, { isRoom, failed, status }, { name, room, host, isLocal }) {
  if (isRoom) return ok(what, `leads to room ${name}`);
  if (failed) {
    const remedy = isLocal
      ? "`npm start` answers for hosts of this machine alone: nothing to do if it is deployed."
      : `${host} cannot be reached from here: does it have a proxied DNS record (orange cloud)?`;
    return (isLocal ? look : wrong)(what, failed, remedy);
  }
  if (room.suspended) return look(what, `${status}, not held`, `Room ${name} is suspended.`);
  if (room.bypass_rules?.length > 0) {
    const remedy =
      `A bypass rule may match the requests of the doctor; if none does, no route leads to room ` +
      `${name}.`;
    return look(what, `${status}, not of the room`, remedy);
  }
  const remedy =
    `Visitors of room ${name} do not meet it: is there a route ${host}/* to this Worker, the DNS ` +
    "record proxied, and no other Worker or rule before? `npm run deploy` writes routes.";
  return wrong(what, `${status}, not of the room`, remedy);
}

function words(list) {
  return list.split(",").map((word) => word.trim()).filter(Boolean);
}

/** As the Worker reads an entry of ADMIN_HOSTS. */
function covers(pattern, host) {
  if (!pattern.startsWith("*")) return host === pattern.toLowerCase();
  const ending = pattern.slice(1).toLowerCase();
  return host.length > ending.length && host.endsWith(ending);
}
