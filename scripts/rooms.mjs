// Writes a running Worker's rooms into a file (`npm run rooms:export`), or makes the rooms of a
// file so (`npm run rooms:import`); the file is named after `--`. The registry of the Worker
// checks the rooms. Needs nothing but Node.
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

import { checkNode } from "./node-version.mjs";
import { PORT } from "./port.mjs";
import { tokenFor } from "./token.mjs";

const USAGE = `usage: npm run rooms:import -- [file] [--url <address>] [--folder <path>]
       npm run rooms:export -- [file] [--url <address>] [--folder <path>]
The file is rooms.json unless named. The address is that of the Worker on an admin host, default
http://localhost:${PORT}. The token is the variable API_TOKEN, else that of a deployment in the
folder production (--folder <path> for another), else, on this machine, that of .dev.vars.`;
/** How long to wait for an answer, in milliseconds: longer than the Worker lets a call take. */
const ANSWER_WITHIN_MS = 30_000;

checkNode();
const { direction, file, url, folder } = parameters();
if (direction === "import") await importRooms();
else await exportRooms();

function parameters() {
  try {
    const options = {
      url: { type: "string", default: `http://localhost:${PORT}` },
      folder: { type: "string", default: "production" },
    };
    const { positionals, values } = parseArgs({ options, allowPositionals: true });
    const [direction, file = "rooms.json", ...more] = positionals;
    if (!["import", "export"].includes(direction) || more.length > 0) throw new Error("unknown");
    const url = new URL("/_waiting-room/client/v4/waiting_rooms/file", values.url);
    return { direction, file, url, folder: path.resolve(values.folder) };
  } catch {
    stop(USAGE);
  }
}

async function importRooms() {
  const { rooms, changed } = await call("PUT", read());
  console.log(`${rooms} rooms of ${file} are in force; ${changed} of them changed`);
}

async function exportRooms() {
  const rooms = await call("GET");
  fs.writeFileSync(file, `${JSON.stringify(rooms, null, 2)}\n`);
  console.log(`${rooms.length} rooms written to ${file}`);
}

function read() {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    stop(`${file} cannot be read: name another file, or write this one with rooms:export`);
  }
}

/** Calls the API and returns the result; ends the process with every reason if it fails. */
async function call(method, body) {
  const token = tokenFor(url.hostname, folder);
  if (!token) stop("no token: set the variable API_TOKEN to the secret of the same name");
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  const answer = await fetch(url, { method, headers, body, signal }).catch((error) =>
    stop(`nothing answers at ${url.origin}: ${error.cause?.message ?? error.message}`),
  );
  const envelope = await answer.json().catch(() => stop(notOurs(answer.status)));
  if (envelope.success) return envelope.result;
  const lines = envelope.errors.map(({ message, source }) =>
    source?.pointer ? `  ${source.pointer}: ${message}` : `  ${message}`,
  );
  // After an answer of 500 or above something may have changed: its message says what.
  const outcome = answer.status < 500 ? "refused" : "failed";
  const changes = answer.status < 500 ? ", nothing was changed" : "";
  stop(`${outcome} (${answer.status})${changes}:\n${lines.join("\n")}`);
}

function notOurs(status) {
  return (
    `${url.origin} answered ${status} without JSON: is this the Worker, and is its host one of ` +
    "ADMIN_HOSTS?"
  );
}

function stop(reason) {
  console.error(reason);
  process.exit(1);
}
