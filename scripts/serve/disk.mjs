// Watches how much room the disk of a served folder has, and says in one sentence when it runs out
// and when there is room again.
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const MB = 1_000_000;
/** Below so much nothing can be relied on to be stored: SQLite grows its files by less. */
const FULL_BYTES = 8 * MB;
/** Below so much an owner should make room: a busy day of many rooms stores less. */
const LOW_BYTES = 500 * MB;
/** Room is said to be there again beyond so many times the bound, so that nothing is said twice. */
const AGAIN = 2;
const EVERY_MS = 5_000;

/**
 * What a disk is now, and what is said of it if that has changed.
 *
 * @param {"ample" | "low" | "full"} before
 * @param {number} freeBytes what this user may still store
 * @param {string} folder
 * @returns {{ state: "ample" | "low" | "full", sentence?: string }}
 */
export function diskNews(before, freeBytes, folder) {
  const isBelow = (bytes, held) => freeBytes < bytes * (held ? AGAIN : 1);
  if (isBelow(FULL_BYTES, before === "full")) {
    const sentence =
      `The disk of ${folder} is full: nothing can be stored, so nobody enters. Visitors inside ` +
      "go on. Make room on it, and the line goes on by itself.";
    return before === "full" ? { state: "full" } : { state: "full", sentence };
  }
  const left = `${Math.floor(freeBytes / MB)} MB`;
  if (isBelow(LOW_BYTES, before !== "ample")) {
    const now = before === "full" ? "has room again" : "is nearly full";
    const sentence = `The disk of ${folder} ${now}: ${left} are left. On a full one nobody enters.`;
    return before === "low" ? { state: "low" } : { state: "low", sentence };
  }
  if (before === "ample") return { state: "ample" };
  return { state: "ample", sentence: `The disk of ${folder} has room again: ${left} are left.` };
}

/**
 * Says what becomes of the disk of a folder, as long as this process lives. A disk that does not
 * answer holds up nothing, and one that cannot be asked is as it was.
 */
export async function watchDisk(folder) {
  let state = "ample";
  for (;;) {
    const { bavail, bsize } = await fs.promises.statfs(folder).catch(() => ({}));
    if (bavail !== undefined) {
      const news = diskNews(state, bavail * bsize, folder);
      state = news.state;
      if (news.sentence) console.error(news.sentence);
    }
    await sleep(EVERY_MS, undefined, { ref: false });
  }
}
