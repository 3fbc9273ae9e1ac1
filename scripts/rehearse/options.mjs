// The flags of `npm run rehearse`, and the plan that they and a file make.
import fs from "node:fs";
import path from "node:path";

import { stop } from "../stop.mjs";
import { HELP, oneOf, readFlags, wholeNumber } from "../usage.mjs";
import { minutesIn } from "./arrivals.mjs";
import { PRESETS } from "./presets.mjs";

const PRESET_NAMES = Object.keys(PRESETS).map((name) => name.replaceAll("_", "-"));
const ALL_PRESETS = PRESET_NAMES.join(", ");

const EXAMPLE = "a plan to begin with is examples/rehearsal/ticket-drop.json";

/** Each flag: name, default or `undefined`, what it takes, what it means. */
export const REHEARSE_FLAGS = [
  ["visitors", undefined, "number", "How many people come."],
  ["preset", undefined, "name", `When they come: ${ALL_PRESETS}.`],
  [
    "arrivals",
    undefined,
    "file",
    "Instead: a CSV whose last column says how many come each minute.",
  ],
  ["limit", undefined, "numbers", "How many may be inside; several, with commas, to compare them."],
  ["per-minute", undefined, "numbers", "How many may enter in any 60 seconds; several to compare."],
  ["stock", undefined, "number", "How many may enter before it is sold out."],
  ["session-minutes", undefined, "number", "How long somebody counts after the last page."],
  ["minutes-on-site", undefined, "number", "How long a visit takes about, a checkout for example."],
  ["begins-at", undefined, "time", "The time of day of the first arrivals, such as 11:30."],
  ["prequeue-minutes", undefined, "number", "How long before the start people may come."],
  ["bots-percent", undefined, "number", "How many of 100 visitors are programs."],
  ["data-centers", undefined, "number", "In how many data centers they arrive. Default: 3."],
  ["room", undefined, "name", "Rehearse this room of a running Worker (with --url)."],
  ["event", undefined, "name", "And this event of it: its limits, its prequeue, its shuffle."],
  ["url", "http://localhost:8787", "address", "Where that Worker's API is."],
  ["from-history", false, "", "Arrivals, visits and giving up as that room has recorded them."],
  [
    "from",
    undefined,
    "moment",
    "Recorded from when on, such as 2026-11-27T09:00:00Z. Default: a day ago.",
  ],
  ["until", undefined, "moment", "Recorded until when. Default: now."],
  ["find", undefined, "minutes", "Search the limits with which 95 of 100 enter within so long."],
  [
    "live",
    undefined,
    "address",
    "Besides, in real time against a running Worker: an address of the host that it covers.",
  ],
  ["html", "rehearsal.html", "file", "Where the report goes."],
  ["json", undefined, "file", "Where the figures go."],
  [
    "one-in",
    undefined,
    "number",
    "One of how many visitors is played; 1 plays everybody. Default: as many as take seconds.",
  ],
  ["seed", undefined, "number", "Another seed is another day of the same kind. Default: 1."],
  ["threads", undefined, "number", "How many processors it may use. Default: all."],
  ["no-build", false, "", "Use the simulator that was built last, without Rust."],
  HELP,
];

/** Flags that mean nothing without others, which each of them needs. */
const NEEDS = {
  event: ["room"],
  "from-history": ["room"],
  from: ["room", "from-history"],
  until: ["room", "from-history"],
};

/** Reads the flags, and the file of a plan if one is named. */
export function rehearseOptions(parameters) {
  const read = readFlags("rehearse", REHEARSE_FLAGS, parameters, {
    page: "docs/rehearsal.md",
    takes: "[plan.json]",
  });
  const { values, positionals } = read;
  const problem = missingIn(values);
  if (problem) stop(problem);
  // Before anything is played for them.
  for (const flag of ["threads", "find"]) {
    if (values[flag] !== undefined) values[flag] = wholeNumber(values[flag], `--${flag}`);
  }
  return { options: values, file: positionals[0] };
}

/** Says which flag is given without those that it needs, if one is. */
export function missingIn(options) {
  const missing = (flag) => NEEDS[flag].filter((needed) => !options[needed]);
  const isGiven = (flag) => options[flag] !== undefined && options[flag] !== false;
  const flag = Object.keys(NEEDS).find((one) => isGiven(one) && missing(one).length > 0);
  if (!flag) return;
  const remedy = missing(flag).map((one) => (one === "room" ? "--room <name>" : `--${one}`));
  return `--${flag} needs ${remedy.join(" and ")} too: alone it would change nothing`;
}

/**
 * The plan of a file, changed by the flags. Errors of its fields are left to the simulator.
 *
 * @param {object} options
 * @param {object} [plan] what a file or a running room says
 */
export function planOf(options, plan = {}) {
  const made = { ...plan, room: { ...plan.room } };
  const put = (target, name, flag, read = (text) => number(text, flag)) => {
    if (options[flag] !== undefined) target[name] = read(options[flag]);
  };
  put(made, "visitors", "visitors");
  put(made, "stock", "stock");
  put(made, "begins_at", "begins-at", String);
  put(made, "prequeue_minutes", "prequeue-minutes");
  put(made, "bots_percent", "bots-percent");
  put(made, "data_centers", "data-centers");
  put(made, "one_in", "one-in");
  put(made, "seed", "seed");
  put(made, "arrivals", "preset", presetOf);
  put(made, "arrivals", "arrivals", (file) => ({ per_minute: minutesOf(file) }));
  put(made.room, "session_duration", "session-minutes");
  if (options["minutes-on-site"] !== undefined) {
    made.on_site = {
      ...made.on_site,
      minutes: number(options["minutes-on-site"], "minutes-on-site"),
    };
  }
  const [inside, perMinute] = ["limit", "per-minute"].map((flag) => numbers(options[flag], flag));
  if (inside.length > 0) [made.room.total_active_users] = inside;
  made.room.total_active_users ??= perMinute[0];
  made.room.new_users_per_minute = perMinute[0] ?? made.room.new_users_per_minute ?? inside[0];
  if (made.room.total_active_users === undefined) {
    stop("how many may be inside? Give --limit <number>, or a plan (docs/rehearsal.md).");
  }
  if (made.arrivals === undefined) {
    stop(`when do they come? Give --preset <name> (${ALL_PRESETS}), or --arrivals <file>.`);
  }
  return { plan: made, limits: { inside, perMinute } };
}

function presetOf(name) {
  const preset = oneOf(name.replaceAll("_", "-"), PRESET_NAMES, "--preset");
  return { preset: preset.replaceAll("-", "_") };
}

function numbers(text, flag) {
  if (text === undefined) return [];
  return text.split(",").map((one) => wholeNumber(one.trim(), `--${flag}`));
}

function number(text, flag) {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value))
    stop(`--${flag} must be a number, but is "${text}"`);
  return value;
}

/** How many come in each minute, as a CSV says. */
export function minutesOf(file) {
  const text = readText(file);
  try {
    return minutesIn(text);
  } catch ({ message }) {
    stop(`${file} cannot be used: ${message}`);
  }
}

/** The plan of a file. */
export function planIn(file) {
  if (!fs.existsSync(file)) stop(`there is no file ${path.resolve(file)}; ${EXAMPLE}`);
  try {
    return JSON.parse(readText(file));
  } catch (error) {
    stop(`${file} is not JSON: ${error.message}`);
  }
}

function readText(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch (error) {
    stop(`${file} cannot be read: ${error.code ?? error.message}`);
  }
}
