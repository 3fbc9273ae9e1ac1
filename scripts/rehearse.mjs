// `npm run rehearse`: plays an owner's event with the production engine in a simulated world, and
// writes a report of how long people will wait and what it costs. See docs/rehearsal.md.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { LiveLine } from "./live-line.mjs";
import { ROOT } from "./modules.mjs";
import { besideText, count, pastText } from "./rehearse/answer.mjs";
import { apiOf } from "./rehearse/api.mjs";
import { PlanError, played } from "./rehearse/lanes.mjs";
import { leftText } from "./rehearse/live-room.mjs";
import { ENDED_BY_OWNER, VISITORS_MAX, playLive } from "./rehearse/live.mjs";
import { planIn, planOf, rehearseOptions } from "./rehearse/options.mjs";
import { reportOf } from "./rehearse/page.mjs";
import { expectedBy, isBuilt, play } from "./rehearse/player.mjs";
import { planOfRunning } from "./rehearse/running-room.mjs";
import { searched } from "./rehearse/search.mjs";
import { endingOf } from "./rehearse/signals.mjs";
import { changedTexts, variantsOf, withFirst } from "./rehearse/variants.mjs";
import { stop } from "./stop.mjs";

/** The empty report, which the build makes. */
const REPORT = path.join(ROOT, "build", "rehearsal", "report.html");

const line = new LiveLine();
const callerFolder = process.env.INIT_CWD ?? process.cwd();
const { options, file } = rehearseOptions(process.argv.slice(2));
const threads = options.threads ?? os.availableParallelism();
const fromFile = file === undefined ? {} : planIn(named(file));
if (options.arrivals) options.arrivals = named(options.arrivals);
const { past, ...fromRoom } = options.room ? await planOfRunning(options).catch(refuse) : {};
const { plan: wanted, limits } = planOf(options, { ...fromFile, ...fromRoom });
const plan = withFirst(wanted, limits);
if (options.arrivals) tellArrivals();
process.chdir(ROOT);
await build();

const began = Date.now();
const [plays, found] = await rehearsed();
const tookS = (Date.now() - began) / 1_000;
line.end();
tell();
if (options.live) await rehearseLive();

/** Says what was read: a file of another form is noticed by it. */
function tellArrivals() {
  const { per_minute: minutes } = plan.arrivals;
  const visitors = minutes.reduce((sum, one) => sum + one, 0);
  const numbers = `${count(minutes.length)}. Visitors in them: ${count(visitors)}`;
  console.log(`Minutes in ${options.arrivals}: ${numbers}.`);
}

async function rehearsed() {
  try {
    const { visitors, played: few } = await expectedBy(plan);
    const variants = variantsOf(wanted, limits, few);
    for (const text of changedTexts(wanted, limits)) console.log(text);
    const times = variants.length > 1 ? ` with ${variants.length} limits` : "";
    const part = few < visitors ? `, one of ${count(visitors / few)}` : "";
    console.log(`Rehearsing ${count(visitors)} visitors${part}${times} ...`);
    const outcomes = await play(variants, { threads, onProgress: showPart });
    const plays = variants.map((one, at) => played(one, outcomes[at]));
    return [plays, options.find ? await search() : undefined];
  } catch (error) {
    line.end();
    if (!(error instanceof PlanError)) throw error;
    stop(`this plan cannot be rehearsed:\n    ${error.message.replaceAll("\n", "\n    ")}`);
  }
}

function search() {
  const ask = (plans) => play(plans, { threads });
  const showTried = (tried) => line.show(`searching: ${tried} limits tried`);
  return searched(plan, options.find, ask, showTried);
}

function showPart(part) {
  const done = Math.floor(part * 30);
  line.show(`[${"#".repeat(done)}${".".repeat(30 - done)}] ${Math.floor(part * 100)} %`);
}

/** The same visitors once more, in real time, at the Worker that runs. */
async function rehearseLive() {
  const { outcome } = plays[0];
  if (outcome.visitors.arrived > VISITORS_MAX) {
    stop(`--live takes at most ${count(VISITORS_MAX)} visitors: give fewer, and smaller limits`);
  }
  const perMinute = outcome.minutes.map(({ arrived }) => arrived);
  console.log(`\nNow at ${options.live}, in real time. Ctrl-C ends it and removes its room.`);
  const measured = await playLive({
    plan,
    perMinute: perMinute.slice(0, perMinute.findLastIndex((number) => number > 0) + 1),
    opensAtS: outcome.opens_at_s,
    site: options.live,
    api: apiOf(options.url),
    signal: endingOf(process),
    onProgress: showNumbers,
  }).catch(refuse);
  line.end();
  console.log(`\n${besideText(outcome, measured)}`);
  if (options.json) writeFigures({ live: measured });
  tellEnd(measured);
}

/** Says why it ended early, and which room is left; with status 1 unless its owner ended it. */
function tellEnd({ ended_early: why, left_room: left }) {
  if (why) console.log(`\nIt was ended early: ${why}. The live figures are those until then.`);
  if (left) stop(leftText(left));
  if (why && why !== ENDED_BY_OWNER) process.exit(1);
}

function showNumbers(numbers) {
  line.show(
    Object.entries(numbers)
      .map(([name, value]) => `${name} ${value}`)
      .join(" · "),
  );
}

/** Ends the command with what cannot be done. */
function refuse(error) {
  line.end();
  stop(error.message);
}

function tell() {
  for (const { answer } of plays) console.log(`\n${answer.join("\n")}`);
  if (found) console.log(`\n${found.says}`);
  if (past) console.log(`\n${pastText(past)}`);
  const rehearsal = rehearsalNow();
  const { usd, planUsd, isIncluded } = plays[0].bill;
  const price = isIncluded ? "nothing" : `${usd.toFixed(2)} USD`;
  console.log(`\nAt Cloudflare it costs ${price} beyond the ${planUsd} USD a month of the plan.`);
  write(options.html, reportOf(fs.readFileSync(REPORT, "utf8"), rehearsal), "The report");
  if (options.json) writeFigures();
  console.log(`It took ${Math.round(tookS)} s.`);
}

function rehearsalNow() {
  return { plan, plays, found: found?.play && found, past, tookS };
}

function writeFigures(more = {}) {
  const figures = { ...rehearsalNow(), ...more };
  write(options.json, `${JSON.stringify(figures, null, 2)}\n`, "The figures");
}

function write(name, text, what) {
  const target = named(name);
  try {
    fs.writeFileSync(target, text);
  } catch (error) {
    stop(`${target} cannot be written: ${error.code ?? error.message}`);
  }
  console.log(`${what}: ${target}`);
}

/** A file as whoever calls names it, from where it was called. */
function named(name) {
  return path.resolve(callerFolder, name);
}

/** Builds in a clone; a release folder brings what is built. */
async function build() {
  if (!fs.existsSync("Cargo.toml") || options["no-build"]) {
    if (!isBuilt()) stop("the simulator is not built: leave --no-build away");
    return;
  }
  const { bringRust } = await import("./rust.mjs");
  const { buildRehearsal } = await import("./rehearsal.mjs");
  bringRust();
  await buildRehearsal();
}
