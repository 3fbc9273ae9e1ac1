// Gathers all that the doctor judges: asks the Worker often enough to meet several isolates, each
// room's objects once, and the rooms' own hosts in a way that takes no place.
import { randomBytes } from "node:crypto";

import { AHEAD, isRefusedPrefetch } from "../prefetch.mjs";

/** How many questions are under way at a time. */
const LANES = 4;
/** No object learns of such a request, and no page is sent. */
const NO_VISIT = { method: "HEAD", headers: AHEAD };

/**
 * Measures.
 *
 * @param {object} given
 * @param {object} given.admin see `Admin`
 * @param {(url: URL, how: object) => Promise<object>} given.ask see `askHost`
 * @param {object} given.options of `doctorOptions`
 */
export async function measured({ admin, ask, options }) {
  const { address, isLocal, requests, deployment, quota } = options;
  const health = await admin.health();
  const trial = `trial=${randomBytes(8).toString("hex")}`;
  // Alone, so that the others may find its copy.
  const samples = [await admin.examination(trial)];
  await inLanes(requests - 1, async () => samples.push(await admin.examination(trial)));
  const rooms = await admin.rooms();
  const asked = rooms.slice(0, options.rooms);
  const examined = [];
  for (const { id } of asked.length > 0 ? asked : [{ id: "none" }]) {
    examined.push({ room: id, ...(await admin.examination(`${trial}&room=${id}`)) });
  }
  return {
    address: address.origin,
    host: address.hostname,
    isLocal,
    quota,
    configuration: deployment?.configuration,
    isOwn: deployment?.isOwn ?? false,
    cluster: deployment?.cluster,
    health,
    samples,
    examined,
    rooms,
    entrances: await entrances(asked, { ask, address, isLocal }),
    inTheClear: await inTheClear({ ask, ...options }),
  };
}

async function inLanes(count, act) {
  let left = count;
  const lane = async () => {
    while (left-- > 0) await act();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

/** Asks each host of the rooms who answers there. */
async function entrances(rooms, { ask, address, isLocal }) {
  const places = rooms.flatMap((room) =>
    [room, ...(room.additional_routes ?? [])].map(({ host, path = "/" }) => ({ room, host, path })),
  );
  const tried = [];
  for (const { room, host, path } of places) {
    const origin = isLocal ? `http://${host}:${address.port}` : `https://${host}`;
    const answer = await ask(new URL(path, origin), NO_VISIT).then(
      (told) => ({ status: told.status, isRoom: isRefusedPrefetch(told) }),
      ({ message }) => ({ failed: message }),
    );
    tried.push({ room: room.id, name: room.name, host, path, ...answer });
  }
  return tried;
}

/** Whether the admin host answers without HTTPS, too. */
async function inTheClear({ ask, address, isLocal, liveAddress }) {
  if (isLocal || liveAddress) return false;
  const url = new URL(`http://${address.hostname}/_waiting-room/health`);
  const answer = await ask(url, {}).catch(() => undefined);
  return answer !== undefined && answer.body.includes('"status":');
}
