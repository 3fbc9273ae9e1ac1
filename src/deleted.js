// What is left of rooms that were deleted: the logs of their admissions, and what their objects
// keep. Whoever deletes a room hears if a part of it may still be stored.
import { within } from "./copies.js";
import { globalOf } from "./objects.js";
import { deleteLog } from "./transparency.js";

/** Where rooms are deleted: one, or several of a zone. */
const ROOMS = /^\/_waiting-room\/client\/v4\/(zones\/[^/]+\/waiting_rooms)(?:\/[0-9a-f]{32})?\/?$/;
/** The most rooms on one page of a list. */
const PAGE_MAX = 1_000;
/** How long an object may take, in milliseconds. */
const ANSWER_MS = 8_000;
const STAYS =
  "Deleted, but the rooms that are left could not be read, or an object of the room did not " +
  "answer: its transparency log, or its history, journal and state, may still be stored.";

/** Whether this request deletes rooms, if it may. */
export const deletesRooms = (method, pathname) => method === "DELETE" && ROOMS.test(pathname);

/**
 * Deletes what is left of rooms that were deleted just now: `verdict` is the answer to that, and
 * `ask(path)` makes a call of the API with the credentials of the request. Returns the answer,
 * which says if something could not be deleted.
 */
export async function withoutRest(url, verdict, ask, env) {
  if (verdict.status !== 200) return verdict;
  const [, rooms] = ROOMS.exec(new URL(url).pathname);
  const answer = JSON.parse(verdict.body);
  // The answer may be that to an earlier call with the same key, and rooms be there again.
  const path = `/_waiting-room/client/v4/${rooms}?per_page=${PAGE_MAX}`;
  const present = await idsAt(new URL(path, url).href, ask);
  const gone = [answer.result].flat().filter(({ id }) => !present?.has(id));
  const deleted = ({ id }) => [deleteLog(id, env), drop(id, env)];
  const are = present && (await Promise.all(gone.flatMap(deleted)));
  if (are?.every(Boolean)) return verdict;
  answer.messages = [{ code: 1001, message: STAYS }];
  return { ...verdict, body: JSON.stringify(answer) };
}

/** The ids of all rooms of a zone; nothing if they are not known. */
async function idsAt(path, ask) {
  try {
    const ids = new Set();
    for (let page = 1; ; page += 1) {
      const before = ids.size;
      const { result, result_info: info } = JSON.parse((await ask(`${path}&page=${page}`)).body);
      for (const { id } of result) ids.add(id);
      if (ids.size >= info.total_count) return ids;
      if (ids.size === before) throw new Error("the list changed meanwhile");
    }
  } catch (error) {
    console.error(`the rooms that are left cannot be read: ${error}`);
  }
}

/** Deletes what the object of a room keeps. Returns whether it is gone. */
async function drop(room, env) {
  const isGone = await within(ANSWER_MS, globalOf(env, room).drop());
  if (!isGone) console.error("what the object of a deleted room keeps stays: no answer");
  return isGone;
}
