/** What the benchmark prints, and whether the gates hold. It measures nothing. */

import { median } from "../tests/harness/statistics.mjs";
import { AGAINST_QUEUE_IT, PASS_THROUGH, QUEUE_IT, REFERENCE, VARIANTS } from "./variants.mjs";

const HEAD = [
  ...["", "throughput", "min-max", "CPU", "min-max"],
  ...["to Queue-it", "req/s", "CPU us/req"],
];

/** The table: ratios to the pass-through of the same run. */
export function table(samples) {
  const rows = [HEAD, referenceRow(samples.get(REFERENCE))];
  for (const { name, title } of VARIANTS) {
    if (samples.has(name)) rows.push(row(title, samples.get(name), samples.get(QUEUE_IT)));
  }
  const widths = HEAD.map((_, column) => Math.max(...rows.map((cells) => cells[column].length)));
  const line = (cells) =>
    cells.map((cell, at) => (at ? cell.padStart(widths[at]) : cell.padEnd(widths[at]))).join("  ");
  return rows.map(line).join("\n");
}

/**
 * Every target with what came out, as { variant, text, held }.
 *
 * One thread of workerd does all the work and the load keeps it busy: left alone, throughput is the
 * inverse of CPU time. Where others take the cores, CPU time alone tells the Workers apart, so a
 * gate on throughput holds if either of the two meets it.
 */
export function verdicts(samples) {
  const own = VARIANTS.filter(({ name, target }) => target && samples.has(name)).map(
    ({ name, title, target }) => {
      const { throughput, cpu } = medians(samples.get(name));
      const found = target.value === "cpu" ? { cpu } : { throughput, byCpu: 1 / cpu };
      return { variant: name, ...verdict(title, found, target) };
    },
  );
  const { variant, ...target } = AGAINST_QUEUE_IT;
  if (!samples.has(variant) || !samples.has(QUEUE_IT)) return own;
  const [ours, theirs] = [samples.get(variant), samples.get(QUEUE_IT)];
  const found = { throughput: median(against(ours, theirs)) };
  found.byCpu = medians(theirs).cpu / medians(ours).cpu;
  return [...own, { variant, ...verdict("admitted to Queue-it", found, target) }];
}

function verdict(what, found, target) {
  return "cpu" in found ? cpuVerdict(what, found, target) : speedVerdict(what, found, target);
}

function cpuVerdict(what, { cpu }, { goal, gate }) {
  // A machine that does not tell CPU times cannot say.
  if (Number.isNaN(cpu)) return { text: `${what}: CPU is not measured here`, held: true };
  const goals = `goal at most ${goal.toFixed(2)} ${cpu <= goal ? "reached" : "missed"}`;
  const gates = `gate at most ${gate.toFixed(2)} ${cpu <= gate ? "held" : "BROKEN"}`;
  return { text: `${what}: CPU ${cpu.toFixed(2)}: ${goals}, ${gates}`, held: cpu <= gate };
}

function speedVerdict(what, { throughput, byCpu }, { goal, stretch, gate }) {
  const held = throughput >= gate || byCpu >= gate;
  const figures = `throughput ${throughput.toFixed(2)}, by CPU ${number(byCpu, 2)}`;
  const byCpuAlone = byCpu >= goal ? "reached by CPU alone" : "missed";
  const reached = throughput >= goal ? "reached" : byCpuAlone;
  const wish = stretch === undefined ? "" : ` (wish ${stretch.toFixed(2)})`;
  const goals = `goal at least ${goal.toFixed(2)}${wish} ${reached}`;
  const gates = `gate at least ${gate.toFixed(2)} ${held ? "held" : "BROKEN"}`;
  return { text: `${what}: ${figures}: ${goals}, ${gates}`, held };
}

function medians(samples) {
  const of = (value) => median(samples.map((sample) => sample[value]));
  return { throughput: of("throughput"), cpu: of("cpu") };
}

function row(title, own, queueIt) {
  const toQueueIt = queueIt ? against(own, queueIt) : [NaN];
  return [
    title,
    ...spread(own.map(({ throughput }) => throughput)),
    ...spread(own.map(({ cpu }) => cpu)),
    number(median(toQueueIt), 2),
    ...absolute(own),
  ];
}

function referenceRow(own) {
  return [PASS_THROUGH.title, "1.00", "", "1.00", "", "", ...absolute(own)];
}

function absolute(own) {
  const perSecond = median(own.map((sample) => sample.perSecond));
  const cpuUs = median(own.map((sample) => sample.cpuUs));
  return [number(perSecond, 0), number(cpuUs, 0)];
}

/** The throughput of each round over that of the other in the same round. */
function against(own, other) {
  return own.map(({ throughput }, round) => throughput / other[round].throughput);
}

function spread(values) {
  const bounds = [Math.min(...values), Math.max(...values)].map((value) => number(value, 2));
  return [number(median(values), 2), bounds.join("-")];
}

function number(value, digits) {
  return Number.isNaN(value) ? "-" : value.toFixed(digits);
}
