/** The row of one case in a table of months, and how its figures are written. Pure. */

import { bill, monthOf, neverAsleep } from "./formula.mjs";

/**
 * The cells of a month in which everything goes on as `measured`: title, requests, calls of all
 * objects and of the registry, calls a request, seconds awake, rows; then in USD the time of
 * objects, calls, requests, all, and the time of as many objects that never sleep.
 *
 * @param {string} title
 * @param {object} measured a case as `bench/bill/stories.mjs` returns it
 * @param {object} [options]
 * @param {string} [options.none] what stands where nothing was used
 * @param {boolean} [options.logs] whether the price of logging each request and call comes before
 *   the last cell
 */
export function monthRow(title, measured, { none = "", logs = false } = {}) {
  const { seconds, objects, ...used } = measured;
  const month = monthOf(used, seconds);
  const usd = bill(month);
  const isUsed = used.requests > 0;
  const prices = [usd.time, usd.calls, usd.requests, usd.total, ...(logs ? [usd.logs] : [])];
  return [
    title,
    ...[month.requests, month.calls, month.registryCalls].map(shortly),
    isUsed ? (used.calls / used.requests).toFixed(2) : none,
    ...[month.awakeS, month.rows].map(shortly),
    ...prices.map(money),
    // How long objects without visitors stayed awake at first is not known.
    isUsed ? money(neverAsleep(objects)) : none,
  ];
}

/** 0.1 as "0.10". */
export function money(usd) {
  return usd.toFixed(2);
}

/** 1234567 as "1.2 M". */
function shortly(count) {
  if (count >= 999_500) return `${(count / 1e6).toFixed(1)} M`;
  return count >= 1_000 ? `${(count / 1_000).toFixed(0)} k` : count.toFixed(0);
}
