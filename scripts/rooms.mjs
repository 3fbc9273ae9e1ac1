// Writes what is configured in a running Worker into a file (`npm run rooms:export`), or makes all
// that a file has (`npm run rooms:import`); the file is named after `--`. The registry of the
// Worker checks it. Needs nothing but Node.
import fs from "node:fs";
import path from "node:path";

import { adminHostIn } from "./deploy/kept.mjs";
import { checkNode } from "./node-version.mjs";
import { PORT } from "./port.mjs";
import { accessHeaders, tokenFor } from "./token.mjs";
import { FOLDER, HELP, readFlags } from "./usage.mjs";
import { FileProblem, exported, imported, isPlain, newWebhooks, summary } from "./whole-file.mjs";

/** The file that a deployment begins with, a list of rooms. */
const SEED = "rooms.json";
const API = "/_waiting-room/client/v4/";
/** How long to wait for an answer, in milliseconds: longer than the Worker lets a call take. */
const ANSWER_WITHIN_MS = 30_000;

/** Which Worker is asked where `--url` is not given. */
const OTHERWISE = {
  import: `Default: http://localhost:${PORT}; a deployment is changed only if it is named.`,
  export: `Default: the deployment in --folder, if there is one; else http://localhost:${PORT}.`,
};
/** What each does with the file. */
const FILE = {
  import: `What to make: what an export wrote, or a list of rooms. Default: ${SEED}.`,
  export: `Where to write. Default: ${SEED}, which can hold rooms with events and rules alone.`,
};

checkNode();
const { direction, file, url, folder, hint } = parameters();
function parameters() {
  const [direction, ...rest] = process.argv.slice(2);
  if (!["import", "export"].includes(direction)) stop("npm run rooms:import, or rooms:export");
  const more = { takes: "[file]", words: [["[file]", FILE[direction]]], page: "docs/api.md" };
  const meaning = `The Worker on an admin host. ${OTHERWISE[direction]}`;
  const flags = [["url", undefined, "address", meaning], FOLDER, HELP];
  const { positionals, values } = readFlags(`rooms:${direction}`, flags, rest, more);
  const [file = SEED] = positionals;
  const folder = path.resolve(values.folder);
  const { address, hint } = whereTo(direction, values.url, adminHostIn(folder));
  if (!URL.canParse(address)) stop(`--url must be an address, but is "${address}"`);
  return { direction, file, url: new URL(API, address), folder, hint };
}

/** The address to ask, and what to tell of another one. Only who names a deployment changes it. */
function whereTo(direction, named, adminHost) {
  const deployed = adminHost && `https://${adminHost}`;
  if (named) return { address: named };
  if (direction === "export" && deployed) return { address: deployed };
  const hint = deployed && `; for your deployment add --url ${deployed}`;
  return { address: `http://localhost:${PORT}`, hint };
}

async function importFile() {
  const given = parsed(read());
  const onPart = (done, total) => {
    if (total > 1) console.log(`part ${done} of ${total} is in force`);
  };
  const result = await imported(call, given, onPart);
  console.log(`${summary(result)} of ${file} are in force; ${result.changed} of them changed`);
  for (const line of newWebhooks(result.new_webhooks, given.rooms ?? given)) console.log(line);
}

async function exportFile() {
  let parts = 0;
  const onPart = (known) => {
    parts += 1;
    if (parts > 1) console.log(`${summary(known)} read`);
  };
  const found = await exported(call, onPart);
  const isSeed = path.basename(file) === SEED;
  if (isSeed && !isPlain(found)) {
    stop(
      `${SEED} can hold rooms with events and rules alone, and there are lists, webhooks or ` +
        "settings of zones: name another file, as in npm run rooms:export -- everything.json",
    );
  }
  fs.writeFileSync(file, `${JSON.stringify(isSeed ? found.rooms : found, null, 2)}\n`);
  console.log(`${summary(found)} written to ${file}`);
  const hooks = found.rooms.some(({ webhooks }) => webhooks);
  if (hooks) console.log("No secret of a webhook is in it: keep addresses and keys elsewhere.");
}

function read() {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    stop(`${file} cannot be read: name another file, or write this one with rooms:export`);
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    stop(`${file} is not JSON: ${error.message}`);
  }
}

/** A call that the API has refused, with all its reasons: `[{ message, pointer }]`. */
class Refusal extends Error {
  constructor(status, errors) {
    const outcome = status < 500 ? "refused" : "failed";
    const lines = errors.map(({ message }) => `  ${message}`);
    super(`${outcome} (${status}):\n${lines.join("\n")}`);
    this.status = status;
    this.errors = errors;
  }
}

/** Calls the API and returns the result. */
async function call(method, name, body) {
  const token = tokenFor(url.hostname, folder);
  if (!token) stop("no token: set the variable API_TOKEN to the secret of the same name");
  const headers = {
    ...accessHeaders(url),
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
  };
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  const sent = { method, headers, body: body && JSON.stringify(body), signal };
  const answer = await fetch(new URL(name, url), sent).catch((error) =>
    stop(`nothing answers at ${url.origin}: ${error.cause?.message ?? error.message}`),
  );
  const envelope = await answer.json().catch(() => stop(notOurs(answer.status)));
  if (envelope.success) return envelope.result;
  const reasons = envelope.errors.map(({ message, source }) => ({
    message,
    pointer: source?.pointer,
  }));
  throw new Refusal(answer.status, reasons);
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

try {
  console.log(`asks ${url.origin}${hint ?? ""}`);
  await (direction === "import" ? importFile() : exportFile());
} catch (problem) {
  if (problem instanceof FileProblem || problem instanceof Refusal) stop(problem.message);
  throw problem;
}
