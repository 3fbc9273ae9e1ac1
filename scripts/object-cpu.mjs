/**
 * What the one global object of a room has to do at many data centers, in real workerd with the
 * release build: `npm run object-cpu` takes what reaches it in a simulated sale of a million
 * visitors, sends that to a real one, and tells the CPU time of each kind of message.
 */

import { spawn } from "node:child_process";
import fs from "node:fs";
import readline from "node:readline";

import { startCluster } from "../tests/harness/cluster.mjs";
import { room } from "../tests/harness/rooms.mjs";
import { cpuMs, workerdPid } from "../tests/harness/workerd-process.mjs";
import { HELP, oneOf, readFlags } from "./usage.mjs";

/** The flags of `room-sim messages`, which has their defaults. */
const FLAGS = [
  ["scenario", undefined, "name", "Which story is played. Default: sale."],
  ["data-centers", undefined, "number", "At how many data centers. Default: 300."],
  ["seed", undefined, "number", "Of all chance. Default: 1."],
  ["from-s", undefined, "number", "From which second of the story on. Default: 240."],
  ["for-s", undefined, "number", "For how many seconds. Default: 6."],
  HELP,
];

/** The files of the simulator that name all scenarios; nothing else in them is in quotes. */
const NAMED_IN = ["catalogue.rs", "sizes.rs"];
const SIMULATOR = ["--quiet", "--profile", "simulator", "--locked", "--package", "room-sim"];
/** How many messages are on their way at once, so that the object always has one to serve. */
const IN_FLIGHT = 8;
/** What the object answers at once, for comparison: no machine reads it. */
const UNREADABLE = "unreadable";

function scenarios() {
  const read = (file) => fs.readFileSync(`room-sim/src/scenario/${file}`, "utf8");
  return [...new Set(NAMED_IN.map(read).join("").match(/(?<=")[a-z][a-z0-9-]*(?=")/g))];
}

/** Plays the simulated sale; returns the room's settings and the messages: { at, kind, text }. */
async function simulated(options) {
  console.log("playing the sale up to that moment (some minutes) ...");
  const simulator = spawn("cargo", ["run", ...SIMULATOR, "--", "messages", ...options], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = readline.createInterface({ input: simulator.stdout });
  let settings;
  const messages = [];
  for await (const line of lines) {
    if (settings === undefined) {
      settings = JSON.parse(line);
      continue;
    }
    const tab = line.indexOf("\t");
    const text = line.slice(tab + 1);
    const [kind] = Object.keys(JSON.parse(text).m);
    messages.push({ at: Number(line.slice(0, tab)), kind, text });
  }
  if (messages.length === 0) throw new Error("the simulator told no message");
  return { settings, messages };
}

/** Sends texts to the object, some at a time and in order; returns the CPU time of each. */
async function cpuOfEach(cluster, object, texts) {
  const before = cpuMs(workerdPid());
  const rest = texts.values();
  const work = async () => {
    for (const text of rest) await cluster.callObject("GlobalAggregator", object, text);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  return (cpuMs(workerdPid()) - before) / texts.length;
}

const page = "docs/algorithm.md";
const { values } = readFlags("object-cpu", FLAGS, process.argv.slice(2), { page });
const { help: _, ...given } = values;
if (given.scenario !== undefined) oneOf(given.scenario, scenarios(), "--scenario");
const { settings, messages } = await simulated(
  Object.entries(given).map(([name, value]) => `--${name}=${value}`),
);
const sale = room({
  name: "sale",
  total_active_users: settings.total_active_users,
  new_users_per_minute: settings.new_users_per_minute,
  session_duration: settings.session_duration_minutes,
});
const cluster = await startCluster({ rooms: [sale], build: "release" });
try {
  cluster.clock.jump(messages[0].at - cluster.clock.now());
  const ofKind = (kind) => messages.filter((one) => one.kind === kind).map(({ text }) => text);
  const [syncs, pulls] = [ofKind("sync"), ofKind("pull")];
  // The first half of the syncs makes the object know what it knows in the sale.
  const half = Math.floor(syncs.length / 2);
  await cpuOfEach(cluster, sale.id, syncs.slice(0, half));
  const lengths = (texts) => texts.reduce((sum, text) => sum + text.length, 0) / texts.length;
  for (const [kind, texts] of [
    ["sync", syncs.slice(half)],
    ["pull", pulls],
  ]) {
    const padding = " ".repeat(Math.round(lengths(texts)));
    const empty = await cpuOfEach(cluster, sale.id, texts.map(() => UNREADABLE + padding));
    const all = await cpuOfEach(cluster, sale.id, texts);
    const perS = texts.length / ((messages.at(-1).at - messages[0].at) / 1_000);
    const rate = kind === "sync" ? perS * 2 : perS;
    console.log(
      `${kind}: ${texts.length} of ${Math.round(lengths(texts))} bytes, CPU ${all.toFixed(2)} ms ` +
        `each, ${empty.toFixed(2)} of it to carry as many bytes; ${rate.toFixed(0)} a second in ` +
        `the sale take ${((rate * all) / 10).toFixed(0)} % of a processor`,
    );
  }
} finally {
  await cluster.stop();
}
