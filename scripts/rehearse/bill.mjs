// What the rehearsed hours would cost: at Cloudflare by what the simulated objects did, and beside
// it what others ask. Pure, but for the prices.
import { OBJECT_GB, PLAN_USD, PRICES, READ_AT } from "../../bench/bill/prices.mjs";
import { priced } from "../../bench/bill/formula.mjs";

/** What the same would take elsewhere, where it is published. */
const ELSEWHERE = [
  {
    name: "your own server (npm run serve)",
    says: "nothing beyond the machine",
    source: "docs/own-machines.md",
  },
  {
    name: "Cloudflare Waiting Room",
    says:
      "the plan Business, 200 USD a month for each zone in December 2025, or Enterprise, by " +
      "quote; events and own pages with an add-on to Enterprise",
    source: "https://developers.cloudflare.com/waiting-room/plans/",
  },
  {
    name: "Queue-it",
    says: "by quote, for six months at least",
    source: "https://www.queue-it.com/terms/",
  },
  {
    name: "CrowdHandler",
    says: "a plan by the month; its price was in no page that we could read",
    source: "https://support.crowdhandler.com/support/solutions/folders/80000138402",
  },
];

/**
 * The bill of a rehearsal.
 *
 * @param {object} outcome as the simulator tells it
 * @returns {{ rows: { what: string, count: number, usd: number }[], usd: number, planUsd: number,
 *   isIncluded: boolean, pricesOf: string, elsewhere: object[] }} in USD, as if nothing were
 *   included in the plan; `isIncluded` where all of it is within what a month of it includes
 */
export function billOf({ cost }) {
  const used = {
    requests: cost.page_views,
    calls: cost.calls + cost.registry_calls,
    awakeS: cost.awake_ms / 1_000,
    rows: cost.rows,
  };
  const usd = priced(used);
  const rows = [
    { what: "requests, queue pages and site", count: used.requests, usd: usd.requests },
    { what: "calls of Durable Objects", count: used.calls, usd: usd.calls },
    { what: "seconds awake of Durable Objects", count: used.awakeS, usd: usd.time },
  ];
  const isIncluded =
    used.requests <= PRICES.requests.included &&
    used.calls <= PRICES.calls.included &&
    used.awakeS * OBJECT_GB <= PRICES.objectTime.included;
  return {
    rows,
    usd: usd.total,
    planUsd: PLAN_USD,
    isIncluded,
    pricesOf: READ_AT,
    elsewhere: ELSEWHERE,
  };
}
