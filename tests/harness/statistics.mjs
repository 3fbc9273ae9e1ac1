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
