/** A place moves from a laptop to a phone, with and without script. */

import assert from "node:assert/strict";

import { barriers } from "../harness/accessibility.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, RARE_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const FIELDS = { name: "shop", session_duration: 20 };
const shop = localRoom({ ...FIELDS, ...FREQUENT_CHECK_INS });
/** Without script a page that comes again closes what was opened. */
const still = localRoom({ ...FIELDS, ...RARE_CHECK_INS });
/** Then the next check-in of such a page is due. */
const DUE_MS = 70_000;
/** How long a code is good. */
const CODE_MS = 60_000;
const OPEN = "Move your place to another device";
const MOVED = "Your place has moved to another device";

for (const script of [true, false]) {
  const name = `a place moves from a laptop to a phone ${script ? "with" : "without"} script`;
  const room = script ? shop : still;
  browserTest(name, { rooms: [room] }, async (arena) => {
    await visitorInside(arena.cluster, room);
    const open = async (context, device) => {
      const settings = { ...context, javaScriptEnabled: script };
      const visitor = await arena.visitor({ room, name: device, context: settings });
      await visitor.come();
      return visitor;
    };
    const laptop = await open(DESKTOP, "laptop");
    const phone = await open({ ...PHONE, colorScheme: "dark" }, "phone");
    const check = async (visitor, state) => {
      await visitor.keepScreenshot(`moved-place-${state}-${script}`, { fullPage: true });
      if (script) assert.deepEqual(await barriers(visitor.page), []);
    };
    await laptop.page.getByText(OPEN).click();
    await check(laptop, "closed");
    const code = await codeOf(laptop);
    await check(laptop, "code");
    if (script) await countsDown(laptop);
    assert.ok(!laptop.page.url().includes(code) && !laptop.page.url().includes("?"));

    await give(phone, "0000-0000");
    await phone.page.getByRole("alert").getByText("This code is not right.").waitFor();
    await check(phone, "failed");
    await give(phone, code);
    await phone.page.getByRole("heading", { name: "You are in line" }).waitFor();
    assert.ok(!phone.page.url().includes("?"), phone.page.url());
    if (!script) {
      await arena.cluster.advance(DUE_MS);
      await laptop.page.reload();
    }
    await laptop.page.getByRole("heading", { name: MOVED }).waitFor();
    await check(laptop, "moved");
    await laptop.page.getByRole("button", { name: "Join the line again on this device" }).click();
    await laptop.page.getByRole("heading", { name: "You are in line" }).waitFor();
    assert.deepEqual([...laptop.complaints, ...phone.complaints], []);
  });
}

browserTest("a code says that it is used, or over", { rooms: [still] }, async (arena) => {
  await visitorInside(arena.cluster, still);
  const devices = ["laptop", "phone", "tablet"].map(async (name) => {
    const visitor = await arena.visitor({ room: still, name, context: DESKTOP });
    await visitor.come();
    return visitor;
  });
  const [laptop, phone, tablet] = await Promise.all(devices);
  const first = await codeOf(laptop);
  await give(phone, first);
  await phone.page.getByRole("heading", { name: "You are in line" }).waitFor();
  await give(tablet, first);
  await tablet.page.getByRole("alert").getByText("This code has already been used.").waitFor();
  const second = await codeOf(phone);
  await arena.cluster.advance(CODE_MS);
  await give(tablet, second);
  await tablet.page.getByRole("alert").getByText("This code has expired.").waitFor();
  assert.deepEqual([...phone.complaints, ...tablet.complaints], []);
});

/** Waits until the page tells a shorter time than now. */
async function countsDown(visitor) {
  const left = visitor.page.locator(".notice [data-left]");
  const seconds = async () => Number.parseInt(await left.innerText(), 10);
  const before = await seconds();
  assert.ok(before > 0 && before <= CODE_MS / 1_000, `${before} s`);
  await visitor.until(async () => (await seconds()) < before, "the time left stands still");
}

/** Asks for a code; returns it. */
async function codeOf({ page }) {
  const button = page.getByRole("button", { name: "Get a code for the other device" });
  if (!(await button.isVisible())) await page.getByText(OPEN).click();
  await button.click();
  return page.locator(".code").innerText();
}

/** Types a code and sends it. Without script the page may come again while it is typed. */
async function give({ page }, code) {
  const field = page.getByRole("textbox", { name: "Code from the other device" });
  for (let tries = 0; tries < 5; tries += 1) {
    if (!(await field.isVisible())) await page.getByText(OPEN).click();
    await field.fill(code).catch(() => {});
    if ((await field.inputValue().catch(() => "")) === code) break;
  }
  await page.getByRole("button", { name: "Move my place here" }).click();
}
