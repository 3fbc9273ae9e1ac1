/** Words, bill and search of `npm run rehearse`, and what flags and files make of a plan. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";

import { answerOf, duration, moment, pastText } from "../../scripts/rehearse/answer.mjs";
import { minutesIn } from "../../scripts/rehearse/arrivals.mjs";
import { billOf } from "../../scripts/rehearse/bill.mjs";
import { COLUMNS } from "../../scripts/rehearse/columns.mjs";
import { REHEARSE_FLAGS, missingIn, minutesOf, planOf } from "../../scripts/rehearse/options.mjs";
import { answerTo } from "../../scripts/rehearse/answerer.mjs";
import { areServed } from "../../scripts/rehearse/giving-up.mjs";
import { pastOf } from "../../scripts/rehearse/past.mjs";
import { searched } from "../../scripts/rehearse/search.mjs";
import {
  changedTexts,
  find,
  scaled,
  variantsOf,
  withFirst,
} from "../../scripts/rehearse/variants.mjs";

const PLAN = {
  room: { total_active_users: 300, new_users_per_minute: 100 },
  visitors: 1_000,
  arrivals: { preset: "flash_sale" },
};
const limitsOf = ({ room }) => [room.total_active_users, room.new_users_per_minute];

function outcome(changes = {}) {
  return {
    limits: { total_active_users: 300, new_users_per_minute: 100, session_duration: 5 },
    visitors: { arrived: 1_000, queued: 800, entered: 950, gave_up: 50, waiting: 0 },
    queued_wait_s: { median: 600, p95: 1_500, longest: 1_700 },
    wait_s: { p95: 1_400 },
    line_over_at_s: 47 * 60,
    longest_line: 640,
    longest_line_at_s: 300,
    over_limit: 0,
    over_rate: 0,
    told: { told_error_p50_percent: 6.4, told_error_p90_percent: 21 },
    minutes: [{ waiting: 5, inside: 120, entered: 100 }],
    ...changes,
  };
}

test("the answer says when the line is gone, how long people wait, and what holds them up", () => {
  const text = answerOf({ ...PLAN, begins_at: "12:00" }, outcome()).join(" ");
  assert.match(text, /With 100 a minute and 300 inside the line is gone at 12:47\./);
  assert.match(text, /80 of 100 have to wait\. Of those who enter, half wait more than 10 min/);
  assert.match(text, /, and nobody more than 28 minutes\. 50 give up, 5\.0 of 100\. The line /);
  const alike = outcome({ queued_wait_s: { median: 600, p95: 1_681, longest: 1_700 } });
  assert.match(answerOf(PLAN, alike).join(" "), /than 10 minutes, and nobody more than 28 min/);
  assert.match(text, /how many may enter in a minute/);
  assert.match(text, /The first shown wait is off by at most 6 % for half of them, and by at/);
  const full = outcome({ minutes: [{ waiting: 5, inside: 299, entered: 60 }] });
  assert.match(answerOf(PLAN, full).join(" "), /how many may be inside/);
  assert.match(answerOf(PLAN, outcome({ one_in: 10 })).at(-1), /^One of 10 visitors was played, /);
  const broken = answerOf(PLAN, outcome({ over_limit: 2, over_rate: 3 })).slice(-2);
  assert.match(broken[0], /^At one moment 302 are inside, 2 too many \(.*known limits\)\.$/);
  assert.match(broken[1], /^Within a minute 3 too many enter/);
  const calm = outcome({ visitors: { ...outcome().visitors, queued: 0 } });
  assert.match(answerOf(PLAN, calm).join(" "), /nobody waits/);
});

test("waits are said of those who entered, from the start, and not where nobody did", () => {
  const opened = answerOf(PLAN, outcome({ opens_at_s: 36_000 })).join(" ");
  assert.match(opened, /Of those who enter, half wait more than 10 minutes from the start, 5 of/);
  const none = outcome({
    visitors: { arrived: 13, queued: 13, entered: 0, gave_up: 13, waiting: 0 },
    queued_wait_s: { median: 0, p95: 0, longest: 0 },
    told: { told_error_p50_percent: 0, told_error_p90_percent: 0 },
  });
  const text = answerOf(PLAN, none).join(" ");
  assert.match(text, /100 of 100 have to wait, and none of them enters\. 13 give up, 100\.0 of/);
  assert.doesNotMatch(text, /\b0 s|off by/);
  const waits = COLUMNS.filter(([head]) => /wait|over/.test(head));
  const cells = waits.map(([, cell]) => cell({ outcome: none }));
  assert.deepEqual(cells, ["none enters", "none enters", "none enters"]);
  const one = outcome({ visitors: { ...outcome().visitors, gave_up: 1 } });
  assert.match(answerOf(PLAN, one).join(" "), / 1 gives up, 0\.1 of 100\./);
});

test("the answer says when the stock is gone and how many wait then, or that it never is", () => {
  const minutes = [
    { entered: 100, waiting: 640, inside: 100 },
    { entered: 60, waiting: 1, inside: 160 },
    { entered: 790, waiting: 0, inside: 250 },
  ];
  const says = (stock, visitors = outcome().visitors) => {
    const plan = { ...PLAN, begins_at: "12:20", stock };
    return answerOf(plan, outcome({ minutes, visitors })).join(" ");
  };
  const tell = "Tell them that it is sold out.";
  const waits = (wait) => `: then at most ${wait}. ${tell} `;
  assert.ok(says(100).includes(` The 100th enters at 12:20${waits("640 still wait")}`));
  assert.ok(says(101).includes(` The 101st enters at 12:21${waits("1 still waits")}`));
  assert.ok(says(950).includes(" The 950th enters at 12:22: then nobody waits. "));
  const never = "Sold out is never reached: 950 enter, and 1,000 may.";
  assert.ok(says(1_000).includes(` ${never} `));
  assert.ok(says(1_000, { ...outcome().visitors, queued: 0 }).endsWith(never));
  for (const none of [undefined, null]) assert.doesNotMatch(says(none), /sold out|12:2\d: then/i);
});

test("a stock is a whole number, told with what else is wrong, and no simulator sees it", () => {
  const asked = [];
  const simulator = (wrong) => ({
    check(text) {
      if (asked.push(text) && wrong) throw new Error(wrong);
      return [90, 9];
    },
  });
  const answer = (stock, wrong) =>
    answerTo({ plan: { ...PLAN, stock }, onlyCheck: true }, simulator(wrong), () => {});
  const refused = "stock: must be a whole number from 1";
  for (const stock of [0, -5, 1.5, "5000", true]) assert.deepEqual(answer(stock).wrong, refused);
  assert.deepEqual(answer(0, "seed: is wrong").wrong, `seed: is wrong\n${refused}`);
  for (const stock of [undefined, null, 1, 5_000]) assert.equal(answer(stock).expected.played, 9);
  assert.deepEqual(new Set(asked), new Set([JSON.stringify(PLAN)]));
});

test("settings of a room that change nothing in a rehearsal are named as left out", () => {
  const calm = outcome({ visitors: { ...outcome().visitors, queued: 0 } });
  const named = (room, of = outcome()) =>
    answerOf({ ...PLAN, room: { ...PLAN.room, ...room } }, of).filter((one) => /^Left/.test(one));
  const commands = "Left out: enabled_origin_commands, since the site ends no session here.";
  const groups = "Left out: invitation_groups, since nobody has an invitation here.";
  assert.deepEqual(named({ enabled_origin_commands: ["revoke"] }), [commands]);
  for (const more of [{}, { enters: "first" }, { enters: "share", one_in: 4 }]) {
    assert.deepEqual(named({ invitation_groups: [{ name: "members", ...more }] }), [groups]);
  }
  const both = { enabled_origin_commands: ["revoke"], invitation_groups: [{ name: "members" }] };
  assert.deepEqual(named(both, calm), [commands, groups]);
  const inTurn = [{ name: "members", enters: "in_turn" }];
  assert.deepEqual(named({ enabled_origin_commands: [], invitation_groups: inTurn }), []);
});

test("the answer says how many of those inside are on the site, where that is known", () => {
  const says = ({ plan = {}, room = {}, session = 5, minutes = 8 } = {}) => {
    const full = Array.from({ length: minutes }, () => ({ waiting: 9, inside: 299, entered: 35 }));
    const of = outcome({
      limits: { ...outcome().limits, session_duration: session },
      minutes: [{ waiting: 9, inside: 100, entered: 100 }, ...full],
      most_inside: 300,
    });
    const asked = { ...PLAN, ...plan, room: { ...PLAN.room, ...room } };
    return answerOf(asked, of).filter((one) => /on the site/.test(one));
  };
  const about = (number) =>
    `Of the 300 counted as inside about ${number} are on the site at one time: ` +
    "a session counts until its end.";
  assert.deepEqual(says(), [about(140)]);
  assert.deepEqual(says({ plan: { on_site: { minutes: 1.5 } } }), [about(53)]);
  // Not full for two visits, sessions that end during visits, more than are inside.
  assert.deepEqual(says({ minutes: 7 }), []);
  assert.deepEqual(says({ room: { disable_session_renewal: true } }), []);
  assert.deepEqual(says({ session: 1 }), []);
  assert.deepEqual(says({ plan: { on_site: { page_every_seconds: 100 } } }), []);
  assert.deepEqual(says({ plan: { on_site: { minutes: 10 } }, minutes: 30 }), []);
});

test("moments and durations read as people say them", () => {
  assert.equal(moment({}, 47 * 60), "in minute 48");
  assert.equal(moment({ begins_at: "23:30" }, 3_600), "at 00:30, 1 day later");
  assert.deepEqual([45, 600, 9_000].map(duration), ["45 s", "10 minutes", "2 h 30 min"]);
});

test("the bill is what the prices ask, and says where the plan includes it", () => {
  const cost = { page_views: 2e6, calls: 4e5, registry_calls: 1e5, awake_ms: 1e6, rows: 0 };
  const bill = billOf({ cost });
  assert.ok(bill.isIncluded);
  // 2 million requests at 0.30 and their CPU time at 0.02, half a million calls at 0.15.
  assert.ok(Math.abs(bill.rows[0].usd - 0.64) < 1e-9);
  assert.ok(Math.abs(bill.rows[1].usd - 0.075) < 1e-9);
  assert.ok(!billOf({ cost: { ...cost, calls: 2e6 } }).isIncluded);
});

test("limits beside each other: those that are named, else half as much again and twice", () => {
  const check = (limits, visitors, want) =>
    assert.deepEqual(variantsOf(PLAN, limits, visitors).map(limitsOf), want);
  check({}, 1_000, [
    [300, 100],
    [450, 150],
    [600, 200],
  ]);
  check({}, 1_000_000, [[300, 100]]);
  const most = 2_147_483_647;
  check({ inside: [most], perMinute: [most] }, 1_000, [[most, most]]);
  check({ perMinute: [100, 200] }, 1_000_000, [
    [300, 100],
    [300, 200],
  ]);
  check({ inside: [50, 400], perMinute: [100] }, 10, [
    [50, 50],
    [400, 100],
  ]);
});

test("a limit that is played otherwise than it is named is told, the same is played once", () => {
  const few = { ...PLAN, room: { total_active_users: 15, new_users_per_minute: 15 } };
  const check = (plan, limits, plays, want) => {
    assert.deepEqual(variantsOf(plan, limits, 9).map(limitsOf), plays);
    assert.deepEqual(changedTexts(plan, limits), want);
  };
  const why = "no more may enter in a minute than may be inside";
  const cut = `--limit 15 with --per-minute 16 is played as 15 a minute and 15 inside: ${why}.`;
  check(few, { inside: [15], perMinute: [15, 16] }, [[15, 15]], [cut]);
  const lower = `--limit 50 is played as 50 a minute and 50 inside: ${why}.`;
  const limits = [
    [400, 100],
    [50, 50],
  ];
  check(PLAN, { inside: [400, 50] }, limits, [lower]);
  const raised = `--per-minute 500 is played as 500 a minute and 500 inside: ${why}.`;
  const rates = [
    [300, 100],
    [500, 500],
  ];
  check(PLAN, { perMinute: [100, 500] }, rates, [raised]);
  assert.deepEqual(changedTexts(PLAN, {}), []);
});

test("limits are played in whatever order they are named, and a plan's own are not mended", () => {
  const check = (options, first, want, told) => {
    const { plan, limits } = planOf(options, PLAN);
    assert.deepEqual(limitsOf(withFirst(plan, limits)), first);
    assert.deepEqual(variantsOf(plan, limits, 9).map(limitsOf), want);
    assert.equal(changedTexts(plan, limits).length, told);
  };
  const [few, many, fast] = [
    [50, 50],
    [400, 100],
    [500, 500],
  ];
  check({ limit: "50,400" }, few, [few, many], 1);
  check({ limit: "400,50" }, many, [many, few], 1);
  check({ "per-minute": "500,100" }, fast, [fast, [300, 100]], 1);
  check({ "per-minute": "100,500" }, [300, 100], [[300, 100], fast], 1);
  const wrong = { ...PLAN, room: { total_active_users: 50, new_users_per_minute: 100 } };
  const { plan, limits } = planOf({}, wrong);
  assert.deepEqual(limitsOf(withFirst(plan, limits)), [50, 100]);
});

test("the search finds the smallest limits that do, and says where none does", async () => {
  // 95 of 100 wait so long as 3,000 enter at the rate.
  const play = async (plans) =>
    plans.map(({ room }) => ({
      wait_s: { p95: (3_000 / room.new_users_per_minute) * 60 },
      visitors: { arrived: 1_000, queued: 900, entered: 955, gave_up: 45, waiting: 0 },
    }));
  const { plan } = await find(PLAN, 10 * 60, play);
  assert.ok(plan.room.new_users_per_minute >= 300, JSON.stringify(plan.room));
  assert.ok(plan.room.new_users_per_minute <= 307, JSON.stringify(plan.room));
  const none = await find(PLAN, 1, play);
  assert.deepEqual([none.isEnough, limitsOf(none.plan)], [false, [300 * 64, 100 * 64]]);
  const { plan: few } = await find(scaled(PLAN, 16), 60 * 60, play);
  assert.ok(few.room.new_users_per_minute >= 50 && few.room.new_users_per_minute <= 52);
});

test("whoever gives up in line was not served; whoever leaves at once is not counted", () => {
  const waits = { median: 60, p75: 90, p90: 110, p95: 120, p99: 130, longest: 140 };
  const are = (visitors, giving, waitS) => {
    const came = { visitors: { waiting: 0, ...visitors }, wait_s: waits };
    return areServed({ giving_up: giving }, came, waitS);
  };
  const usual = { at_once_percent: 5, after_minutes: 10 };
  // Of 1,000 in line 50 leave at once, so that 30 of the 80 give up later, and 40 of the 90.
  const most = { queued: 1_000, entered: 920, gave_up: 80 };
  assert.deepEqual([are(most, usual, 129), are(most, usual, 130)], [false, true]);
  const fewer = { queued: 1_000, entered: 910, gave_up: 90 };
  assert.deepEqual([are(fewer, usual, 130), are(fewer, usual, 140)], [false, true]);
  assert.ok(!are({ queued: 1_986, entered: 474, gave_up: 1_512 }, usual, 1_200));
  // Where nobody gives up later, however many leave at once.
  const leave = { at_once_percent: 50, after_minutes: null };
  assert.ok(are({ queued: 1_000, entered: 480, gave_up: 520 }, leave, 120));
  assert.ok(!are({ queued: 10, entered: 0, gave_up: 10 }, leave, 120));
  assert.ok(!are({ ...most, waiting: 1 }, leave, 140));
});

test("the words of a search say within how long people enter, and how many give up", async () => {
  const visitors = { arrived: 1_000, queued: 900, entered: 955, gave_up: 45, waiting: 0 };
  const wait_s = { p95: 500, longest: 500 };
  const cost = { page_views: 1, calls: 1, registry_calls: 1, awake_ms: 1, rows: 0 };
  const play = async (plans) =>
    plans.map(({ room }) => outcome({ limits: room, visitors, wait_s, cost, opens_at_s: 600 }));
  const found = await searched(PLAN, 10, play, () => {});
  assert.match(
    found.says,
    /^So that, of those who do not leave at once, 95 of 100 enter within 10 min from the start: 2 /,
  );
  assert.match(found.says, /: 2 a minute and 5 inside\. With these 45 give up, 4\.5 of 100\.$/);
  const none = await searched(PLAN, 5, play, () => {});
  assert.match(none.says, /^No limits up to 64 times the plan's do it: of those who/);
  assert.match(none.says, /\. With 6,400 a minute and 19,200 inside 45 give up, 4\.5 of 100\.$/);
  assert.equal(none.play, undefined);
});

test("flags change a plan, and a CSV is read by its last column", () => {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "rehearse-")), "arrivals.csv");
  fs.writeFileSync(file, "minute,visitors\n12:00,40\n12:01,15\n");
  assert.deepEqual(minutesOf(file), [40, 15]);
  const options = { arrivals: file, "per-minute": "60,80", "minutes-on-site": "7", stock: "5" };
  const { plan, limits } = planOf(options, PLAN);
  assert.deepEqual(plan.arrivals, { per_minute: [40, 15] });
  assert.deepEqual([plan.on_site.minutes, plan.stock, limitsOf(plan)], [7, 5, [300, 60]]);
  assert.deepEqual(limits, { inside: [], perMinute: [60, 80] });
});

test("flags that would change nothing are refused, with those that they need", () => {
  const room = "shop";
  const alone = "too: alone it would change nothing";
  const needs = (options) => missingIn({ "from-history": false, ...options });
  assert.equal(needs({ event: "drop" }), `--event needs --room <name> ${alone}`);
  assert.equal(needs({ "from-history": true }), `--from-history needs --room <name> ${alone}`);
  assert.equal(needs({ room, from: "now" }), `--from needs --from-history ${alone}`);
  assert.equal(needs({ until: "now" }), `--until needs --room <name> and --from-history ${alone}`);
  assert.equal(needs({ room, event: "drop" }), undefined);
  assert.equal(needs({ room, "from-history": true, from: "a", until: "b" }), undefined);
});

test("the manual and the help know the same flags", () => {
  const manual = fs.readFileSync("docs/rehearsal.md", "utf8");
  const told = new Set(manual.match(/(?<=[\s`])--[a-z][a-z-]*/g));
  const flags = REHEARSE_FLAGS.map(([name]) => `--${name}`).filter((flag) => flag !== "--help");
  assert.deepEqual([...told].sort(), flags.sort());
});

test("wrong flags are refused before anything is played", () => {
  const plan = ["--limit", "5", "--preset", "flash-sale", "--visitors", "9", "--no-build"];
  const wrong = [
    ["--find", "0"],
    ["--find", "soon"],
    ["--find", ""],
    ["--event", "drop"],
  ];
  for (const flags of wrong) {
    const parameters = ["scripts/rehearse.mjs", ...plan, ...flags];
    const { status, stdout, stderr } = spawnSync("node", parameters, { encoding: "utf8" });
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(stderr, new RegExp(`^\\n  ${flags[0]} (must be a whole number|needs --room)`));
  }
});

test("a CSV says whole numbers, with thousands in quotation marks, and a heading or none", () => {
  const check = (text, want) => assert.deepEqual(minutesIn(text), want, text);
  check("\uFEFF40\r\n\r\n15\r\n", [40, 15]);
  check('minute,visitors\n12:00,"1,200"\n12:01,"1,234,567"\n', [1_200, 1_234_567]);
  check('"1,200"\n"900"\n', [1_200, 900]);
  check('"minute, local";"visitors"\n"27.11., 12:00";"40"\n12:01;15', [40, 15]);
  check('minute\tvisitors\n12:00\t"2,500"\n12:01\t0', [2_500, 0]);
  check("shop,1,40\nshop,2,15\n", [40, 15]);
});

test("a CSV that could be read in two ways is refused, with line and reason", () => {
  const check = (text, want) => assert.throws(() => minutesIn(text), want, text);
  const noNumber = /^Error: line 3 is .*, but its last column must be a whole number of visitors/;
  for (const cell of ["1.200", "1 200", '"1.200"', '"12,00"', '"0,200"', "1e3", "-3", "", "n/a"]) {
    check(`minute,visitors\n12:00,40\n12:01,${cell}\n`, noNumber);
  }
  check('minute;visitors\n12:00;40\n12:01;"1,200"', noNumber);
  check("minute;visitors\n\n12:01;1,200", noNumber);
  check("minute,visitors\n\n12:01,1,200", /line 3 is .*as many columns as line 1, and has 3/);
  check('12:00,40\n12:01,"1,200\n', /line 2 is 12:01,"1,200, but must close its quotation marks/);
  check("12:00,40\n12:01,15\nTotal,55\n", /line 3 is Total,55, but must name its minute/);
  check("12:00,40\n12:01,15\n,55\n", /line 3 is ,55, but must name its minute/);
  // A first line that is no heading is not left out as one.
  check("12:00,1.200\n12:01,40\n", /line 1 is 12:00,1\.200, but its last column/);
  check("12:00,n/a\n12:01,40\n", /line 1 is 12:00,n\/a, but its last column/);
  check("minute,visitors\n", /has no line with a number/);
  check("\n", /has no line with a number/);
});

test("each line of a CSV is the minute after the one before it", () => {
  const fileOf = (names) => names.map((name) => `${name},7\n`).join("");
  const passes = (...names) =>
    assert.deepEqual(minutesIn(fileOf(names)), names.map(() => 7), `${names}`);
  const refused = (why, ...names) => assert.throws(() => minutesIn(fileOf(names)), why, `${names}`);
  passes("23:58", "23:59", "00:00");
  passes("9:59:30", "10:00:30");
  passes("11:59 AM", "12:00 PM", "12:01 pm");
  passes("2026-11-29T23:59Z", "2026-11-30T00:00Z");
  passes("29.11.2026 12:00", "29.11.2026 12:01");
  passes("2026-11-29,23:59", "2026-11-30,00:00");
  passes("2026-10-25T02:59+02:00", "2026-10-25T02:00+01:00");
  // The hour that daylight saving repeats or leaves out, in the night and once.
  const hour = Array.from({ length: 60 }, (_, minute) => `02:${`${minute}`.padStart(2, "0")}`);
  passes(...hour, ...hour, "03:00");
  passes("2026-03-29 01:59", "2026-03-29 03:00");
  refused(/^Error: line 121 is 59 minutes before line 120;/, ...hour, ...hour, ...hour);
  refused(/^Error: line 2 is 61 minutes after line 1;/, "11:59", "13:00");
  refused(/^Error: line 2 is 61 minutes after/, "2026-03-29T01:59Z", "2026-03-29T03:00Z");
  // Hours, days, five minutes, gaps, the same minute twice, the last minute first.
  refused(/^Error: line 2 is 60 minutes after line 1; each .* with 0 /, "10:00", "11:00");
  refused(/^Error: line 2 is 60 minutes after/, "2026-11-29 10:00", "2026-11-29 11:00");
  refused(/^Error: line 2 is 1440 minutes after line 1;/, "2026-11-29", "2026-11-30");
  refused(/^Error: line 3 is 5 minutes after line 2;/, "12:00", "12:01", "12:06");
  refused(/^Error: line 2 is the same minute as line 1;/, "12:00", "12:00");
  refused(/^Error: line 2 is 1 minute before line 1;/, "12:02", "12:01");
  refused(/^Error: line 2 is 30 s after line 1;/, "12:00:00", "12:00:30");
  passes("7", "8", "9");
  refused(/^Error: line 3 is number 7 and line 2 number 5;/, "4", "5", "7");
  refused(/^Error: line 2 is number 100 and line 1 number 200;/, "200", "100");
  // Seconds, digits alone, hours and minutes in two columns, spans.
  passes("1795258800", "1795258860");
  refused(/^Error: line 2 is number 1795262400 and/, "1795258800", "1795262400");
  passes("1759", "1800");
  passes("202611271759", "202611271800");
  passes("17,58", "17,59", "18,0");
  passes("18:00-18:01", "18:01-18:02");
  refused(/^Error: line 2 is 60 minutes after/, "10:00-11:00", "11:00-12:00");
  // What names no minute is taken as it comes.
  passes("shop 1", "shop 2", "shop 4");
  passes("2026-13-45", "2026-13-47");
});

test("a history becomes arrivals minute by minute, a stay and a patience", () => {
  const columns = [
    ...["datetime", "entered", "entered_after_waiting", "joined_line", "left_line"],
    ...["stayed_seconds_p50", "stays_measured", "waited_seconds_p50", "waits_measured"],
    ...["told_error_percent_p50", "told_errors_measured"],
  ];
  const rows = [
    ["2026-11-25T10:00:00Z", 5, 0, 3, 0, 120, 2, null, 0, null, 0],
    ["2026-11-25T10:02:00Z", 9, 4, 6, 3, 240, 6, 300, 4, 12, 4],
  ];
  const past = pastOf({ columns, rows });
  assert.deepEqual(past.arrivals.per_minute, [8, 0, 11]);
  assert.equal(past.on_site.minutes, 3.5);
  // A third has given up, half waited 5 min.
  assert.ok(Math.abs(past.giving_up.after_minutes - 5 / -Math.log(2 / 3)) < 1e-9);
  assert.equal(past.past.told_error_percent, 12);
  assert.match(pastText(past.past), /half waited over 5 minutes, 33\.3 of 100 gave up, .* 12 %/);
  assert.equal(pastOf({ columns, rows: [] }), undefined);
});
