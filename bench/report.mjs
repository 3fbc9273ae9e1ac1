/** What the benchmark prints, and whether the gates hold. It measures nothing. */

import { median } from "./rounds.mjs";
import { AGAINST_QUEUE_IT, QUEUE_IT, REFERENCE, VARIANTS } from "./variants.mjs";

const HEAD = ["", "throughput", "min-max", "CPU", "min-max", "to Queue-it", "req/s", "CPU us/req"];

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

/** Every promise with what came out: { text, held, reached }. */
export function promises(samples) {
  const all = VARIANTS.filter(({ name, promise }) => promise && samples.has(name)).map(
    ({ name, title, promise }) => {
      const { value, goal, stretch, gate } = promise;
      const found = median(samples.get(name).map((sample) => sample[value]));
      const better = value === "cpu" ? (limit) => found <= limit : (limit) => found >= limit;
      const sign = value === "cpu" ? "<=" : ">=";
      return verdict(`${title}: ${value}`, { found, sign, goal, stretch, gate, better });
    },
  );
  const { variant, goal, gate } = AGAINST_QUEUE_IT;
  const found = median(against(samples.get(variant), samples.get(QUEUE_IT)));
  const better = (limit) => found >= limit;
  return [...all, verdict("admitted to Queue-it: throughput", { found, sign: ">=", goal, gate, better })];
}

function verdict(what, { found, sign, goal, stretch, gate, better }) {
  // A machine that does not tell CPU times cannot say.
  if (Number.isNaN(found)) return { text: `${what}: not measured here`, held: true };
  const wish = stretch === undefined ? "" : `, wished ${stretch.toFixed(2)}`;
  const reached = better(goal) ? "reached" : "missed";
  const held = better(gate);
  const gateText = `gate ${sign} ${gate.toFixed(2)} ${held ? "held" : "BROKEN"}`;
  const text = `${what} ${found.toFixed(2)}: goal ${sign} ${goal.toFixed(2)}${wish} ${reached}, ${gateText}`;
  return { text, held };
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
  return ["pass-through (reference)", "1.00", "", "1.00", "", "", ...absolute(own)];
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
