// Takes the pictures in docs/ from the built Worker: the queue page on a desktop and on a phone.
import fs from "node:fs";

import { PHONE, Arena } from "../tests/harness/browser-test.mjs";
import { launchChromium } from "../tests/harness/chromium.mjs";
import { startCluster } from "../tests/harness/cluster.mjs";
import { Crowd } from "../tests/harness/crowd.mjs";
import { localRoom } from "../tests/harness/rooms.mjs";

const FILE = "docs/queue-page.png";
/** How many wait before the visitor on the picture; one enters per minute. */
const AHEAD = 12;
/** How long it takes the aggregators to count everybody who waits, in milliseconds. */
const COUNTED_MS = 15_000;
/** Both screens are drawn at the size at which they are shown: shrunk they would be blurred. */
const PHONE_SCREEN = { ...PHONE, colorScheme: "dark", deviceScaleFactor: 0.72 };
const DESKTOP_SCREEN = {
  viewport: { width: 1180, height: 780 },
  colorScheme: "light",
  deviceScaleFactor: 0.85,
};
/** Both screens on one picture, the phone over a corner of the desktop. */
const LAYOUT = `<!doctype html><style>
  body { margin: 0; width: 1160px; height: 700px; position: relative }
  img { position: absolute }
  .desktop { left: 1px; top: 1px; border-radius: 10px; outline: 1px solid #9aa7ae }
  .phone { right: 6px; bottom: 6px; border-radius: 22px; outline: 6px solid #2b3439 }
</style>`;

const shop = localRoom({
  name: "shop",
  refresh_interval_seconds: 20,
  near_head_refresh_interval_seconds: 20,
});
const cluster = await startCluster({ rooms: [shop] });
const browser = await launchChromium();
try {
  const arena = new Arena(cluster, browser);
  const crowd = new Crowd(cluster, { count: 1 + AHEAD, host: shop.host });
  await crowd.arrive();
  await crowd.wait(COUNTED_MS);
  const desktop = await picture(arena, DESKTOP_SCREEN);
  const phone = await picture(arena, PHONE_SCREEN);
  await compose({ desktop, phone });
} finally {
  await browser.close();
  await cluster.stop();
}
console.log(`${FILE}: ${Math.ceil(fs.statSync(FILE).size / 1_000)} KB`);

async function picture(arena, context) {
  const visitor = await arena.visitor({ room: shop, context });
  await visitor.come();
  // By then the bar of the countdown has moved.
  await visitor.page.waitForTimeout(4_000);
  return visitor.page.screenshot();
}

async function compose(pictures) {
  const page = await browser.newPage({ viewport: { width: 1160, height: 700 } });
  const images = Object.entries(pictures).map(
    ([name, png]) => `<img class="${name}" src="data:image/png;base64,${png.toString("base64")}">`,
  );
  await page.setContent(LAYOUT + images.join(""));
  await page.screenshot({ path: FILE, omitBackground: true });
}
