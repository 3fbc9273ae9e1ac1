// The flags of `npm run bench` and `npm run profile`: what each takes and means, and what they
// choose. The commands read them before they build.
import { stop } from "../scripts/stop.mjs";
import { HELP, oneOf, readFlags, wholeNumber } from "../scripts/usage.mjs";
import { GATED, VARIANTS } from "./variants.mjs";

const PAGE = { page: "docs/performance.md" };
/** Each flag: name, default or `undefined`, what it takes, what it means. */
const BENCH_FLAGS = [
  ["gate", false, "", "Measure what CI guards, and fail if a gate breaks."],
  ["bill", false, "", "Tell the costs alone."],
  ["only", undefined, "names", `Of which visits: ${VARIANTS.map(({ name }) => name).join(",")}.`],
  ["seconds", undefined, "number", "How long each is measured. Default: 100; 60 with --gate."],
  ["first", false, "", "Tell the first requests of processes alone."],
  ["processes", "5", "number", "With --first: how many of each kind."],
  ["serve", undefined, "number", "With --first: with so many rooms."],
  ["against", undefined, "folder", "With --first or --loop: beside another checkout, built too."],
  ["loop", false, "", "Set visits in a loop inside of workerd beside those of --against."],
  ["scale", false, "", "Tell what grows with rooms, rules and event streams alone."],
  ["owner", false, "", "Tell how long an owner of many rooms waits for each screen."],
  ["own", false, "", "Measure `npm run serve` beside plain proxies."],
  ["waiting", "100000", "number", "With --own: so many visitors in line, for the memory."],
  HELP,
];
/** The same of `npm run profile`. */
const PROFILE_FLAGS = [
  ["visit", "admitted", "name", "One of the benchmark's kinds of visits."],
  ["visits", "5000", "number", "How many there are."],
  HELP,
];

/** The flags of the benchmark, and the `variants` that they choose. */
export function benchOptions(parameters) {
  const { values } = readFlags("bench", BENCH_FLAGS, parameters, PAGE);
  if (values.loop && !values.against) stop("--loop needs --against <folder of another checkout>");
  const all = values.gate ? GATED : VARIANTS;
  const chosen = values.only?.split(",").map((name) => variantOf(name, all, "--only"));
  return { ...values, variants: chosen ?? all };
}

/** How many visits of which `variant` are looked at. */
export function profileOptions(parameters) {
  const { visit, visits } = readFlags("profile", PROFILE_FLAGS, parameters, PAGE).values;
  return { variant: variantOf(visit, VARIANTS, "--visit"), count: wholeNumber(visits, "--visits") };
}

function variantOf(name, all, flag) {
  const names = all.map((one) => one.name);
  return all[names.indexOf(oneOf(name, names, flag))];
}
