/**
 * `--scale`: what grows with a deployment. The CPU time of a visit, and of the start of an isolate,
 * with 1 to 10,000 rooms; of a visit to a room with 100 bypass rules; and of 500 event streams.
 * Visits are set beside those of the smallest deployment, measured in turn with them.
 */

import { sendForJson } from "../tests/harness/http.mjs";
import { median } from "../tests/harness/statistics.mjs";
import { cpuNs, residentBytes } from "../tests/harness/workerd-process.mjs";
import { ratio, verdict } from "./report.mjs";
import { OPEN, ROOMS, many } from "./rooms.mjs";
import { playCycles, shuffled } from "./rounds.mjs";
import { startServices } from "./services.mjs";
import { streamsFigure } from "./streams.mjs";
import { REFERENCE } from "./variants.mjs";
import { Visitors } from "./visitors.mjs";

/** Up to as many as an owner may have. */
const COUNTS = [1, 100, 1_000, 10_000];
const RULES = 100;
const MIB = 1_024 * 1_024;
/** The smallest deployment, with which the others are compared, and the largest. */
const [SMALLEST, , , LARGEST] = COUNTS;
/** What a visit may cost, in that of one to the only room there is, which has no rule. */
const TARGETS = {
  rooms: { value: "cpu", goal: 1.05, gate: 1.15 },
  rules: { value: "cpu", goal: 1.2, gate: 1.3 },
};
/** In which an isolate that has started comes to rest. */
const SETTLE_MS = 300;

/**
 * Measures everything; returns the lines to print, and whether the gates hold.
 *
 * @param {object} options
 * @param {object} options.origin the process of the origin
 * @param {object} options.load the process of the load generator
 * @param {number} options.originPort
 * @param {number} options.seconds how long visits are compared
 * @param {number} options.processes how many of each kind are started
 * @param {(cycle?: number) => void} options.progress
 */
export async function scaleTable(options) {
  const starts = await startsOf(options);
  const visits = await visitsOf(options);
  const visit = (name) => ratio(visits.get(name), visits.get(nameOf(SMALLEST)));
  const rows = COUNTS.map((count) => [
    `${count}`,
    interval(visit(nameOf(count))),
    starts(count, "cpuMs", 0),
    starts(count, "wasmMib", 1),
    starts(count, "residentMib", 0),
  ]);
  const head = ["rooms", "CPU of a visit (95 %)", "start, ms of CPU", "wasm, MB", "process, MB"];
  const verdicts = [
    verdict(`a visit with ${LARGEST} rooms`, visit(nameOf(LARGEST)), TARGETS.rooms),
    verdict(`a visit to a room with ${RULES} bypass rules`, visit("rules"), TARGETS.rules),
  ];
  const lines = [
    "CPU of a visit is a ratio to that with one room; start and process are above those of a",
    "process with a bare pass-through.",
    "",
    ...[head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`),
    "",
    ...verdicts.map(({ text }) => text),
    await streamsFigure(options),
  ];
  return { lines, held: verdicts.every(({ held }) => held) };
}

/** The same admitted visitor in isolates of many and of few rooms, slice by slice. */
async function visitsOf({ origin, load, originPort, seconds, progress }) {
  const products = [
    ...COUNTS.map((count) => ({ name: nameOf(count), rooms: roomsOf(count) })),
    { name: "rules", rooms: [{ ...OPEN, bypass_rules: rules() }] },
  ];
  const only = [REFERENCE, "hub", "waiting-room"];
  const services = await startServices({ originPort, only, more: products });
  try {
    const visitors = new Visitors({ load, ports: services.ports, originPort });
    const variants = products.map(({ name }) => ({
      ...{ name, service: name, title: name, answer: "origin", cookie: false },
      requests: (whose, ms) => whose.unchanged(ms),
    }));
    const setting = { visitors, origin, services, load };
    return await playCycles(setting, variants, { seconds, progress });
  } finally {
    await services.stop();
  }
}

/** Starts processes of each kind in turn; returns what tells a figure of one of them. */
async function startsOf({ originPort, processes }) {
  const bare = { only: [REFERENCE], samples: [] };
  const kind = (count) => ({ count, only: ["hub"], rooms: roomsOf(count), samples: [] });
  const kinds = COUNTS.map(kind);
  for (let round = 0; round < processes; round += 1) {
    for (const one of shuffled([bare, ...kinds])) {
      one.samples.push(await startOf(one, originPort));
    }
  }
  const of = (samples, name) => median(samples.map((sample) => sample[name]));
  return (count, name, digits) => {
    const { samples } = kinds.find((one) => one.count === count);
    const without = name === "wasmMib" ? 0 : of(bare.samples, name);
    return (of(samples, name) - without).toFixed(digits);
  };
}

async function startOf({ only, rooms }, originPort) {
  const services = await startServices({ originPort, only, rooms });
  try {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const cpuMs = cpuNs(services.pid) / 1e6;
    const residentMib = residentBytes(services.pid) / MIB;
    const door = services.ports["hub TestDoor"];
    const { wasmBytes } = door ? await sendForJson({ port: door }) : {};
    return { cpuMs, residentMib, wasmMib: wasmBytes / MIB };
  } finally {
    await services.stop();
  }
}

function interval({ middle, low, high }) {
  return `${middle.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
}

function nameOf(count) {
  return `rooms-${count}`;
}

/** So many rooms, of which one is visited. */
function roomsOf(count) {
  return count < ROOMS.length ? [OPEN] : many(count);
}

/** Rules as owners write them, none of which matches the benchmark's visitor. */
function rules() {
  return Array.from({ length: RULES }, (_, at) => ({
    id: at.toString(16).padStart(32, "0"),
    action: "bypass_waiting_room",
    expression: `starts_with(http.request.uri.path, "/static-${at}/") or ip.src eq 192.0.2.${at}`,
  }));
}
