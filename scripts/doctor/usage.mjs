// Judges what is used of a day's quota, as far as isolates and objects count it themselves: no
// visit tells anybody that it came, so the exact figures are the account's own.
import { LEVELS_PERCENT } from "../../webhooks/quota.js";
import { counted, duration, look, ok, wrong } from "./line.mjs";
import { objectsOf } from "./objects.mjs";

const DAY_S = 86_400;
/** Of younger isolates and objects no rate can be told. */
const AGE_MIN_MS = 60_000;
/** A shorter time may be a peak that passes. */
const SURE_AFTER_MS = 3_600_000;
/** From which part of the quota on somebody should look. */
const LOOK_FROM = 0.7;
const OBJECT_GB = 0.128;
const FREE_GB_S = 13_000;
/** Where the exact figures are: of requests, and of objects. */
const OF_REQUESTS = "All are in the account: Workers & Pages, the Worker, Metrics.";
const OF_OBJECTS = "All are in the account: Workers & Pages, Durable Objects, Metrics.";

/** Requests a day, if it goes on as since the isolates that were met began. */
export function requests({ samples, quota }) {
  const isolates = new Map(samples.map(({ isolate }) => [isolate.id, isolate]));
  const old = [...isolates.values()].filter(({ age_ms: age }) => age >= AGE_MIN_MS);
  const rate = sum(old.map(({ served, age_ms: age }) => served / (age / 1_000)));
  const forMs = Math.max(0, ...old.map(({ age_ms: age }) => age));
  return [daily({ what: "Requests", thing: "request", rate, forMs, quota, exact: OF_REQUESTS })];
}

/** What the account has used by Cloudflare's own count, where the owner gave a token for that. */
export function usedOfPlan({ samples: [{ usage }] }, now = Date.now()) {
  if (!usage) return [];
  const { problem, tried_at: tried, checked_at: at, period, parts } = usage;
  const lines = [];
  if (problem) {
    const remedy = `${problem}. Does USAGE_TOKEN have the permission Account Analytics, Read?`;
    lines.push(look("Use of the plan", "Cloudflare was asked in vain", remedy));
  } else if (!tried || now - Date.parse(tried) > SURE_AFTER_MS) {
    const remedy = "No cron trigger asks: docs/operations.md#the-use-of-your-plan.";
    lines.push(look("Use of the plan", tried ? "not asked for an hour" : "never asked", remedy));
  }
  const since = at && `${duration(Math.max(0, now - Date.parse(at)))} ago`;
  for (const { of, used, limit, percent } of parts) {
    const what = of === "requests" ? "Requests of the account" : "Object calls of the account";
    const figure =
      `${used.toLocaleString("en-US")} of ${limit.toLocaleString("en-US")} this ${period}, ` +
      `${percent} %, by Cloudflare's count ${since}`;
    const remedy = "Beyond the quota Workers Free refuses requests, and Workers Paid bills them.";
    if (percent < LEVELS_PERCENT[0]) lines.push(ok(what, figure));
    else lines.push((percent < LEVELS_PERCENT[1] ? look : wrong)(what, figure, remedy));
  }
  return lines;
}

/** Calls of objects a day, if it goes on as since the objects that were asked began. */
export function objectCalls(facts) {
  const counters = objectsOf(facts).filter(({ failed }) => !failed);
  const old = counters.filter(({ began, now }) => now - began >= AGE_MIN_MS);
  const rate = sum(old.map(({ calls, began, now }) => calls / ((now - began) / 1_000)));
  const forMs = Math.max(0, ...old.map(({ began, now }) => now - began));
  const { quota } = facts;
  return [daily({ what: "Object calls", thing: "call", rate, forMs, quota, exact: OF_OBJECTS })];
}

function daily({ what, thing, rate, forMs, quota, exact }) {
  if (forMs === 0) {
    return ok(what, `no rate: none is in memory for a minute`, exact);
  }
  const aDay = rate * DAY_S;
  const pace = `${counted(aDay, thing)} a day at the pace of the last ${duration(forMs)}, at least`;
  if (quota === undefined) {
    const remedy = `Workers Free ends at 100,000 a day: \`--plan free\` warns before. ${exact}`;
    return ok(what, pace, remedy);
  }
  const part = aDay / quota;
  const figure = `${pace}: ${Math.round(part * 100)} % of ${quota.toLocaleString("en-US")}`;
  if (part < LOOK_FROM) return ok(what, figure, exact);
  const remedy =
    "When the quota of Workers Free ends, requests fail or pass the room by, and newcomers are " +
    `held where objects fail: change to Workers Paid before. ${exact}`;
  const isSure = part >= 1 && forMs >= SURE_AFTER_MS;
  return isSure ? wrong(what, figure, remedy) : look(what, figure, remedy);
}

/** How long objects were awake: at most as long as they are in memory. */
export function objectTime(facts) {
  const told = objectsOf(facts).filter(({ failed }) => !failed);
  const ms = sum(told.map(({ began, now }) => now - began));
  const most = Math.round((ms / 1_000) * OBJECT_GB);
  const figure =
    `${counted(told.length, "object")} in memory for ${duration(ms)} in all: at most ` +
    `${most.toLocaleString("en-US")} GB-s`;
  const free = FREE_GB_S.toLocaleString("en-US");
  const limit = `Workers Free has ${free} a day, and only what was awake counts.`;
  return [ok("Object time", figure, `${limit} ${OF_OBJECTS}`)];
}

/** How soon a line alone uses a quota up. */
export function linesAgainstQuota({ rooms, quota }) {
  if (quota === undefined) return [];
  return rooms.filter(({ suspended }) => !suspended).map((room) => {
    const perVisitor = 3_600 / (room.refresh_interval_seconds ?? 20);
    const hours = quota / (1_000 * perVisitor);
    const what = `Quota in a line, ${room.name}`;
    const figure = `1,000 waiting use it up in ${duration(hours * 3_600_000)}`;
    if (hours >= 24) return ok(what, figure);
    const remedy = "A longer `refresh_interval_seconds` asks less; Workers Paid has no such end.";
    return look(what, figure, remedy);
  });
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
