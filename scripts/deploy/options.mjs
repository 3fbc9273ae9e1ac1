// The flags of `npm run deploy` and `npm run rotate-keys`: what each takes and means, and the
// numbers among them read.
import { stop } from "../stop.mjs";
import { FOLDER, HELP, readFlags, wholeNumber } from "../usage.mjs";

/** Each flag of `npm run deploy`: name, default or `undefined`, what it takes, what it means. */
export const DEPLOY_FLAGS = [
  ["host", undefined, "host", "The site that gets a room, such as shop.example."],
  ["total-active-users", undefined, "number", "How many visitors may be inside."],
  ["new-users-per-minute", undefined, "number", "How many may enter in any 60 seconds."],
  [
    "admin-host",
    undefined,
    "host",
    "Where health and API are served. Default: room-admin. and the zone's name.",
  ],
  ["account", undefined, "id or name", "Which account, where the host's zone is in several."],
  ["name", undefined, "name", "The Worker's name. Default: the one in wrangler.toml."],
  [
    "location-hint",
    undefined,
    "region",
    "Where the rooms' central objects live (weur, enam, ...); fixed by the first visitor.",
  ],
  [
    "jurisdiction",
    undefined,
    "eu|us|...",
    "What no object leaves. Another one later begins all rooms anew.",
  ],
  [
    "take-over",
    false,
    "",
    "Deploy although a Worker of this name exists that was not deployed from this folder.",
  ],
  ["no-build", false, "", "Deploy what `npm run build` has built last, without Rust."],
  ["untried", false, "", "Deploy without a trial of rooms and variables, where none can run."],
  ["even-in-draw", false, "", "Deploy also while a draw is on, or may be."],
  ["undo", false, "", "Take everything down: routes, admin host, Worker, its rooms and history."],
  ["forget-secrets", false, "", "With --undo: remove the folder too, with the only copy of keys."],
  ["yes", false, "", "Ask nothing: for scripts."],
  FOLDER,
  [
    "patience",
    "300",
    "seconds",
    "How long the live check waits: a new host takes some minutes to get its certificate.",
  ],
  ["live-address", undefined, "url", "Where the live check connects instead of the hosts."],
  HELP,
];

/** The same of `npm run rotate-keys`. */
export const ROTATE_FLAGS = [
  [
    "wait-minutes",
    "10",
    "minutes",
    "Between the two steps: until the new key is known everywhere.",
  ],
  [
    "drop-old",
    false,
    "",
    "Remove all keys but the newest, 31 minutes after the last step at the earliest.",
  ],
  ["even-if-used", false, "", "With --drop-old: also if draws or invitations hang on an old key."],
  ["live-address", undefined, "url", "Where to ask for them instead of the admin host."],
  FOLDER,
  HELP,
];

export function deployOptions(parameters) {
  const { values: options } = readFlags("deploy", DEPLOY_FLAGS, parameters);
  for (const name of ["total-active-users", "new-users-per-minute"]) {
    if (options[name] !== undefined) options[name] = wholeNumber(options[name], `--${name}`);
  }
  options.patience = wholeNumber(options.patience, "--patience");
  return options;
}

export function rotateOptions(parameters) {
  const { values: options } = readFlags("rotate-keys", ROTATE_FLAGS, parameters);
  options["wait-minutes"] = Number(options["wait-minutes"]);
  if (!(options["wait-minutes"] >= 0)) stop("--wait-minutes must be a number of minutes");
  return options;
}
