/**
 * How much of the plan is used: what Cloudflare is asked, what is told of it and when, and that
 * only a deployment with a token asks at all.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parse } from "graphql";

import { USAGE_CRON, writeConfiguration } from "../../scripts/deploy/configuration.mjs";
import { usedOfPlan } from "../../scripts/doctor/usage.mjs";
import { PLANS, parts, periodAt, planOf, question, toldOf, usedIn } from "../../webhooks/quota.js";

const NOON = Date.parse("2026-11-24T12:00:00Z");
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const { free, paid } = PLANS;
const used = (requests, objectCalls = 0) => ({ requests, object_calls: objectCalls });

/** Asks at these moments what was used then; returns `[hours, kind, of, level]` of all told. */
function toldAt(plan, looks) {
  let told;
  return looks.flatMap(([hours, ...numbers]) => {
    const now = NOON + hours * HOUR_MS;
    const found = toldOf(told, plan, used(...numbers), now);
    // As it is stored.
    told = JSON.parse(JSON.stringify(found.told));
    return found.notices.map(({ kind, of, level }) => [hours, kind, of, level]);
  });
}

test("each level is told once in a period, and that the period is over", () => {
  const day = [
    [0, 79_999],
    [1, 80_000],
    [2, 81_000],
    [3, 95_000, 80_000],
    [4, 120_000, 80_001],
    [13, 10],
    [14, 96_000],
  ];
  assert.deepEqual(toldAt(free, day), [
    [1, "quota_reached", "requests", 80],
    [3, "quota_reached", "requests", 95],
    [3, "quota_reached", "object_calls", 80],
    [13, "quota_renewed", "requests", 0],
    [13, "quota_renewed", "object_calls", 0],
    [14, "quota_reached", "requests", 95],
  ]);
  assert.deepEqual(toldAt(free, [[0, 1], [13, 1]]), [], "a day in which nothing was told");
  const [first] = toldAt(free, [[0, 99_000]]);
  assert.deepEqual(first, [0, "quota_reached", "requests", 95], "the highest level alone");
  assert.deepEqual(toldAt(paid, [[0, 8_000_000], [24, 8_100_000], [8 * 24, 5]]), [
    [0, "quota_reached", "requests", 80],
    [8 * 24, "quota_renewed", "requests", 0],
  ]);
});

test("a count that falls behind what was told says nothing, nor when it rises again", () => {
  assert.deepEqual(toldAt(free, [[0, 80_000], [1, 70_000], [2, 80_001]]), [
    [0, "quota_reached", "requests", 80],
  ]);
});

test("Cloudflare is asked for the present day or month", () => {
  const asked = (plan, from) => {
    const { query } = JSON.parse(question("a1", plan, NOON));
    parse(query);
    assert.match(query, /accountTag: "a1"/);
    const range = `datetime_geq: "${from}", datetime_leq: "2026-11-24T12:00:00.000Z"`;
    assert.equal(query.split(range).length, 3, "both datasets");
  };
  asked(free, "2026-11-24T00:00:00.000Z");
  asked(paid, "2026-11-01T00:00:00.000Z");
  assert.equal(periodAt(free, NOON + DAY_MS), "2026-11-25");
  assert.equal(planOf(" paid "), paid);
  assert.equal(planOf(undefined), free);
});

test("an answer is a sum, or a reason", () => {
  const answer = (account) => JSON.stringify({ data: { viewer: { accounts: [account] } } });
  const sum = (requests) => [{ sum: { requests } }];
  assert.deepEqual(usedIn(answer({ requests: sum(7), object_calls: sum(9) })), used(7, 9));
  assert.deepEqual(usedIn(answer({ requests: [], object_calls: [] })), used(0, 0));
  const refused = JSON.stringify({ data: null, errors: [{ message: "not authorized" }] });
  assert.throws(() => usedIn(refused), /not authorized/);
  assert.throws(() => usedIn(JSON.stringify({ data: { viewer: { accounts: [] } } })), /account/);
  assert.throws(() => usedIn("<html>"), SyntaxError);
});

test("health says how much is used, how old that is, and why it is not known", () => {
  const lines = (usage) => {
    const told = { period: "day", problem: null, checked_at: null, tried_at: null, ...usage };
    return usedOfPlan({ samples: [{ usage: told }] }, NOON);
  };
  const at = new Date(NOON - 600_000).toISOString();
  const known = { checked_at: at, tried_at: at };
  const verdicts = (requests) =>
    lines({ ...known, parts: parts(free, used(requests)) }).map(({ verdict }) => verdict);
  assert.deepEqual(verdicts(79_000), ["ok", "ok"]);
  assert.deepEqual(verdicts(80_000), ["look", "ok"]);
  assert.deepEqual(verdicts(95_000), ["wrong", "ok"]);
  assert.match(lines({ ...known, parts: parts(free, used(8)) })[0].figure, /8 of 100,000.*10 min/);
  const [failed] = lines({ tried_at: at, problem: "status 500", parts: [] });
  assert.deepEqual([failed.verdict, failed.remedy.startsWith("status 500")], ["look", true]);
  const [idle] = lines({ parts: [] });
  assert.deepEqual([idle.verdict, idle.figure], ["look", "never asked"]);
  assert.deepEqual(usedOfPlan({ samples: [{}] }), [], "nobody wants to know");
});

test("only a deployment with a token has a cron trigger", async () => {
  const written = async (secrets) => {
    let configuration;
    const settings = {
      account: { id: "a1" },
      zone: { id: "z1", name: "shop.example" },
      name: "waiting-room",
      adminHost: "room-admin.shop.example",
    };
    const file = (name) => name;
    const write = (_, value) => (configuration = value);
    await writeConfiguration({ settings, secrets, folder: ".", file, write }, []);
    return [configuration.triggers, configuration.vars.ACCOUNT_ID];
  };
  assert.deepEqual(await written({}), [undefined, undefined]);
  assert.deepEqual(await written({ USAGE_TOKEN: "t" }), [{ crons: [USAGE_CRON] }, "a1"]);
});
