// Copies the folder of a served site, and puts such a copy back. Data is copied by SQLite's own
// backup, which waits for nobody: the site is served meanwhile.
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync, backup } from "node:sqlite";

import { FOLDER_OF_OWNER, Kept } from "../deploy/kept.mjs";
import { stop } from "../stop.mjs";
import { mustRest } from "./claim.mjs";
import { CREDENTIALS } from "./cluster.mjs";
import { DATA } from "./configuration.mjs";

const FILES = ["settings.json", "secrets.json", "rooms.json"];
const DATABASE = ".sqlite";
const OWNER_ALONE = 0o600;

/** Copies settings, secrets, rooms and data into a new folder. */
export async function backUp(kept, to) {
  const target = path.resolve(to);
  if (fs.existsSync(target)) stop(`${target} is there already: name a new folder`);
  if (!fs.existsSync(kept.file("settings.json"))) stop(`nothing is kept in ${kept.folder}`);
  const { cluster } = kept.settings;
  const databases = cluster ? [] : databasesIn(kept.file(DATA));
  await whole(target, async (unfinished) => {
    for (const name of FILES.filter((one) => fs.existsSync(kept.file(one)))) {
      fs.copyFileSync(kept.file(name), path.join(unfinished, name));
    }
    for (const name of databases) {
      await copyDatabase(path.join(kept.file(DATA), name), path.join(unfinished, DATA, name));
    }
  });
  const objects = cluster
    ? `; the objects are in ${cluster.bucket}, of which your store makes copies`
    : ` and ${databases.length} objects`;
  console.log(`  ${target}: settings, secrets, rooms${objects}`);
}

/** Puts a copy back. What the folder holds is kept beside it. */
export async function restore(kept, from) {
  const source = path.resolve(from);
  if (!fs.existsSync(path.join(source, "settings.json"))) stop(`${source} is no backup`);
  mustRest(kept);
  const { cluster } = new Kept(source).settings;
  const isSame = cluster !== undefined && cluster.bucket === kept.settings.cluster?.bucket;
  const keys = isSame && fs.existsSync(kept.file(CREDENTIALS));
  await whole(kept.folder, (unfinished) => {
    fs.cpSync(source, unfinished, { recursive: true });
    if (keys) copyKeys(kept.file(CREDENTIALS), path.join(unfinished, CREDENTIALS));
    if (!fs.existsSync(kept.folder)) return;
    const aside = `${kept.folder}.before-${new Date().toISOString().replaceAll(":", "-")}`;
    fs.renameSync(kept.folder, aside);
    console.log(`  What was in ${kept.folder} is in ${aside}.`);
  });
  if (keys) console.log(`  The keys of the bucket stay: ${kept.file(CREDENTIALS)}.`);
  console.log(`  ${kept.folder} is as it was in ${source}: npm run serve`);
}

/**
 * Makes a folder for its owner alone, whole or not at all. Until it is whole it has another name,
 * so that nobody takes it for a copy that was not interrupted.
 *
 * @param {string} target
 * @param {(unfinished: string) => Promise<void> | void} fill fills the folder that it is given
 */
async function whole(target, fill) {
  const unfinished = `${target}.unfinished`;
  fs.rmSync(unfinished, { recursive: true, force: true });
  try {
    fs.mkdirSync(unfinished, { recursive: true, mode: FOLDER_OF_OWNER });
    await fill(unfinished);
    fs.chmodSync(unfinished, FOLDER_OF_OWNER);
    fs.renameSync(unfinished, target);
  } catch (error) {
    fs.rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
}

/** No copy has the keys of the bucket: those of the folder stay, as readable as they were. */
function copyKeys(from, to) {
  fs.copyFileSync(from, to);
  fs.chmodSync(to, fs.statSync(from).mode);
}

function databasesIn(folder) {
  if (!fs.existsSync(folder)) return [];
  return fs.readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(DATABASE));
}

async function copyDatabase(from, to) {
  fs.mkdirSync(path.dirname(to), { recursive: true, mode: FOLDER_OF_OWNER });
  let database;
  try {
    database = new DatabaseSync(from, { readOnly: true });
    await backup(database, to);
  } catch (error) {
    // SQLite does not say of which file it speaks.
    throw Object.assign(error, { path: from, dest: to });
  } finally {
    database?.close();
  }
  fs.chmodSync(to, OWNER_ALONE);
}
