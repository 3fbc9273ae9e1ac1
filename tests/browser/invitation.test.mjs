/** A link with an invitation fills in its code, and lets its visitor in who presses a button. */

import assert from "node:assert/strict";

import { barriers } from "../harness/accessibility.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { fitsItsWidth } from "../harness/every-language.mjs";
import { inviter } from "../harness/invitation.mjs";
import { localRoom } from "../harness/rooms.mjs";

const club = localRoom({
  name: "club",
  total_active_users: 9,
  invitation_only: true,
  invitation_groups: [{ name: "members", enters: "in_turn" }],
});
const NEEDED = "By invitation only";
const SCREENS = {
  "phone-light": PHONE,
  "phone-dark": { ...PHONE, colorScheme: "dark" },
  "phone-rtl": { ...PHONE, locale: "ar-EG" },
  "desktop-dark": { ...DESKTOP, colorScheme: "dark" },
};
const options = { rooms: [club] };

browserTest("a room by invitation says so on every screen", options, async (arena) => {
  for (const [name, context] of Object.entries(SCREENS)) {
    const visitor = await comes(arena, context);
    await visitor.keepScreenshot(`invitation-${name}`, { fullPage: true });
    assert.ok(await fitsItsWidth(visitor.page), `${name} scrolls sideways`);
    const tells = await visitor.page.locator("[data-turn]").isVisible();
    assert.ok(!tells, `${name} offers to tell of a turn that never comes`);
    assert.deepEqual(await barriers(visitor.page), [], name);
    assert.deepEqual(visitor.complaints, [], name);
    await visitor.leave();
  }
});

const title = "a link with an invitation lets in who presses, and nobody else";
browserTest(title, options, async (arena) => {
  const { make } = await inviter(arena.cluster, club, "members");
  const code = make({ jti: "a" });
  const victim = await comes(arena, PHONE, code);
  const field = victim.page.locator("[name=invitation]");
  assert.equal(await field.inputValue(), code);
  assert.ok(!victim.page.url().includes("#"), "the code stays in the address");
  await victim.page.waitForTimeout(2_000);
  await victim.page.reload();
  assert.equal(await victim.page.getByRole("heading", { name: NEEDED }).count(), 1);
  assert.equal(await field.inputValue(), "");
  for (const text of ["<img/src=x>", "a b", "a&act=join", ""]) {
    const other = await comes(arena, PHONE, text);
    assert.equal(await other.page.locator("[name=invitation]").inputValue(), "", text);
    assert.deepEqual(other.complaints, [], text);
    await other.leave();
  }
  // Nothing was used: it is good once, and without script too.
  const scripts = [false, true];
  for (const javaScriptEnabled of scripts) {
    const guest = await comes(arena, { ...DESKTOP, javaScriptEnabled }, code);
    if (!javaScriptEnabled) await guest.page.locator("[name=invitation]").fill(code);
    await guest.page.getByRole("button", { name: "Use this code" }).click();
    if (javaScriptEnabled) {
      await guest.page.getByRole("alert").waitFor();
      assert.match(await guest.page.getByRole("alert").innerText(), /already been used/);
    } else {
      await guest.page.getByRole("heading", { name: NEEDED }).waitFor({ state: "detached" });
    }
    assert.deepEqual(guest.complaints, []);
  }
  assert.deepEqual(victim.complaints, []);
});

/** Somebody comes with a browser, by the room's address or by a link with this code. */
async function comes(arena, context, code) {
  const visitor = await arena.visitor({ room: club, context });
  if (code !== undefined) visitor.address += `#invitation=${code}`;
  await visitor.come();
  return visitor;
}
