// The limits that are rehearsed beside each other, and the search for those that keep waits short.
// Pure, but for the plays that it asks for.
import { limitsText } from "./answer.mjs";
import { areServed } from "./giving-up.mjs";

/** A search ends when the bounds are so close, as a factor. */
const CLOSE = 1.02;
/** How far from the plan's limits a search looks, as factors. */
const SMALLEST = 1 / 64;
export const LARGEST = 64;
/** Where no more are played, the plan is played with two more limits, unless it is said which. */
export const FEW_VISITORS = 100_000;
/** The two more: times as many may enter. */
const MORE = [1.5, 2];
/** The largest limit that a room may have, as the core checks it. */
const LIMIT_MAX = 2_147_483_647;

/**
 * The plans to be played beside each other: with each of the limits that are named, or, where it
 * takes no long time, with more than the plan's.
 *
 * @param {object} plan
 * @param {object} [limits]
 * @param {number[]} [limits.inside] values of total_active_users
 * @param {number[]} [limits.perMinute] values of new_users_per_minute
 * @param {number} visitors how many are played of those that the plan expects
 */
export function variantsOf(plan, limits, visitors) {
  const named = pairsOf(limits).map((pair) => withLimits(plan, pair));
  const [first] = named;
  const isCompared = named.length > 1 || visitors > FEW_VISITORS;
  const plans = isCompared ? named : [first, ...MORE.map((factor) => scaled(first, factor))];
  return plans.filter((one, at) => !plans.slice(0, at).some((other) => isSame(one, other)));
}

/**
 * The plan with the first of the named limits, for whatever is played once. A plan without any
 * named limit stays as it is, so that its own are refused by their field if they are wrong.
 */
export function withFirst(plan, limits) {
  const isNamed = limits.inside.length > 0 || limits.perMinute.length > 0;
  return isNamed ? withLimits(plan, pairsOf(limits)[0]) : plan;
}

/** Says which of the named limits are played otherwise than they are named: a sentence for each. */
export function changedTexts(plan, limits) {
  return pairsOf(limits).flatMap(({ inside, perMinute }) => {
    const { room } = withLimits(plan, { inside, perMinute });
    const asked = { ...plan.room };
    if (inside !== undefined) asked.total_active_users = inside;
    if (perMinute !== undefined) asked.new_users_per_minute = perMinute;
    if (isSame({ room }, { room: asked })) return [];
    const flags = [
      ["limit", inside],
      ["per-minute", perMinute],
    ].filter(([, value]) => value !== undefined);
    const named = flags.map(([name, value]) => `--${name} ${value}`).join(" with ");
    const why = "no more may enter in a minute than may be inside";
    return [`${named} is played as ${limitsText(room)}: ${why}.`];
  });
}

/** The limits that are named, in pairs: the last of one list goes with the rest of the other. */
function pairsOf({ inside = [], perMinute = [] }) {
  return Array.from({ length: Math.max(1, inside.length, perMinute.length) }, (_, at) => ({
    inside: inside[at] ?? inside.at(-1),
    perMinute: perMinute[at] ?? perMinute.at(-1),
  }));
}

/** The plan with other limits; no more may enter in a minute than may be inside. */
function withLimits(plan, { inside, perMinute }) {
  const { total_active_users, new_users_per_minute } = plan.room;
  const all = inside ?? Math.max(total_active_users, perMinute ?? 0);
  const rate = Math.min(perMinute ?? new_users_per_minute, all);
  const room = { ...plan.room, total_active_users: all, new_users_per_minute: rate };
  return { ...plan, room };
}

/** The plan with so many times as much of both limits, as far as a room may have them. */
export function scaled(plan, factor) {
  const { total_active_users, new_users_per_minute } = plan.room;
  const times = (limit) => Math.min(LIMIT_MAX, Math.max(1, Math.round(limit * factor)));
  return withLimits(plan, {
    inside: times(total_active_users),
    perMinute: times(new_users_per_minute),
  });
}

/**
 * Searches the smallest limits, in the plan's proportion, with which 95 of 100 enter within so
 * long.
 *
 * @param {object} plan
 * @param {number} waitS
 * @param {(plans: object[]) => Promise<object[]>} play
 * @returns {Promise<{ plan: object, outcome: object, isEnough: boolean }>} `isEnough` is false for
 *   the largest limits that are looked at, if even with these they do not
 */
export async function find(plan, waitS, play) {
  const playWith = async (tried) => {
    const [outcome] = await play([tried]);
    return { plan: tried, outcome, isEnough: areServed(tried, outcome, waitS) };
  };
  let [low, high] = [SMALLEST, LARGEST];
  let best;
  let last;
  // From the plan's own limits by doubling, since most plans are not far off.
  for (let factor = 1; factor <= LARGEST && factor >= SMALLEST;) {
    const tried = scaled(plan, factor);
    // A room can have no more, or no less.
    if (last && isSame(tried, last.plan)) break;
    last = await playWith(tried);
    if (last.isEnough) {
      [high, best] = [factor, last];
      if (low > SMALLEST) break;
      factor /= 2;
    } else {
      low = factor;
      if (best) break;
      factor *= 2;
    }
  }
  if (!best) return last;
  while (high / low > CLOSE) {
    const middle = Math.sqrt(low * high);
    const tried = scaled(plan, middle);
    if (isSame(tried, best.plan)) break;
    const one = await playWith(tried);
    if (one.isEnough) [high, best] = [middle, one];
    else low = middle;
  }
  return best;
}

function isSame({ room: one }, { room: other }) {
  return (
    one.total_active_users === other.total_active_users &&
    one.new_users_per_minute === other.new_users_per_minute
  );
}
