// Says in a sentence why a file or folder could not be read or written, and what to do.

const ELSEWHERE = "make room on it, or name a path on another disk";
const OTHER_USER = "this user may not use it";
const AS_USER = "run the command as a user who may read and write there";
/** What is wrong and what to do, by the code of the system. */
const PROBLEMS = {
  EACCES: [OTHER_USER, AS_USER],
  EPERM: [OTHER_USER, AS_USER],
  EROFS: ["its disk can only be read", "name a path on another disk"],
  ENOSPC: ["its disk is full", ELSEWHERE],
  EDQUOT: ["this user may store no more on its disk", ELSEWHERE],
  ENOTDIR: ["a part of this path is a file and no folder", "name another path"],
  EBUSY: ["it is in use, as the top folder of a disk is", "name a folder below it"],
  EIO: ["its disk failed", "look for the reason in the log of the system"],
};
/** The code of the system for the result codes of SQLite. */
const OF_SQLITE = { 3: "EACCES", 8: "EROFS", 10: "EIO", 13: "ENOSPC", 14: "EACCES" };
/** The codes that are about what is written, and not about what is read. */
const OF_TARGET = ["EROFS", "ENOSPC", "EDQUOT"];

/** Returns a sentence about an error of the file system or of SQLite; "" for any other error. */
export function fileProblem({ code, errcode, path, dest }) {
  // The lower byte of a result code of SQLite is the kind.
  const known = code === "ERR_SQLITE_ERROR" ? OF_SQLITE[errcode & 0xff] : code;
  if (!Object.hasOwn(PROBLEMS, known) || path === undefined) return "";
  const [wrong, remedy] = PROBLEMS[known];
  const both = dest === undefined ? path : `${path} (to ${dest})`;
  return `${OF_TARGET.includes(known) ? (dest ?? path) : both}: ${wrong} (${known}): ${remedy}`;
}
