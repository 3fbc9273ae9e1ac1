// Puts the pictures that the browser tests took of the queue page's states onto one, in docs/. Run
// `TEST_SAMPLE=all npm test -- --only browser` before: it takes them. With `--all` it puts every
// state on every screen, light and dark, from right to left and branded, onto sheets to look at.
import fs from "node:fs";
import path from "node:path";

import { launchChromium } from "../tests/harness/chromium.mjs";

const FILE = "docs/page-states.webp";
const FOLDER = "tests/artifacts";
/** The pictures row by row: the name of the file, and the caption. */
const STATES = [
  ["page-waiting-phone-light", "In line"],
  ["page-place-phone-dark", "With the place told"],
  ["page-prequeue-phone-light", "Before an event"],
  ["draw-receipt-before", "Before a draw, with receipt"],
  ["page-lottery-phone-light", "Random"],
  ["page-waiting-ar-EG", "Right to left"],
  ["page-paused-phone-light", "Queue-all"],
  ["page-full-phone-light", "Full"],
  ["page-held-phone-light", "Maintenance"],
  ["page-turned-away-phone-light", "Reject"],
  ["page-challenge-phone-light", "A challenge first"],
  ["page-infinite-phone", "Infinite queue"],
  ["page-started-phone-dark", "Event started"],
  ["draw-verified", "The draw verified"],
];
/** The sizes of the picture in pixels; a page that is longer than a phone's screen is cut. */
const LAYOUT = { columns: 7, width: 250, height: 541, gap: 18, caption: 30, source: 390 };
const QUALITY = 0.82;
const WIDE = { ...LAYOUT, columns: 4, width: 440, height: 400, source: 1_200 };
/** The sheets of `--all`: which pictures are on each, by the end or beginning of their names. */
const SHEETS = {
  "phone-light": [/^page-.+-phone-light/, LAYOUT],
  "phone-dark": [/^page-.+-phone-dark/, LAYOUT],
  "desktop-light": [/^page-.+-desktop-light/, WIDE],
  "desktop-dark": [/^page-.+-desktop-dark/, WIDE],
  "right-to-left": [/^page-.+-ar-EG/, LAYOUT],
  "branded-phone": [/^stays-branded-phone/, LAYOUT],
  "branded-desktop": [/^stays-branded-desktop/, WIDE],
};

const browser = await launchChromium();
try {
  if (process.argv.includes("--all")) {
    const taken = fs.readdirSync(FOLDER).map((file) => path.basename(file, ".png"));
    for (const [sheet, [pattern, layout]] of Object.entries(SHEETS)) {
      const names = taken.filter((name) => pattern.test(name));
      await compile(`${FOLDER}/sheet-${sheet}.png`, names.map((name) => [name, name]), layout);
    }
  } else {
    await compile(FILE, STATES, LAYOUT);
  }
} finally {
  await browser.close();
}

async function compile(file, states, layout) {
  const type = `image/${path.extname(file).slice(1)}`;
  const page = await browser.newPage();
  const pictures = states.map(([name, caption]) => {
    const bytes = fs.readFileSync(`${FOLDER}/${name}.png`);
    return { caption, url: `data:image/png;base64,${bytes.toString("base64")}` };
  });
  const url = await page.evaluate(compose, { pictures, ...layout, type, QUALITY });
  const bytes = Buffer.from(url.split(",")[1], "base64");
  fs.writeFileSync(file, bytes);
  await page.close();
  console.log(`${file}: ${pictures.length} pictures, ${Math.ceil(bytes.length / 1_000)} KB`);
}

/** Draws all pictures on one canvas and returns it as a data URL. Runs in the browser. */
async function compose({ pictures, columns, width, height, gap, caption, source, type, QUALITY }) {
  const rows = Math.ceil(pictures.length / columns);
  const canvas = document.createElement("canvas");
  canvas.width = columns * (width + gap) + gap;
  canvas.height = rows * (height + caption + gap) + gap;
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.fillStyle = "#dfe5e8";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.font = "600 15px system-ui, sans-serif";
  context.textAlign = "center";
  for (const [at, { url, caption: text }] of pictures.entries()) {
    const image = new Image();
    image.src = url;
    await image.decode();
    const left = gap + (at % columns) * (width + gap);
    const top = gap + Math.floor(at / columns) * (height + caption + gap);
    const scale = width / source;
    const shown = Math.min(image.height, height / scale);
    context.save();
    context.beginPath();
    context.roundRect(left, top, width, height, 14);
    context.clip();
    // Below a page that is shorter than the screen, the color of its corner goes on.
    context.drawImage(image, 0, image.height - 1, 1, 1, left, top, width, height);
    context.drawImage(image, 0, 0, source, shown, left, top, width, shown * scale);
    context.restore();
    context.fillStyle = "#1b262c";
    context.fillText(text, left + width / 2, top + height + 21);
  }
  return canvas.toDataURL(type, QUALITY);
}
