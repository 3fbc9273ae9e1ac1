// Simulated visitors for a running `npm start`: `npm run visitors -- 20 [minutes]`. Each keeps its
// own cookies, checks in when the page says so, opens pages for 30 s once inside, then leaves.
import { setTimeout as sleep } from "node:timers/promises";

import { CookieJar } from "../client/src/cookies.ts";
import { LiveLine } from "./live-line.mjs";
import { demoRoom } from "./local.mjs";
import { PORT } from "./port.mjs";
import { stop } from "./stop.mjs";
import { HELP, readFlags } from "./usage.mjs";

const COUNT_MAX = 500;
/** How long a visitor stays inside, and the time between two of its pages, in milliseconds. */
const STAY_MS = 30_000;
const PAGE_EVERY_MS = 10_000;
/** The time between two arrivals, in milliseconds. */
const ARRIVE_EVERY_MS = 300;
/** When to check in if the page does not say it, and the longest pause that a visitor accepts. */
const CHECK_IN_MS = 5_000;
const CHECK_IN_MAX_MS = 60_000;

const WORDS = [
  ["[how many]", `Visitors who come, 1 to ${COUNT_MAX}. Default: 20.`],
  ["[minutes]", "How long it goes on at most, also a part of one such as 0.5. Default: 15."],
];
const more = { takes: "[how many] [minutes]", words: WORDS, most: 2, page: "docs/operations.md" };
const { positionals } = readFlags("visitors", [HELP], process.argv.slice(2), more);
const [howMany = "20", inMinutes = "15"] = positionals;
const [count, minutes] = [howMany, inMinutes].map(Number);
if (!(Number.isInteger(count) && count > 0 && count <= COUNT_MAX)) {
  stop(`how many must be a whole number from 1 to ${COUNT_MAX}, but is "${howMany}"`);
}
if (!(minutes > 0)) stop(`minutes must be above 0, but is "${inMinutes}"`);

const began = Date.now();
const end = began + minutes * 60_000;
const address = `http://localhost:${PORT}${demoRoom()?.path ?? "/"}`;
const line = new LiveLine();
const numbers = { coming: count, waiting: 0, inside: 0, left: 0, "gave up": 0 };
const waits = [];

// This asks the health address, since a visit to the room would take a place in it.
await fetch(new URL("/_waiting-room/health", address)).catch(() => {
  stop(
    `nothing answers at ${address}: run \`npm start\` in another terminal first; ` +
      "if it runs at another port, PORT=8790 npm run visitors",
  );
});
console.log(`${count} visitors come to ${address}, for at most ${minutes} min`);
const ticking = setInterval(() => line.show(overview()), 1_000);
await Promise.all(Array.from({ length: count }, (_, at) => visit(at + 1)));
clearInterval(ticking);
line.show(overview());
line.end();
waits.sort((one, other) => one - other);
if (waits.length > 0) {
  const median = waits[Math.floor(waits.length / 2)];
  console.log(
    `${waits.length} entered; waited ${clock(median)} (median), ${clock(waits.at(-1))} at most`,
  );
}

async function visit(number) {
  await sleep(number * ARRIVE_EVERY_MS);
  const cookies = new CookieJar();
  const arrived = Date.now();
  let state = "coming";
  let leaveAt = Infinity;
  while (Date.now() < Math.min(end, leaveAt)) {
    const answer = await open(cookies);
    const next = answer.waits ? "waiting" : "inside";
    if (next !== state) {
      const waited = Date.now() - arrived;
      say(number, next === "inside" ? `enters after ${clock(waited)}` : "waits in line");
      if (next === "inside") {
        waits.push(waited);
        leaveAt = Date.now() + STAY_MS;
      }
      move(state, next);
      state = next;
    }
    await sleep(Math.min(answer.pauseMs, Math.max(0, Math.min(end, leaveAt) - Date.now())));
  }
  const last = state === "inside" ? "left" : "gave up";
  say(number, last === "left" ? "leaves" : "gives up, the time is over");
  move(state, last);
}

/** Opens the page once, as a browser does; tells whether it waits, and when to check in. */
async function open(cookies) {
  const cookie = cookies.header(address);
  const headers = { accept: "text/html", ...(cookie && { cookie }) };
  const response = await fetch(address, { headers, redirect: "manual" }).catch(() => undefined);
  if (!response) return { waits: true, pauseMs: CHECK_IN_MS };
  await response.arrayBuffer();
  cookies.keep(address, response.headers);
  const refresh = response.headers.get("refresh");
  if (refresh === null) return { waits: false, pauseMs: PAGE_EVERY_MS };
  const seconds = Number.parseFloat(refresh);
  const pauseMs = Number.isFinite(seconds) ? seconds * 1_000 : CHECK_IN_MS;
  return { waits: true, pauseMs: Math.min(pauseMs, CHECK_IN_MAX_MS) };
}

function move(from, to) {
  numbers[from] -= 1;
  numbers[to] += 1;
}

function say(number, text) {
  line.print(`${clock(Date.now() - began)}  visitor ${String(number).padStart(3)}  ${text}`);
}

function overview() {
  return Object.entries(numbers)
    .map(([name, value]) => `${name} ${value}`)
    .join(" · ");
}

function clock(ms) {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
