// The folder that a deployment is kept in: what its owner answered, its rooms, its secrets, and
// what was done so far. Every file is readable by its owner alone, and no git ever takes one.
import fs from "node:fs";
import path from "node:path";

import { fileProblem } from "../file-problem.mjs";
import { stop } from "../stop.mjs";

const OWNER_ALONE = 0o600;
export const FOLDER_OF_OWNER = 0o700;

export class Kept {
  constructor(folder) {
    this.folder = path.resolve(folder);
    /** What the owner answered: host, account and zone, and so on. */
    this.settings = this.#read("settings.json") ?? {};
    /** The secrets of the Worker by name. */
    this.secrets = this.#read("secrets.json") ?? {};
    /** What was done: `began`, `deployed`, `rotation`. */
    this.state = this.#read("state.json") ?? {};
  }

  /** The path of a file in the folder. */
  file(name) {
    return path.join(this.folder, name);
  }

  /** Reads the rooms that this command has made; `undefined` if it has made none. */
  rooms() {
    return this.#read("rooms.json");
  }

  saveSettings() {
    this.write("settings.json", this.settings);
  }

  saveSecrets() {
    this.write("secrets.json", this.secrets);
  }

  saveState() {
    this.write("state.json", this.state);
  }

  /** Makes the folder, for its owner alone; one that is there is shut to all others. */
  shut() {
    fs.mkdirSync(this.folder, { recursive: true, mode: FOLDER_OF_OWNER });
    try {
      fs.chmodSync(this.folder, FOLDER_OF_OWNER);
    } catch (error) {
      if (error.code !== "EPERM") throw error;
      // It is another user's.
      console.log(`  Beware: others may read ${this.folder}: its owner should chmod 700 it.`);
    }
  }

  /** Writes a file whole or not at all: a crash leaves the old one. */
  write(name, value) {
    fs.mkdirSync(this.folder, { recursive: true, mode: FOLDER_OF_OWNER });
    const ignored = this.file(".gitignore");
    if (!fs.existsSync(ignored)) fs.writeFileSync(ignored, "*\n");
    const written = this.file(`${name}.new`);
    fs.rmSync(written, { force: true });
    fs.writeFileSync(written, `${JSON.stringify(value, null, 2)}\n`, { mode: OWNER_ALONE });
    fs.renameSync(written, this.file(name));
  }

  /** Forgets the site and its rooms; the secrets stay. */
  forgetSite() {
    this.settings = {};
    fs.rmSync(this.file("rooms.json"), { force: true });
  }

  /** Removes the folder with all that is in it. */
  forget() {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  #read(name) {
    const file = this.file(name);
    try {
      return JSON.parse(fs.readFileSync(file, "utf8"));
    } catch (error) {
      if (error.code === "ENOENT") return undefined;
      const problem = fileProblem(error);
      if (problem) stop(problem);
      stop(`${file} cannot be read (${error.message}): mend it, or bring it back from a copy`);
    }
  }
}

/**
 * What the folder of `npm run deploy` or `npm run serve` knows of this admin host; `undefined` if
 * it is of another one. `isOwn` says that it is served on its owner's machine.
 */
export function deploymentIn(folder, host) {
  const read = (name) => readable(path.join(folder, name));
  const { adminHost, adminHosts, cluster: kept } = read("settings.json") ?? {};
  const isOwn = adminHosts?.split(",").some((one) => one.trim() === host) ?? false;
  if (adminHost !== host && !isOwn) return undefined;
  const configuration = read("wrangler.json");
  const running = (read("running.json")?.workerds ?? []).filter(isRunning).length;
  const cluster = kept && { bucket: kept.bucket, wanted: kept.instances, running };
  return { folder, configuration, isOwn, cluster, token: read("secrets.json")?.API_TOKEN };
}

/** The admin host of what `npm run deploy` keeps in this folder; `undefined` without any. */
export function adminHostIn(folder) {
  return readable(path.join(folder, "settings.json"))?.adminHost;
}

/** What a file of JSON says; `undefined` if it cannot be read. */
function readable(file) {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch ({ code }) {
    // It is there, and another user's.
    return code === "EPERM";
  }
}
