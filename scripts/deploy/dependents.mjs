// Finds what hangs on the old ticket keys and would change without them: draws, whose commitments
// are public from the day an event is made and whose receipts hold for a month, lotteries, and
// invitations. It does not see draws of events that were deleted or moved since.
import { askHost, parsed } from "../ask-host.mjs";
import { accessHeaders } from "../token.mjs";
import { exported } from "../whole-file.mjs";

const API = "/_waiting-room/client/v4/";
/** How long a draw stands after its start, in milliseconds: see docs/events.md. */
const DRAW_STANDS_MS = 30 * 24 * 3_600_000;

/** A deployment of a release before its API told of all rooms. */
export class OlderRelease extends Error {}

/**
 * Asks a deployment what hangs on its old keys: a sentence for each room that has something, or an
 * error that says why that is not known.
 */
export async function dependentsOf(kept, liveAddress) {
  const rooms = await deployedRooms(kept, liveAddress);
  return rooms.flatMap((room) => dependents(room, Date.now()));
}

/**
 * Asks a deployment for its rooms, with their events; an error says why they are not known.
 *
 * @param {object} kept the folder of the deployment
 * @param {string} [liveAddress] where to connect instead of the admin host
 */
export async function deployedRooms(kept, liveAddress) {
  const { rooms } = await exported(async (_, path) => {
    const told = await asked(kept, path, liveAddress);
    // Older releases know no parts: they tell of all rooms at once.
    return Array.isArray(told) ? { lists: [], rooms: told, zones: [], next: null } : told;
  });
  return rooms;
}

/** Asks a deployment how many wait in one of its rooms; an error says why that is not known. */
export async function waitingIn({ id, zone_id: zone }, kept, liveAddress) {
  const status = await asked(kept, `zones/${zone}/waiting_rooms/${id}/status`, liveAddress);
  return status.estimated_queued_users;
}

/** What the API of a deployment has at a path. */
async function asked({ settings: { adminHost }, secrets }, path, liveAddress) {
  const headers = {
    ...accessHeaders({ protocol: "https:" }),
    authorization: `Bearer ${secrets.API_TOKEN}`,
  };
  const url = new URL(API + path, `https://${adminHost}`);
  const { status, body } = await askHost(url, { headers, liveAddress });
  const answer = parsed(body);
  if (answer?.success) return answer.result;
  const told = `${adminHost} answers ${status}`;
  throw status === 404 ? new OlderRelease(told) : new Error(told);
}

/** The sentences about one room of an export. */
export function dependents(room, now) {
  const { name, events = [], invitation_groups: groups } = room;
  const isOver = ({ event_end_time: end }) => Date.parse(end) <= now;
  const lotteries = [room, ...events.filter((event) => !isOver(event))];
  const isLottery = lotteries.some(({ queueing_method: method }) => method === "random");
  const stands = ({ shuffle_at_event_start: isDrawn, event_start_time: start }) =>
    isDrawn && now < Date.parse(start) + DRAW_STANDS_MS;
  const draws = events.filter(stands).map((event) => event.name);
  const signed = (groups ?? []).filter((group) => !group.public_key).map((group) => group.name);
  return [
    isLottery && `${name}: whoever waits in its lottery gets another lot`,
    draws.length > 0 && `${name}: the draws of ${draws.join(", ")} get other commitments and ranks`,
    signed.length > 0 && `${name}: invitations of ${signed.join(", ")} that are out open nothing`,
  ].filter(Boolean);
}
