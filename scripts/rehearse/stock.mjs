// How many may enter before a sale is sold out, which the simulator does not know: what is wrong
// with the field, and what came of it. Pure.

const MINUTE_S = 60;

/** The plan as the simulator takes it, and the line that tells what is wrong with its stock. */
export function splitStock({ stock, ...simulated }) {
  const isRight = isMissing(stock) || (Number.isSafeInteger(stock) && stock >= 1);
  return { simulated, wrong: isRight ? undefined : "stock: must be a whole number from 1" };
}

/**
 * The minute in which the last of the stock enters.
 *
 * @param {object} plan
 * @param {object} outcome as the simulator tells it
 * @returns {{ stock: number, atS?: number, waiting?: number } | undefined} when that is, in seconds
 *   from the beginning, and how many wait at most in that minute, if so many enter; nothing
 *   without a stock
 */
export function soldOutOf({ stock }, { minutes }) {
  if (isMissing(stock)) return;
  let entered = 0;
  const minute = minutes.findIndex((one) => (entered += one.entered) >= stock);
  if (minute < 0) return { stock };
  return { stock, atS: minute * MINUTE_S, waiting: minutes[minute].waiting };
}

function isMissing(stock) {
  return stock === undefined || stock === null;
}
