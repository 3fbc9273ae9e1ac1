// `npm run soak`: visitors at a steady pace in real workerd while rooms and events come and go. It
// fails where a visitor sees an error, a limit is broken at the origin, or memory grows; and it
// tells the slope of the memory.
import { startCluster } from "../tests/harness/cluster.mjs";
import { STANDING, Soak } from "../tests/harness/soak.mjs";
import { slope } from "../tests/harness/statistics.mjs";
import { cpuMs, residentBytes, workerdPid } from "../tests/harness/workerd-process.mjs";
import { stop } from "./stop.mjs";
import { HELP, readFlags } from "./usage.mjs";

/** How much the memory of the isolates may grow in the second half, as a part of its size. */
const GROWTH_MAX = 0.25;
/** Errors shown at the end. */
const SHOWN_MAX = 10;
/** How often it looks at the memory and tells how far it is: so many times, and each minute. */
const TOLD = 12;
const MINUTE_MS = 60_000;

/** Each flag: name, default or `undefined`, what it takes, what it means. */
const FLAGS = [
  ["minutes", "2", "number", "How long it takes."],
  ["per-second", "500", "number", "How many requests are sent."],
  ["seed", undefined, "number", "Repeats the chances of a run. Default: another each time."],
  HELP,
];

const { minutes, perSecond, seed } = parameters();
const colos = { AMS: 2, NRT: 2 };
const cluster = await startCluster({ rooms: STANDING, colos, inspected: true });
try {
  console.log(`${minutes} min at ${perSecond} requests a second, seed ${seed}`);
  const soak = new Soak(cluster, { perSecond, seed });
  const memory = await played(soak);
  process.exitCode = verdict(soak, memory);
} finally {
  await cluster.stop();
}

function parameters() {
  const { values } = readFlags("soak", FLAGS, process.argv.slice(2), { page: "docs/security.md" });
  const [minutes, perSecond] = [values.minutes, values["per-second"]].map(Number);
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
  if (minutes > 0 && perSecond > 0 && seed >= 0) return { minutes, perSecond, seed };
  stop("--minutes and --per-second must be numbers above 0, and --seed a number from 0");
}

/** Plays it; returns the memory of all isolates from time to time: [minute, MB][]. */
async function played(soak) {
  const pid = workerdPid();
  const everyMs = Math.min((minutes * MINUTE_MS) / TOLD, MINUTE_MS);
  const memory = [];
  let looks = 0;
  await soak.play(minutes * MINUTE_MS, async (passedMs) => {
    if (passedMs < (looks + 1) * everyMs) return;
    looks += 1;
    const bytes = await cluster.heldBytes().catch((error) => {
      // It goes on: now and then the inspector of an isolate that serves does not answer.
      console.log(`${(passedMs / MINUTE_MS).toFixed(1)} min: ${error.message}`);
    });
    if (!bytes) return;
    const held = Object.values(bytes).map((one) => one / 1e6);
    const all = held.reduce((sum, mb) => sum + mb, 0);
    const minute = passedMs / MINUTE_MS;
    memory.push([minute, all]);
    const cpu = ((100 * cpuMs(pid)) / passedMs).toFixed(0);
    const { origin, queue, rooms, events } = soak.counts;
    console.log(
      `${minute.toFixed(1)} min: ${origin} answers of the site, ${queue} of the queue; ` +
        `${rooms} rooms and ${events} events made; ${all.toFixed(1)} MB held, ` +
        `${Math.max(...held).toFixed(1)} by the largest isolate; the process has ` +
        `${(residentBytes(pid) / 1e6).toFixed(0)} MB, ${cpu} % of a processor; ` +
        `${soak.wrong.length} wrong`,
    );
  });
  return memory;
}

/** Tells what came out; returns the exit code. */
function verdict({ counts, wrong }, memory) {
  const requests = counts.origin + counts.queue;
  if (memory.length < TOLD / 2) {
    console.log(`WRONG memory was looked at ${memory.length} times, and ${TOLD / 2} are needed`);
    return 1;
  }
  const half = memory.slice(Math.floor(memory.length / 2));
  const perMinute = slope(half);
  const [[from], [to, size]] = [half[0], half.at(-1)];
  const grown = (perMinute * (to - from)) / size;
  console.log(
    `${requests} requests (${(requests / minutes / 60).toFixed(0)} a second), ${wrong.length} ` +
      `wrong; the isolates hold ${size.toFixed(1)} MB, in the second half ` +
      `${(1_000 * perMinute).toFixed(0)} KB more each minute, ${(100 * grown).toFixed(0)} % in all`,
  );
  for (const one of wrong.slice(0, SHOWN_MAX)) console.log(`WRONG ${one}`);
  if (grown > GROWTH_MAX) console.log(`WRONG it may be ${100 * GROWTH_MAX} %`);
  // Without a figure nothing has been shown.
  return wrong.length > 0 || !(grown <= GROWTH_MAX) ? 1 : 0;
}
