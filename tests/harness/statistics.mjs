/** What many measured numbers say together. */

/** The middle value, or the mean of the two in the middle. */
export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half] : mean([sorted[half - 1], sorted[half]]);
}

/** The mean. */
export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** How many times a sample is drawn anew to see how far its figure may be from the truth. */
const RESAMPLES = 2_000;
/** How much of both ends of a sample is left out: what a machine does besides falls there. */
const TRIMMED = 0.2;

/**
 * What paired ratios say together, and between which two values 95 of 100 such figures lie: the
 * trimmed mean of their logarithms, so that `a / b` is the inverse of `b / a`, and its bootstrap.
 *
 * @param {number[]} ratios
 */
export function ratioOf(ratios) {
  const { middle, low, high } = spreadOf(ratios.map(Math.log));
  return { middle: Math.exp(middle), low: Math.exp(low), high: Math.exp(high) };
}

/** The same of numbers that are no ratios: their trimmed mean itself. */
export function spreadOf(values) {
  const again = Array.from({ length: RESAMPLES }, () =>
    trimmedMean(values.map(() => values[Math.floor(Math.random() * values.length)])),
  ).sort((one, other) => one - other);
  const at = (part) => again[Math.round(part * (RESAMPLES - 1))];
  return { middle: trimmedMean(values), low: at(0.025), high: at(0.975) };
}

/** The value below which this part of all values lies. */
export function quantile(values, part) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.floor(part * (sorted.length - 1))];
}

function trimmedMean(values) {
  const sorted = Float64Array.from(values).sort();
  const out = Math.floor(sorted.length * TRIMMED);
  return mean(sorted.subarray(out, sorted.length - out));
}

/**
 * How much `y` grows with each unit of `x`, by least squares.
 *
 * @param {[number, number][]} points pairs of x and y
 */
export function slope(points) {
  const [middleX, middleY] = [0, 1].map((at) => mean(points.map((point) => point[at])));
  const sum = (of) => points.reduce((all, [x, y]) => all + of(x - middleX, y - middleY), 0);
  return sum((x, y) => x * y) / sum((x) => x * x);
}
