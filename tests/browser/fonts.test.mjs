/**
 * What draws the texts of the queue page: the fonts of the reader's system, chosen by the language
 * of the page, with lines that do not touch. The page brings no font. What needs fonts says so.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { PHONE, browserTest } from "../harness/browser-test.mjs";
import { fitsItsWidth } from "../harness/every-language.mjs";
import { RARE_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const FOLDER = path.join(ROOT, "templates", "languages");
const TAGS = fs.readdirSync(FOLDER).map((name) => path.basename(name, ".json"));
const PACKAGES = "Debian: apt-get install fonts-noto-core fonts-noto-cjk";
/** Who writes Chinese characters, and the ends of the names of fonts that draw them that way. */
const HAN = { "ja-JP": "JP", "ko-KR": "KR", "zh-CN": "SC", "zh-TW": "TC" };
const CJK_FONT = / CJK (JP|KR|SC|TC|HK)$/;
/** Languages with marks above and below their letters, and those of `HAN`. */
const LOOKED_AT = ["ar-EG", "fa-IR", "hi-IN", "th-TH", "vi-VN", ...Object.keys(HAN)];
const TEXTS = "h1, .facts strong, .facts span, .way, .next, li, summary, button";
const NARROW = { width: 320, height: 568 };

const shop = localRoom({ name: "fonts", show_position: true, ...RARE_CHECK_INS });
const options = { rooms: [shop] };
const inChinese = { ...options, browser: { env: { LANG: "zh_CN.UTF-8", LANGUAGE: "zh_CN" } } };

/** A visitor whose browser asks for the page in a language. */
async function waits(arena, tag, context = PHONE) {
  const visitor = await arena.visitor({ room: shop, context: { ...context, locale: tag } });
  await visitor.come();
  assert.equal(await visitor.page.evaluate(() => document.documentElement.lang), tag);
  return visitor;
}

const name = "a system in Chinese draws no other language's characters as Chinese ones";
browserTest(name, inChinese, async (arena) => {
  await visitorInside(arena.cluster, shop);
  for (const [tag, end] of Object.entries(HAN)) {
    const visitor = await waits(arena, tag);
    const chosen = await visitor.page.locator(TEXTS).evaluateAll((found) =>
      found.map((element) => getComputedStyle(element).fontFamily));
    assert.deepEqual([...new Set(chosen)], ["sans-serif"], tag);
    if (hasFontFor(tag)) {
      const drawn = (await fontsOf(visitor.page)).filter((font) => CJK_FONT.test(font));
      assert.ok(drawn.every((font) => font.endsWith(` ${end}`)), `${tag}: ${drawn}`);
    }
    await visitor.leave();
  }
});

browserTest("no line touches another, and none is cut", options, async (arena) => {
  await visitorInside(arena.cluster, shop);
  for (const tag of LOOKED_AT) {
    const visitor = await waits(arena, tag);
    const { page } = visitor;
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await visitor.keepScreenshot(`fonts-${tag}-${colorScheme}`, { fullPage: true });
    }
    await page.setViewportSize(NARROW);
    await visitor.keepScreenshot(`fonts-${tag}-narrow`, { fullPage: true });
    assert.ok(await fitsItsWidth(page), `${tag} scrolls sideways`);
    assert.deepEqual(await page.locator(TEXTS).evaluateAll(highLines), [], tag);
    await visitor.leave();
  }
});

browserTest("each letter of each language is in a font", options, async ({ browser }) => {
  const page = await browser.newPage();
  for (const tag of TAGS) {
    if (!hasFontFor(tag)) {
      console.log(`# no font for ${tag} on this machine (${PACKAGES})`);
      continue;
    }
    const texts = Object.values(JSON.parse(fs.readFileSync(path.join(FOLDER, `${tag}.json`))));
    const letters = [...new Set(texts.join("").match(/[\p{L}\p{N}\p{P}]/gu))];
    assert.deepEqual(await page.evaluate(boxesAmong, letters), [], tag);
  }
});

/** Whether this machine has a font that says it is for the language. */
function hasFontFor(tag) {
  const [language] = tag.split("-");
  const lang = language === "zh" ? tag : language;
  const { stdout } = spawnSync("fc-list", [`:lang=${lang}`, "family"], { encoding: "utf8" });
  return Boolean(stdout?.trim());
}

/** The names of all fonts that draw something on the page. */
async function fontsOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("DOM.enable");
  await session.send("CSS.enable");
  const { root } = await session.send("DOM.getDocument");
  const all = { nodeId: root.nodeId, selector: "main *" };
  const { nodeIds } = await session.send("DOM.querySelectorAll", all);
  const used = [];
  for (const nodeId of nodeIds) {
    const { fonts } = await session.send("CSS.getPlatformFontsForNode", { nodeId });
    used.push(...fonts.map(({ familyName }) => familyName));
  }
  return [...new Set(used)];
}

/** Texts whose ink, from the highest mark to the lowest, is higher than a line; in a browser. */
function highLines(elements) {
  const pen = document.createElement("canvas").getContext("2d");
  return elements.flatMap((element) => {
    const { fontWeight, fontSize, fontFamily, lineHeight } = getComputedStyle(element);
    pen.font = `${fontWeight} ${fontSize} ${fontFamily}`;
    const ink = pen.measureText(element.innerText);
    const height = ink.actualBoundingBoxAscent + ink.actualBoundingBoxDescent;
    const fits = height <= Number.parseFloat(lineHeight);
    return fits ? [] : `${height} of ${lineHeight}: ${element.innerText}`;
  });
}

/** Letters that look like one that no font has, which is drawn as a box; runs in a browser. */
function boxesAmong(letters) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [60, 60];
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen.font = "32px sans-serif";
  const drawn = (letter) => {
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.fillText(letter, 10, 40);
    return canvas.toDataURL();
  };
  const box = drawn("\u0378");
  return letters.filter((letter) => drawn(letter) === box);
}
