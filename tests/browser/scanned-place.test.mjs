/** The code for a place is scanned from a screen; the place moves once a button is pressed. */

import assert from "node:assert/strict";

import { barriers } from "../harness/accessibility.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { fitsItsWidth } from "../harness/every-language.mjs";
import { readQrCode } from "../harness/qr-code.mjs";
import { FREQUENT_CHECK_INS, RARE_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const FIELDS = { name: "shop", session_duration: 20 };
const shop = localRoom({ ...FIELDS, ...FREQUENT_CHECK_INS });
/** A page that is looked at for long stays as it is. */
const still = localRoom({ ...FIELDS, ...RARE_CHECK_INS });
const MOVED = "Your place has moved to another device";
/** On a phone of 390 pixels a picture of 12 rem leaves at least 4 pixels for a module. */
const SIDE_MIN = 190;

const SCREENS = {
  "phone-light": PHONE,
  "phone-dark": { ...PHONE, colorScheme: "dark" },
  "phone-rtl": { ...PHONE, locale: "ar-EG" },
  "phone-wide": { ...PHONE, viewport: { width: 844, height: 390 } },
  "phone-no-script": { ...PHONE, colorScheme: "dark", javaScriptEnabled: false },
  "desktop-dark": { ...DESKTOP, colorScheme: "dark" },
  "desktop-forced-colors": { ...DESKTOP, forcedColors: "active" },
};

browserTest("a code can be scanned from every screen", { rooms: [still] }, async (arena) => {
  await visitorInside(arena.cluster, still);
  for (const [name, context] of Object.entries(SCREENS)) {
    const visitor = await comes(arena, still, context);
    const code = await getCode(visitor);
    const picture = visitor.page.locator(".qr svg");
    await visitor.keepScreenshot(`scanned-place-${name}`, { fullPage: true });
    assert.equal(await readQrCode(picture), `${visitor.address}#place=${code}`, name);
    const { width, height } = await picture.boundingBox();
    assert.ok(width === height && width >= SIDE_MIN, `${name}: ${width} by ${height}`);
    assert.equal(await visitor.page.getByRole("img", { name: `QR ${code}` }).count(), 1, name);
    const [above, below] = [await startOf(visitor.page.locator(".code")), await startOf(picture)];
    assert.ok(Math.abs(above - below) <= 1, `${name}: the code stands at ${above}`);
    if (context.javaScriptEnabled !== false) {
      // Our reader knows mirrored pictures, others do not.
      const mirrored = await picture.evaluate((svg) => getComputedStyle(svg).transform);
      assert.equal(mirrored, "none", name);
      assert.ok(await fitsItsWidth(visitor.page), `${name} scrolls sideways`);
      assert.deepEqual(await barriers(visitor.page), [], name);
    }
    assert.deepEqual(visitor.complaints, [], name);
    await visitor.leave();
  }
});

const options = { rooms: [shop] };
browserTest("a scanned place moves with one press of a button", options, async (arena) => {
  await visitorInside(arena.cluster, shop);
  const laptop = await comes(arena, shop, DESKTOP);
  const code = await getCode(laptop);
  const phone = await comes(arena, shop, PHONE, `${laptop.address}#place=${code}`);
  const field = phone.page.getByRole("textbox", { name: "Code from the other device" });
  assert.equal(await field.inputValue(), code);
  assert.equal(phone.page.url(), laptop.address);
  await phone.keepScreenshot("scanned-place-arrived");
  assert.ok(await isInView(field), "the filled field is out of sight");
  assert.deepEqual(await barriers(phone.page), []);
  await phone.page.getByRole("button", { name: "Move my place here" }).click();
  await laptop.page.getByRole("heading", { name: MOVED }).waitFor();
  await phone.page.getByRole("heading", { name: "You are in line" }).waitFor();
  assert.deepEqual([...laptop.complaints, ...phone.complaints], []);
});

const fixed = "a link with somebody else's code moves nobody by itself";
browserTest(fixed, { rooms: [shop] }, async (arena) => {
  await visitorInside(arena.cluster, shop);
  const attacker = await comes(arena, shop, DESKTOP);
  const code = await getCode(attacker);
  const victim = await comes(arena, shop, PHONE, `${attacker.address}#place=${code}`);
  const field = victim.page.locator("[name=code]");
  await victim.refreshes(2);
  await attacker.refreshes(2);
  assert.equal(await field.inputValue(), code, "what is filled in is lost");
  assert.equal(await attacker.page.getByRole("heading", { name: MOVED }).count(), 0);
  await victim.page.reload();
  assert.deepEqual([victim.page.url(), await field.inputValue()], [attacker.address, ""]);
  for (const text of ["<img/src=x>", "0000-0000%22autofocus", "0000", "0000-0000&act=take"]) {
    const other = await comes(arena, shop, PHONE, `${attacker.address}#place=${text}`);
    assert.equal(await other.page.locator("[name=code]").inputValue(), "", text);
    assert.deepEqual(other.complaints, [], text);
    await other.leave();
  }
  assert.deepEqual([...attacker.complaints, ...victim.complaints], []);
});

/** Somebody comes to a room with a browser, by its address or a scanned one. */
async function comes(arena, room, context, scanned) {
  const visitor = await arena.visitor({ room, context });
  if (scanned) visitor.address = scanned;
  await visitor.come();
  return visitor;
}

/** Asks for a code, in any language; returns it. */
async function getCode({ page }) {
  await page.locator(".move summary").click();
  await page.locator("button[value=code]").click();
  return page.locator(".code").innerText();
}

/** Where a text or picture begins, in pixels from the side on which lines begin. */
function startOf(locator) {
  return locator.evaluate((element) => {
    const text = document.createRange();
    text.selectNodeContents(element);
    const { left, right } = (element.innerText ? text : element).getBoundingClientRect();
    return document.documentElement.dir === "rtl" ? innerWidth - right : left;
  });
}

/** True if somebody sees all of an element without scrolling. */
function isInView(locator) {
  return locator.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
}
