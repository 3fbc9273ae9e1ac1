// Copies the folder of a served site, and puts such a copy back. Data is copied by SQLite's own
// backup, which waits for nobody: the site is served meanwhile.
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync, backup } from "node:sqlite";

import { stop } from "../stop.mjs";
import { mustRest } from "./claim.mjs";
import { DATA } from "./configuration.mjs";

const FILES = ["settings.json", "secrets.json", "rooms.json"];
const DATABASE = ".sqlite";
const [OWNER_ALONE, FOLDER_OF_OWNER] = [0o600, 0o700];

/** Copies settings, secrets, rooms and data into a new folder. */
export async function backUp(kept, to) {
  const target = path.resolve(to);
  if (fs.existsSync(target)) stop(`${target} is there already: name a new folder`);
  if (!fs.existsSync(kept.file("settings.json"))) stop(`nothing is kept in ${kept.folder}`);
  // A copy that was interrupted has another name, and nobody takes it for a whole one.
  const unfinished = `${target}.unfinished`;
  fs.rmSync(unfinished, { recursive: true, force: true });
  fs.mkdirSync(unfinished, { recursive: true, mode: FOLDER_OF_OWNER });
  for (const name of FILES.filter((one) => fs.existsSync(kept.file(one)))) {
    fs.copyFileSync(kept.file(name), path.join(unfinished, name));
  }
  const { cluster } = kept.settings;
  const databases = cluster ? [] : databasesIn(kept.file(DATA));
  for (const name of databases) {
    await copyDatabase(path.join(kept.file(DATA), name), path.join(unfinished, DATA, name));
  }
  fs.renameSync(unfinished, target);
  const objects = cluster
    ? `; the objects are in ${cluster.bucket}, of which your store makes copies`
    : ` and ${databases.length} objects`;
  console.log(`  ${target}: settings, secrets, rooms${objects}`);
}

/** Puts a copy back. What the folder holds is kept beside it. */
export function restore(kept, from) {
  const source = path.resolve(from);
  if (!fs.existsSync(path.join(source, "settings.json"))) stop(`${source} is no backup`);
  mustRest(kept);
  if (fs.existsSync(kept.folder)) {
    const aside = `${kept.folder}.before-${new Date().toISOString().replaceAll(":", "-")}`;
    fs.renameSync(kept.folder, aside);
    console.log(`  What was in ${kept.folder} is in ${aside}.`);
  }
  fs.cpSync(source, kept.folder, { recursive: true });
  console.log(`  ${kept.folder} is as it was in ${source}: npm run serve`);
}

function databasesIn(folder) {
  if (!fs.existsSync(folder)) return [];
  return fs.readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(DATABASE));
}

async function copyDatabase(from, to) {
  fs.mkdirSync(path.dirname(to), { recursive: true, mode: FOLDER_OF_OWNER });
  const database = new DatabaseSync(from, { readOnly: true });
  try {
    await backup(database, to);
  } finally {
    database.close();
  }
  fs.chmodSync(to, OWNER_ALONE);
}
