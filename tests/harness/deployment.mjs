/**
 * The parts of a deployment besides the Worker's code, read from the checked-in files: its objects
 * and its compatibility date from wrangler.toml; and secrets of tests.
 */

import fs from "node:fs";
import path from "node:path";

import { ROOT } from "./worker-modules.mjs";

/**
 * The text of wrangler.toml. Node has no reader of TOML, and the few lines that are used need none.
 */
const wrangler = fs.readFileSync(path.join(ROOT, "wrangler.toml"), "utf8");

/** The compatibility date: which behaviour of workerd everything here runs with. */
export const COMPATIBILITY_DATE = /^compatibility_date = "(.+)"$/m.exec(wrangler)[1];

/** The classes of the Worker's objects by binding, as in { REGISTRY: "Registry", ... }. */
export const CLASSES = Object.fromEntries(
  [...wrangler.matchAll(/\{ name = "(\w+)", class_name = "(\w+)" \}/g)].map(
    ([, binding, className]) => [binding, className],
  ),
);

/** The classes of objects that belong to a room. */
export const ROOM_CLASSES = Object.values(CLASSES).filter((name) => name !== CLASSES.REGISTRY);

/** The secrets of tests. Those of local development would be refused on the hosts of tests. */
export const SECRETS = { API_TOKEN: "token-of-tests", TICKET_KEYS: "5a".repeat(32) };

/**
 * Makes Miniflare's option `durableObjects` for the Worker, or for one that uses the objects of the
 * Worker `scriptName`.
 */
export function durableObjects(scriptName) {
  const place = scriptName === undefined ? {} : { scriptName };
  return Object.fromEntries(
    Object.entries(CLASSES).map(([binding, className]) => [
      binding,
      { className, useSQLite: true, ...place },
    ]),
  );
}
