// How much of the plan's quota is used: what Cloudflare's GraphQL API is asked, what its answer
// means, and what webhooks are told of it. Pure. `npm run doctor` reads the same plans.

/** What each plan has: until when its counts go on, and how many of each. */
export const PLANS = {
  free: { period: "day", requests: 100_000, object_calls: 100_000 },
  paid: { period: "month", requests: 10_000_000, object_calls: 1_000_000 },
};
/** From how many hundredths of a quota on it is told. */
export const LEVELS_PERCENT = [80, 95];
/** What is counted. */
export const COUNTS = ["requests", "object_calls"];

/** A year and month, or a day, in the form that moments have. */
const PERIOD_CHARACTERS = { day: "2026-11-24".length, month: "2026-11".length };

/** The plan of this name; Workers Free for any other. */
export function planOf(name) {
  return PLANS[name?.trim()] ?? PLANS.free;
}

/** The name of the period of a moment in milliseconds: a day or a month in UTC. */
export function periodAt({ period }, now) {
  return new Date(now).toISOString().slice(0, PERIOD_CHARACTERS[period]);
}

/** What Cloudflare is asked for the present period. */
export function question(account, plan, now) {
  const period = periodAt(plan, now);
  const from = new Date(`${period}${plan.period === "day" ? "" : "-01"}T00:00:00Z`).toISOString();
  const range = `datetime_geq: "${from}", datetime_leq: "${new Date(now).toISOString()}"`;
  const sums = (dataset) => `${dataset}(limit: 100, filter: { ${range} }) { sum { requests } }`;
  // Without variables: datasets differ in whether moments are of the type string or Time.
  const query = `{ viewer { accounts(filter: { accountTag: ${JSON.stringify(account)} }) {
    requests: ${sums("workersInvocationsAdaptive")}
    object_calls: ${sums("durableObjectsInvocationsAdaptiveGroups")}
  } } }`;
  return JSON.stringify({ query });
}

/** How many of each were used, by the answer; throws what is wrong with it, in words. */
export function usedIn(text) {
  const { data, errors } = JSON.parse(text);
  if (errors?.length > 0) throw new Error(`Cloudflare says: ${errors[0].message}`);
  const [account] = data?.viewer?.accounts ?? [];
  if (!account) throw new Error("the token does not see this account");
  const sum = (groups) => groups.reduce((total, group) => total + group.sum.requests, 0);
  return Object.fromEntries(COUNTS.map((name) => [name, sum(account[name] ?? [])]));
}

/** What is used of each count: `[{ of, used, limit, percent }]`. */
export function parts(plan, used) {
  return COUNTS.map((of) => {
    const limit = plan[of];
    return { of, used: used[of], limit, percent: Math.floor((used[of] * 100) / limit) };
  });
}

/**
 * Takes in what is used at `now`. Returns what was told then (the argument `told` of the next
 * time), and the notices: each level once in a period, and that a period in which something was
 * told is over.
 */
export function toldOf(told, plan, used, now) {
  const period = periodAt(plan, now);
  const next = {};
  const notices = [];
  for (const part of parts(plan, used)) {
    const before = told?.[part.of];
    const isOver = before !== undefined && before.period !== period;
    const level = LEVELS_PERCENT.findLast((percent) => part.percent >= percent) ?? 0;
    const known = isOver ? 0 : (before?.level ?? 0);
    const notice = (kind, percent) => notices.push({ kind, ...part, level: percent, period });
    if (isOver && before.level > 0) notice("quota_renewed", 0);
    if (level > known) notice("quota_reached", level);
    next[part.of] = { period, level: Math.max(level, known) };
  }
  return { told: next, notices };
}
