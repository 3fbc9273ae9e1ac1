// Tries from outside what was just started: health, the API, the room in front of the site, and the
// site itself. It takes no place: it asks as a browser does that loads a page ahead.
import { askHost } from "../ask-host.mjs";
import { managedRooms, patiently, roomOf } from "../deploy/live-check.mjs";
import { AHEAD, isRefusedPrefetch } from "../prefetch.mjs";
import { examinePair } from "./certificate.mjs";
import { LIMITS } from "./options.mjs";

/** Tries until all is well or `patience` (seconds) is over. Returns "" or what is wrong. */
export function checkFromOutside(settings, token, patience) {
  return patiently(async () => (await managed(settings, token)).problem ?? "", patience);
}

/**
 * What is not as owners mostly want it, though visitors can be served: a sentence for each.
 *
 * @param {object} settings of the folder
 * @param {string} token of the API
 * @param {object} made the room of the folder's rooms.json that has the given limits
 * @param {Record<string, number>} given limits of this start, by flag
 */
export async function warnings(settings, token, made, given) {
  const { rooms = [] } = await managed(settings, token);
  const inForce = rooms.find(({ id }) => id === made.id) ?? roomOf(settings.host, rooms);
  return [
    expiryWarning(settings),
    ...limitWarnings(inForce, given),
    await roomWarning(settings, rooms),
    await originWarning(settings, roomOf(settings.host, rooms)),
  ].filter(Boolean);
}

function managed(settings, token) {
  const { zone } = settings;
  return managedRooms(asking(settings), { adminHost: adminHostOf(settings), zone }, token);
}

function expiryWarning({ tls }) {
  return tls ? examinePair(tls).warning : "";
}

/** Which limits were given in vain: once the API has changed a room, rooms.json counts no more. */
function limitWarnings(room, given) {
  const idle = LIMITS.filter(([field, flag]) => room && given[flag] && room[field] !== given[flag]);
  return idle.map(
    ([field, flag]) =>
      `--${flag} ${given[flag]} does not count: the cockpit or the API has changed the room ` +
      `since, and ${room[field]} counts. Change it there.`,
  );
}

async function roomWarning(settings, rooms) {
  const { host } = settings;
  const room = roomOf(host, rooms);
  if (!room) return `no room covers ${host}: everybody passes.`;
  const answer = await asking(settings)(host, room.path, AHEAD);
  if (isRefusedPrefetch(answer)) return "";
  const path = `${host}${room.path}`;
  const { status } = answer;
  return `${path} answers ${status}, and not the room: do its rules or settings let all pass?`;
}

async function originWarning({ origin, host }, { path } = { path: "/" }) {
  try {
    const answer = await askHost(new URL(path, origin), { headers: { host, ...AHEAD } });
    if (!isRefusedPrefetch(answer)) return "";
    return (
      `the site ${origin} answers as a waiting room does: does this address lead back to the ` +
      "room? Then nobody gets to the site. Give --origin the address of the site itself."
    );
  } catch (error) {
    const why = error.message;
    return `the site ${origin} does not answer (${why}): visitors get a page that says so.`;
  }
}

function asking(settings) {
  const liveAddress = addressOf(settings);
  // A certificate that has expired is warned of. All else is tried nevertheless.
  const trustsAll = expiryWarning(settings) !== "";
  return (name, path, headers) =>
    askHost(new URL(`${schemeOf(settings)}://${name}${path}`), { headers, liveAddress, trustsAll });
}

/** Where to connect on this machine. */
export function addressOf({ address, port, ...settings }) {
  const name = address === "*" ? "127.0.0.1" : address.replaceAll(/^\[|\]$/g, "");
  return `${schemeOf(settings)}://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/** A host on which cockpit, health and API are served. */
export function adminHostOf({ adminHosts }) {
  return adminHosts.split(",")[0].trim().replace("*", "admin");
}

function schemeOf({ tls }) {
  return tls ? "https" : "http";
}
