/** A visitor asks for a message before the turn, and takes it back, with and without script. */

import assert from "node:assert/strict";

import { barriers } from "../harness/accessibility.mjs";
import { ROOMS, call } from "../harness/api.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, RARE_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const FIELDS = {
  name: "shop",
  session_duration: 20,
  turn_notice: "email_or_phone",
  invitation_groups: [{ name: "members", enters: "in_turn" }],
};
const shop = localRoom({ ...FIELDS, ...FREQUENT_CHECK_INS });
/** Without script a page that comes again closes what was opened. */
const still = localRoom({ ...FIELDS, ...RARE_CHECK_INS });
const OPEN = "Get a message before your turn";
const WRONG = "ann at mail.example";
/** As long as a name of a mailbox may be, but for one letter. */
const LONG = `${"a-long-name.".repeat(5)}ann@mail.example`;

for (const script of [true, false]) {
  const name = `a message before the turn is asked for ${script ? "with" : "without"} script`;
  const room = script ? shop : still;
  browserTest(name, { rooms: [room] }, async (arena) => {
    await fill(arena);
    const context = script ? { ...PHONE, colorScheme: "dark" } : PHONE;
    for (const [device, settings] of [["phone", context], ["desktop", DESKTOP]]) {
      const visitor = await arena.visitor({
        room,
        name: device,
        context: { ...settings, javaScriptEnabled: script },
      });
      await visitor.come();
      await story(visitor, `${device}-${script}`, script);
      assert.deepEqual(visitor.complaints, []);
    }
  });
}

browserTest("what is typed stays where the page has news", { rooms: [shop] }, async (arena) => {
  await fill(arena);
  const visitor = await arena.visitor({ room: shop, context: PHONE });
  await visitor.come();
  const { page } = visitor;
  await page.getByText(OPEN).click();
  await fieldOf(page).pressSequentially("ann@mail.");
  const news = "A second day was added.";
  await call(arena.cluster, "PATCH", `${ROOMS}/${shop.id}`, { page_message: news });
  await page.locator(".news").getByText(news).waitFor();
  await page.keyboard.type("example");
  assert.equal(await fieldOf(page).inputValue(), "ann@mail.example");
  assert.deepEqual(visitor.complaints, []);
});

browserTest("a code typed again stays, with its error", { rooms: [shop] }, async (arena) => {
  await fill(arena);
  const visitor = await arena.visitor({ room: shop, context: PHONE });
  await visitor.come();
  const { page } = visitor;
  const field = page.getByRole("textbox", { name: "Code from the other device" });
  await page.getByText("Move your place to another device").click();
  await field.fill("0000-0000");
  await page.getByRole("button", { name: "Move my place here" }).click();
  await page.getByRole("alert").getByText("This code is not right.").waitFor();
  await field.fill("");
  await page.keyboard.type("7K3M-9");
  visitor.checkIns.length = 0;
  await visitor.until(() => visitor.checkIns.length > 1, "it checks in no more");
  await page.keyboard.type("X2P");
  assert.equal(await field.inputValue(), "7K3M-9X2P");
  assert.equal(await page.getByRole("alert").count(), 1);
  assert.deepEqual(visitor.complaints, []);
});

const FAILURES = [
  { field: "contact", typed: WRONG, button: "Send me a message", said: /^That did not work\./ },
  { field: "invitation", typed: "no-invitation", button: "Use this code", said: /^This code is/ },
  { field: "code", typed: "0000-0000", button: "Move my place here", said: /^This code is/ },
];

browserTest("an error is said, and stands at its field", { rooms: [shop] }, async (arena) => {
  await fill(arena);
  const visitor = await arena.visitor({ room: shop, context: DESKTOP });
  const { page } = visitor;
  await visitor.come();
  for (const { field, typed, button, said } of FAILURES) {
    const input = page.locator(`[name=${field}]`);
    await page.locator("details", { has: input }).locator("summary").click();
    await input.fill(typed);
    await page.getByRole("button", { name: button }).click();
    await page.getByRole("status").filter({ hasText: said }).waitFor({ state: "attached" });
    const [invalid, described] = await input.evaluate((one) => [
      one === document.activeElement && one.ariaInvalid,
      document.getElementById(one.getAttribute("aria-describedby"))?.innerText,
    ]);
    assert.equal(invalid, "true", field);
    assert.match(described, said, field);
    assert.deepEqual(await barriers(page), [], field);
  }
  assert.deepEqual(visitor.complaints, []);
});

/** Takes the only place of the room, which tells turns by a webhook. */
async function fill(arena) {
  const hook = { url: "https://hooks.example/", topics: ["turn"] };
  await call(arena.cluster, "POST", `${ROOMS}/${shop.id}/webhooks`, hook);
  await arena.cluster.advance(8_000);
  await visitorInside(arena.cluster, shop);
}

function fieldOf(page) {
  return page.getByRole("textbox", { name: "Email address / Phone number" });
}

async function story(visitor, kind, script) {
  const { page } = visitor;
  const check = async (state) => {
    await visitor.keepScreenshot(`turn-notice-${state}-${kind}`, { fullPage: true });
    if (script) assert.deepEqual(await barriers(page), []);
    const width = await page.evaluate(() => document.documentElement.scrollWidth).catch(() => 0);
    assert.ok(width <= page.viewportSize().width, `${state} is ${width} pixels wide`);
  };
  await page.getByText(OPEN).click();
  await check("open");
  await give(page, WRONG);
  await page.getByRole("alert").getByText("That did not work. Please check").waitFor();
  assert.equal(await fieldOf(page).inputValue(), WRONG, "what was typed is erased");
  await check("failed");
  await give(page, LONG);
  const given = page.getByText(/we will send one message to:/);
  await given.waitFor();
  assert.ok((await given.innerText()).endsWith(LONG));
  assert.ok(!page.url().includes("?"), page.url());
  await check("given");
  await page.getByRole("button", { name: "Cancel this message" }).click();
  await page.getByText(OPEN).waitFor();
  assert.ok(!page.url().includes("?"), page.url());
}

/** Types an address and sends it. Without script the page may come again while it is typed. */
async function give(page, contact) {
  const field = fieldOf(page);
  for (let tries = 0; tries < 5; tries += 1) {
    if (!(await field.isVisible())) await page.getByText(OPEN).click();
    await field.fill(contact).catch(() => {});
    if ((await field.inputValue().catch(() => "")) === contact) break;
  }
  await page.getByRole("button", { name: "Send me a message" }).click();
}
