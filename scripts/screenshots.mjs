// Takes the pictures in docs/ from the built Worker: the queue page and the cockpit, each on a
// desktop and on a phone, and the report of a rehearsal.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { PHONE, Arena } from "../tests/harness/browser-test.mjs";
import { launchChromium } from "../tests/harness/chromium.mjs";
import { startCluster } from "../tests/harness/cluster.mjs";
import { Crowd } from "../tests/harness/crowd.mjs";
import { signedIn } from "../tests/harness/owner.mjs";
import { localRoom } from "../tests/harness/rooms.mjs";
import { HELP, readFlags } from "./usage.mjs";

/** How many wait before the visitor on the picture; one enters per minute. */
const AHEAD = 12;
/** How many come to the sale that the cockpit shows, and how many of them it holds. */
const COMING = 290;
const PLACES = 200;
/** How long it takes the aggregators to count everybody who waits, in milliseconds. */
const COUNTED_MS = 15_000;
/** Both screens are drawn at the size at which they are shown: shrunk they would be blurred. */
const PHONE_SCREEN = { ...PHONE, colorScheme: "dark", deviceScaleFactor: 0.72 };
const DESKTOP_SCREEN = {
  viewport: { width: 1280, height: 846 },
  colorScheme: "light",
  deviceScaleFactor: 0.784,
};
/** Both screens on one picture, the phone over a corner of the desktop. */
const LAYOUT = `<!doctype html><style>
  body { margin: 0; width: 1160px; height: 700px; position: relative }
  img { position: absolute }
  .desktop { left: 1px; top: 1px; border-radius: 10px; outline: 1px solid #9aa7ae }
  .phone { right: 6px; bottom: 6px; border-radius: 22px; outline: 6px solid #2b3439 }
</style>`;

readFlags("screenshots", [HELP], process.argv.slice(2), { page: "docs/recipes.md" });
const shop = localRoom({
  name: "shop",
  refresh_interval_seconds: 20,
  near_head_refresh_interval_seconds: 20,
});
const sale = localRoom({
  name: "sale",
  total_active_users: PLACES,
  new_users_per_minute: PLACES,
  session_duration: 5,
});
const cluster = await startCluster({ rooms: [shop, sale] });
const browser = await launchChromium();
try {
  const arena = new Arena(cluster, browser);
  const crowd = new Crowd(cluster, { count: 1 + AHEAD, host: shop.host });
  await crowd.arrive();
  await crowd.wait(COUNTED_MS);
  await composeBoth("docs/queue-page.png", (screen) => queuePage(arena, screen));
  const buyers = new Crowd(cluster, { count: COMING, host: sale.host });
  await buyers.arrive();
  await composeBoth("docs/cockpit.png", async (screen) => {
    await buyers.wait(COUNTED_MS);
    return cockpit(arena, { ...screen, reducedMotion: "reduce" });
  });
  await report("docs/rehearsal.png");
} finally {
  await browser.close();
  await cluster.stop();
}

async function queuePage(arena, context) {
  const visitor = await arena.visitor({ room: shop, context });
  await visitor.come();
  // By then the bar of the countdown has moved.
  await visitor.page.waitForTimeout(4_000);
  return visitor.page.screenshot();
}

async function cockpit(arena, context) {
  const owner = await signedIn(arena, context);
  await owner.open(sale);
  await owner.reads(new RegExp(`^${PLACES} / ${PLACES}`));
  await owner.page.evaluate(() => document.activeElement.blur());
  return owner.page.screenshot();
}

/** The upper part of what the example's rehearsal says. */
async function report(file) {
  const page = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "rehearsal-")), "report.html");
  const example = "examples/rehearsal/ticket-drop.json";
  const parameters = ["scripts/rehearse.mjs", example, "--html", page];
  const { status } = spawnSync("node", parameters, { stdio: "inherit" });
  if (status !== 0) throw new Error(`the rehearsal ended with ${status}`);
  const viewport = { width: 1160, height: 1_120 };
  const tab = await (await browser.newContext({ viewport, colorScheme: "light" })).newPage();
  await tab.goto(pathToFileURL(page).href);
  await tab.locator(".plot canvas").last().waitFor();
  await tab.screenshot({ path: file });
}

async function composeBoth(file, picture) {
  const desktop = await picture(DESKTOP_SCREEN);
  await compose(file, { desktop, phone: await picture(PHONE_SCREEN) });
  console.log(`${file}: ${Math.ceil(fs.statSync(file).size / 1_000)} KB`);
}

async function compose(file, pictures) {
  const page = await browser.newPage({ viewport: { width: 1160, height: 700 } });
  const images = Object.entries(pictures).map(
    ([name, png]) => `<img class="${name}" src="data:image/png;base64,${png.toString("base64")}">`,
  );
  await page.setContent(LAYOUT + images.join(""));
  await page.screenshot({ path: file, omitBackground: true });
}
