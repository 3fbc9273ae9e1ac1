/** What the benchmark prints, and whether the gates hold. It measures nothing. */

import { median, ratioOf, spreadOf } from "../tests/harness/statistics.mjs";
import { AGAINST_QUEUE_IT, PASS_THROUGH, QUEUE_IT, REFERENCE, VARIANTS } from "./variants.mjs";

const HEAD = [
  ...["", "CPU", "95 %", "speed", "95 %", "speed to Queue-it"],
  ...["us/req", "us above", "req/s"],
];

/** The table: ratios to the pass-through of the same run. */
export function table(samples) {
  const rows = [HEAD, referenceRow(samples)];
  for (const { name, title } of VARIANTS) {
    if (samples.has(name)) rows.push(row(title, name, samples));
  }
  const widths = HEAD.map((_, column) => Math.max(...rows.map((cells) => cells[column].length)));
  const line = (cells) =>
    cells.map((cell, at) => (at ? cell.padStart(widths[at]) : cell.padEnd(widths[at]))).join("  ");
  return rows.map(line).join("\n");
}

/**
 * Every target with what came out, as { variant, text, held }. A goal is reached if the figure is;
 * a gate breaks only if the whole interval lies beyond it, so that no busy machine breaks one.
 */
export function verdicts(samples) {
  const own = VARIANTS.filter(({ name, target }) => target && samples.has(name)).map(
    ({ name, title, target }) => {
      const found = target.value === "cpu" ? cpu(samples, name) : speed(samples, name);
      return { variant: name, ...verdict(title, found, target) };
    },
  );
  const { variant, ...target } = AGAINST_QUEUE_IT;
  if (!samples.has(variant) || !samples.has(QUEUE_IT)) return own;
  const found = speed(samples, variant, QUEUE_IT);
  return [...own, { variant, ...verdict("admitted to Queue-it", found, target) }];
}

/** A target with what came out, as { text, held }. */
export function verdict(what, { middle, low, high }, { value, goal, gate }) {
  // A machine that does not tell CPU times cannot say.
  if (Number.isNaN(middle)) return { text: `${what}: CPU is not measured here`, held: true };
  const isCost = value === "cpu";
  const isReached = isCost ? middle <= goal : middle >= goal;
  const held = isCost ? low <= gate : high >= gate;
  const bound = isCost ? "at most" : "at least";
  const goals = `goal ${bound} ${goal.toFixed(2)} ${isReached ? "reached" : "missed"}`;
  const gates = `gate ${bound} ${gate.toFixed(2)} ${held ? "held" : "BROKEN"}`;
  const figure = `${value} ${middle.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
  return { text: `${what}: ${figure}: ${goals}, ${gates}`, held };
}

/** CPU time of a request, in that of one of the pass-through's. */
function cpu(samples, name) {
  return ratio(samples.get(name), samples.get(REFERENCE));
}

/** The inverse: how many requests there are in the time of one of another's. */
function speed(samples, name, other = REFERENCE) {
  return ratio(samples.get(other), samples.get(name));
}

/** The CPU time of ones in that of others, in those cycles that measured both. */
export function ratio(ones, others) {
  return ratioOf(pairs(ones, others).map(([one, other]) => one.cpuUs / other.cpuUs));
}

/** CPU time of a request above that of one of the pass-through, in microseconds. */
export function aboveUs(samples, name) {
  const both = pairs(samples.get(name), samples.get(REFERENCE));
  return spreadOf(both.map(([one, reference]) => one.cpuUs - reference.cpuUs));
}

function pairs(ones, others) {
  return ones.map((one, cycle) => [one, others[cycle]]).filter(([one, other]) => one && other);
}

function row(title, name, samples) {
  const toQueueIt = samples.has(QUEUE_IT) ? speed(samples, name, QUEUE_IT).middle : NaN;
  return [
    title,
    ...spread(cpu(samples, name)),
    ...spread(speed(samples, name)),
    number(toQueueIt, 2),
    ...absolute(samples, name),
  ];
}

function referenceRow(samples) {
  return [PASS_THROUGH.title, "1.00", "", "1.00", "", "", ...absolute(samples, REFERENCE)];
}

function absolute(samples, name) {
  const own = samples.get(name).filter(Boolean);
  const of = (value) => number(median(own.map((sample) => sample[value])), 0);
  return [of("cpuUs"), number(aboveUs(samples, name).middle, 0), of("perSecond")];
}

function spread({ middle, low, high }) {
  return [number(middle, 2), `${number(low, 2)}-${number(high, 2)}`];
}

function number(value, digits) {
  return Number.isNaN(value) ? "-" : value.toFixed(digits);
}
