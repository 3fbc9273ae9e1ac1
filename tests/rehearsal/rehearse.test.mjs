/**
 * `npm run rehearse` as an owner runs it: the example from nothing to an opened report, wrong
 * plans, a search, the release folder without Rust; and the cockpit's screen *Rehearse* with the
 * same simulator. One file: the first test builds what the others use.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import zlib from "node:zlib";

import { count } from "../../scripts/rehearse/answer.mjs";
import { barriers } from "../harness/accessibility.mjs";
import { DESKTOP, PHONE, browserTest, keepScreenshot } from "../harness/browser-test.mjs";
import { chromiumMissing, launchChromium } from "../harness/chromium.mjs";
import { fitsItsWidth } from "../harness/every-language.mjs";
import { signedIn } from "../harness/owner.mjs";
import { localRoom } from "../harness/rooms.mjs";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "rehearsal-"));
const EXAMPLE = "examples/rehearsal/ticket-drop.json";
/** How far the manual may be off with the weight of the cockpit's simulator. */
const WEIGHT_ERROR_KB = 30;
/** Visitors too many, each because a last page was not reported before its isolate ended. */
const UNREPORTED_MAX = 1;
/** Longer than the page calculates on a slow machine that does much else. */
const CALCULATES_MS = 300_000;
/** The narrowest screen on which nothing may scroll sideways (WCAG 1.4.10). */
const NARROW = { width: 320, height: 640 };
const shop = localRoom({ name: "shop", total_active_users: 200, new_users_per_minute: 50 });

function rehearse(...parameters) {
  const options = { encoding: "utf8", env: { ...process.env, INIT_CWD: process.cwd() } };
  return spawnSync("node", ["scripts/rehearse.mjs", ...parameters], options);
}

const html = path.join(folder, "report.html");
const json = path.join(folder, "figures.json");

test("the example is rehearsed: an answer in words, a report, figures", () => {
  const { status, stdout, stderr } = rehearse(EXAMPLE, "--html", html, "--json", json);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /With 500 a minute and 3,000 inside the line is gone at \d\d:\d\d\./);
  const { plays } = JSON.parse(fs.readFileSync(json, "utf8"));
  assert.equal(plays.length, 3);
  const waits = plays.map(({ outcome }) => outcome.queued_wait_s.median);
  assert.ok(waits[0] > waits[1] && waits[1] > waits[2], `${waits}`);
  for (const { outcome } of plays) {
    const { over_limit: over, over_limit_unexplained: unexplained, over_rate: overRate } = outcome;
    assert.deepEqual([unexplained, overRate], [0, 0]);
    assert.ok(over <= UNREPORTED_MAX, `${over}`);
    const places = outcome.limits.total_active_users;
    const held = `Never are more than ${count(places)} inside.`;
    assert.ok(stdout.includes(over ? `At one moment ${count(places + over)} are inside` : held));
    assert.equal(outcome.visitors.entered + outcome.visitors.gave_up, outcome.visitors.arrived);
  }
});

test("a CSV of arrivals is told as it was read, or refused with its line", () => {
  const csv = path.join(folder, "arrivals.csv");
  const report = path.join(folder, "arrivals.html");
  const limits = ["--limit", "200", "--per-minute", "200", "--no-build", "--html", report];
  fs.writeFileSync(csv, 'minute,visitors\n12:00,"1,200"\n12:01,40\n');
  const read = rehearse("--arrivals", csv, ...limits);
  assert.equal(read.status, 0, read.stderr);
  assert.match(read.stdout, /^Minutes in .*arrivals\.csv: 2\. Visitors in them: 1,240\.$/m);
  fs.appendFileSync(csv, "Total,1240\n");
  const refused = rehearse("--arrivals", csv, ...limits);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /arrivals\.csv cannot be used: line 4 is Total,1240, but must name/);
});

test("the report shows it without a network, to everybody", async (context) => {
  const missing = chromiumMissing();
  if (missing && process.env.CI) throw new Error(`CI must run this test: ${missing}`);
  if (missing) return context.skip(`SKIPPED: ${missing}`);
  const browser = await launchChromium();
  try {
    for (const [name, options] of [
      ["report", { viewport: { width: 1280, height: 900 } }],
      ["report-phone", { ...PHONE, viewport: NARROW, colorScheme: "dark" }],
    ]) {
      const profile = await browser.newContext({ ...options, offline: true });
      const page = await profile.newPage();
      const errors = [];
      page.on("pageerror", ({ message }) => errors.push(message));
      page.on("request", (request) => {
        if (!request.url().startsWith("file:")) errors.push(request.url());
      });
      await page.goto(pathToFileURL(html).href);
      await page.getByRole("heading", { name: "Ticket drop at noon" }).waitFor();
      assert.equal(await page.locator(".plot canvas").count(), 6);
      await page.getByRole("button", { name: "1,000 a minute and 6,000 inside" }).click();
      await page.getByText("With 1,000 a minute and 6,000 inside").waitFor();
      await page.locator("details:not([open]) > summary").evaluateAll(openAll);
      await keepScreenshot(page, name, { fullPage: true });
      assert.deepEqual([await barriers(page), errors], [[], []]);
      assert.equal(await page.locator("table").evaluateAll(unlabelledCells), 0);
      assert.ok(await fitsItsWidth(page), `${name} scrolls sideways`);
    }
  } finally {
    await browser.close();
  }
});

const openAll = (summaries) => summaries.forEach((summary) => summary.click());

/** How many cells do not tell their column, which a narrow screen shows beside them. */
function unlabelledCells(tables) {
  const unlabelled = tables.flatMap(({ tHead, tBodies }) => {
    const heads = [...tHead.rows[0].cells].map(({ textContent }) => textContent);
    const cells = [...tBodies[0].querySelectorAll("td")];
    return cells.filter(({ cellIndex, dataset }) => dataset.label !== heads[cellIndex]);
  });
  return unlabelled.length;
}

test("no text of a plan or of a room becomes a part of the page", async (context) => {
  if (chromiumMissing()) return context.skip(`SKIPPED: ${chromiumMissing()}`);
  const title = "</script><script>document.title = 'owned'</script><img src=x onerror=alert(1)>";
  const [plan, report] = ["hostile.json", "hostile.html"].map((name) => path.join(folder, name));
  const example = JSON.parse(fs.readFileSync(EXAMPLE, "utf8"));
  fs.writeFileSync(plan, JSON.stringify({ ...example, title, visitors: 200 }));
  const { status, stderr } = rehearse(plan, "--no-build", "--html", report);
  assert.equal(status, 0, stderr);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(pathToFileURL(report).href);
    assert.equal(await page.locator("h1").innerText(), title);
    assert.equal(await page.title(), title);
    assert.equal(await page.locator("img").count(), 0);
  } finally {
    await browser.close();
  }
});

test("what is wrong with a plan is said field by field, and nothing is written", () => {
  const plan = path.join(folder, "wrong.json");
  const report = path.join(folder, "wrong.html");
  const room = { total_active_users: 0, new_users_per_minute: 5 };
  fs.writeFileSync(
    plan,
    JSON.stringify({ room, arrivals: { preset: "all_day" }, bots_percent: 200 }),
  );
  const { status, stderr } = rehearse(plan, "--no-build", "--html", report);
  assert.equal(status, 1);
  for (const field of ["room.total_active_users: ", "visitors: ", "bots_percent: "]) {
    assert.ok(stderr.includes(field), `${field} in ${stderr}`);
  }
  assert.ok(!fs.existsSync(report));
  assert.match(rehearse("--limit", "5", "--no-build").stderr, /when do they come\? Give --preset/);
});

test("the limits are found with which 95 of 100 enter within ten minutes", () => {
  const file = path.join(folder, "found.json");
  const flags = ["--visitors", "2000", "--preset", "flash-sale", "--minutes-on-site", "1"];
  const limits = ["--limit", "100", "--per-minute", "50", "--session-minutes", "1"];
  const report = ["--html", path.join(folder, "found.html"), "--json", file];
  const { status, stdout, stderr } = rehearse(
    ...flags,
    ...limits,
    "--find",
    "10",
    "--no-build",
    ...report,
  );
  assert.equal(status, 0, stderr);
  assert.match(stdout, / enter within 10 min: \d+ a minute and \d+ inside\. With these \d+ give/);
  const { found, plays } = JSON.parse(fs.readFileSync(file, "utf8"));
  assert.ok(found.play.outcome.wait_s.p95 <= 600);
  assert.ok(plays[0].outcome.wait_s.p95 > 600);
});

test("a release folder rehearses without Rust", () => {
  const root = path.join(folder, "release");
  const made = spawnSync("node", ["scripts/release.mjs", "--no-build", "--folder", root], {
    encoding: "utf8",
  });
  assert.equal(made.status, 0, made.stderr);
  const node = path.dirname(process.execPath);
  const ran = spawnSync("node", ["scripts/rehearse.mjs", EXAMPLE, "--per-minute", "500,600"], {
    cwd: root,
    encoding: "utf8",
    // Nothing of Rust is on this path.
    env: { PATH: `${node}:/usr/bin:/bin`, HOME: folder, INIT_CWD: root },
  });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /With 600 a minute and 3,000 inside the line is gone at/);
  assert.ok(fs.existsSync(path.join(root, "rehearsal.html")));
});

test("the cockpit brings the simulator once it is built", () => {
  const { status, stderr } = spawnSync("node", ["scripts/cockpit.mjs"], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const packed = zlib.gzipSync(fs.readFileSync("build/cockpit/rehearsal.js.txt"), { level: 9 });
  const page = fs.readFileSync("docs/cockpit.md", "utf8");
  const [, told] = /one file of\s(\d+) KB/.exec(page);
  const kb = packed.length / 1_024;
  assert.ok(Math.abs(kb - told) < WEIGHT_ERROR_KB, `${kb} KB, and ${told} are told`);
});

browserTest("the cockpit rehearses as the command does", { rooms: [shop] }, async (arena) => {
  for (const [name, screen] of [
    ["rehearse", DESKTOP],
    ["rehearse-phone", PHONE],
  ]) {
    const owner = await signedIn(arena, screen);
    const { page } = owner;
    const asked = [];
    await owner.open(shop);
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.getByRole("link", { name: "Rehearse" }).click();
    await page.getByLabel("How many visitors come").fill("2000");
    await page.getByLabel("Minutes on your site").fill("2");
    await page.getByLabel("Time of day of the first arrivals").fill("11:30");
    await owner.button("Rehearse").click();
    await owner.heading("What came of it").waitFor({ timeout: CALCULATES_MS });
    await owner.reads(/^With 50 a minute and 200 inside the line is gone at \d\d:\d\d\.$/);
    assert.equal(await page.locator("table.rehearsed tbody tr").count(), 3);
    await owner.button("100 a minute and 400 inside").click();
    await owner.reads(/^With 100 a minute and 400 inside the line is gone at/);
    await owner.looks(name);
    assert.ok(asked.includes("/_waiting-room/rehearsal.js"));
    await saysAsTheCommand(page);
    assert.deepEqual(owner.complaints, []);
  }
});

browserTest("the cockpit searches limits, on another day", { rooms: [shop] }, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await owner.open(shop);
  await page.getByRole("link", { name: "Rehearse" }).click();
  await page.getByLabel("How many visitors come").fill("1000");
  await page.getByLabel("Search limits").fill("5");
  await page.getByLabel("Another day of the same kind").fill("1.5");
  await owner.button("Rehearse").click();
  await page.locator("[aria-invalid]").waitFor();
  await page.getByLabel("Another day of the same kind").fill("7");
  await owner.button("Rehearse").click();
  await owner.heading("What came of it").waitFor({ timeout: CALCULATES_MS });
  await owner.reads(/^So that.* enter within 5 min: \d+ a minute and \d+ inside\. With these /);
  assert.equal(await page.locator("table.rehearsed tbody tr").count(), 4);
  await owner.looks("rehearse-found");
  const { plan, found } = await offered(page);
  assert.equal(plan.seed, 7);
  assert.ok(found.play.outcome.wait_s.p95 <= 300);
  assert.deepEqual(owner.complaints, []);
});

/** What the report that the cockpit offers was made of. */
async function offered(page) {
  const coming = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download the report" }).click();
  const download = await coming;
  assert.equal(download.suggestedFilename(), "rehearsal-shop.html");
  const report = fs.readFileSync(await download.path(), "utf8");
  const [, written] = /id="rehearsal">(.*?)<\/script>/.exec(report);
  return JSON.parse(written);
}

/** The report that the cockpit offers has what the command says of the same plan. */
async function saysAsTheCommand(page) {
  const { plan, plays } = await offered(page);
  const { total_active_users: inside, new_users_per_minute: perMinute } = plan.room;
  assert.deepEqual([inside, perMinute, plan.visitors, plan.begins_at], [200, 50, 2000, "11:30"]);
  const [same, figures] = ["same.json", "same-figures.json"].map((one) => path.join(folder, one));
  fs.writeFileSync(same, JSON.stringify(plan));
  const files = ["--html", path.join(folder, "same.html"), "--json", figures];
  const { status, stderr } = rehearse(same, "--no-build", ...files);
  assert.equal(status, 0, stderr);
  assert.deepEqual(plays, JSON.parse(fs.readFileSync(figures, "utf8")).plays);
}
