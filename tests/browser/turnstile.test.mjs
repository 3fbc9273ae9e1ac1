/**
 * The challenge in a real browser, with a widget of our own in the place of Cloudflare's: passed,
 * failed, kept from loading and without script. What a token is worth is tested elsewhere.
 */

import assert from "node:assert/strict";
import { after } from "node:test";

import { barriers } from "../harness/accessibility.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { PAGE_BYTES_MAX, checkEveryLanguage } from "../harness/every-language.mjs";
import { RARE_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { asking, startSiteverify } from "../harness/siteverify.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const WIDGET_ORIGIN = "https://challenges.cloudflare.com";
const gated = localRoom({
  name: "gated",
  session_duration: 30,
  turnstile_mode: "visible_managed",
  turnstile_action: "infinite_queue",
  ...RARE_CHECK_INS,
});
const counted = localRoom({ name: "counted", session_duration: 30, ...RARE_CHECK_INS });

const siteverify = await startSiteverify();
after(() => siteverify.stop());
const options = { rooms: [gated, counted], ...asking(siteverify) };

browserTest("a visitor passes the challenge and stands in line", options, async (arena) => {
  await occupy(arena, gated);
  for (const [device, screen] of [["phone", PHONE], ["desktop", DESKTOP]]) {
    const visitor = await challenged(arena, gated, screen);
    visitor.address += "sale?b=%20+1&&a=2#tickets";
    await visitor.come();
    assert.equal(await visitor.title(), "One quick check");
    assert.ok(Buffer.byteLength(await visitor.page.content()) < PAGE_BYTES_MAX);
    await visitor.page.getByRole("button", { name: "I am a person" }).waitFor();
    for (const colorScheme of ["light", "dark"]) {
      await visitor.page.emulateMedia({ colorScheme });
      await visitor.keepScreenshot(`page-challenge-${device}-${colorScheme}`, { fullPage: true });
      assert.deepEqual(await barriers(visitor.page), [], `${device} ${colorScheme}`);
    }
    await visitor.page.getByRole("button").click();
    await visitor.page.getByRole("heading", { name: "You are in line" }).waitFor();
    assert.equal(visitor.page.url(), visitor.address, "the address is not what it was");
    assert.equal(await visitor.page.locator(".cf-turnstile").count(), 0);
    assert.deepEqual(visitor.complaints, []);
    await visitor.leave();
  }
  assert.equal(siteverify.questions.length, 2);
});

browserTest("a challenge is readable by everybody in every language", options, async (arena) => {
  await occupy(arena, gated);
  await checkEveryLanguage(arena, [{ state: "challenge", room: gated }]);
});

browserTest("a visitor who fails sees the same page as one in line", options, async (arena) => {
  await occupy(arena, gated);
  const visitor = await challenged(arena, gated, PHONE);
  await visitor.come();
  await visitor.page.evaluate(() => window.cfWaitingRoomNoToken());
  await visitor.page.getByRole("heading", { name: "You are in line" }).waitFor();
  assert.equal(visitor.page.url(), visitor.address);
  await visitor.keepScreenshot("page-infinite-phone", { fullPage: true });
  assert.deepEqual(visitor.complaints, []);
});

browserTest("a challenge that cannot run says what to do", options, async (arena) => {
  await occupy(arena, gated);
  const told = /This check needs JavaScript\. Please allow it for this site and reload the page\./;
  const without = await challenged(arena, gated, { ...PHONE, javaScriptEnabled: false });
  await without.come();
  assert.match(await without.page.locator("noscript").innerText(), told);
  await without.keepScreenshot("page-challenge-without-script", { fullPage: true });
  const blocked = await challenged(arena, gated, PHONE, (route) => route.abort());
  await blocked.come();
  await blocked.page.getByText(told).waitFor();
  await blocked.keepScreenshot("page-challenge-blocked", { fullPage: true });
  assert.equal(blocked.views.length, 1, "it was taken for a failure");
});

browserTest("where challenges are counted nobody sees one", options, async (arena) => {
  await occupy(arena, counted);
  const visitor = await challenged(arena, counted, PHONE);
  await visitor.come();
  await visitor.page.getByRole("heading", { name: "You are in line" }).waitFor();
  await visitor.keepScreenshot("page-challenge-counted", { fullPage: true });
  const token = siteverify.token(counted.host, counted.id);
  await visitor.page.evaluate((one) => window.cfWaitingRoomToken(one), token);
  await visitor.page.locator(".cf-turnstile").waitFor({ state: "detached" });
  assert.equal(visitor.page.url(), visitor.address);
  assert.deepEqual(visitor.complaints, []);
});

/** A browser whose widgets come from here. */
async function challenged(arena, { host, id, ...shop }, context, answer = undefined) {
  const visitor = await arena.visitor({ room: { host, id, ...shop }, context });
  const body = widget(siteverify.token(host, id));
  const fulfill = (route) => route.fulfill({ contentType: "text/javascript", body });
  await visitor.page.route(`${WIDGET_ORIGIN}/**`, answer ?? fulfill);
  return visitor;
}

/** A widget that is seen unless it is to be hidden, and gives its token at a click. */
function widget(token) {
  const render = (given) => {
    for (const place of document.querySelectorAll(".cf-turnstile")) {
      if (place.dataset.appearance !== "always") continue;
      const button = document.createElement("button");
      button.textContent = "I am a person";
      button.style.cssText = "width: 300px; height: 65px; font: inherit";
      button.onclick = () => window[place.dataset.callback](given);
      place.append(button);
    }
  };
  return `(${render})(${JSON.stringify(token)})`;
}

/** Somebody takes the only place, and everybody knows it. */
async function occupy({ cluster }, room) {
  siteverify.forget();
  await visitorInside(cluster, room);
  await cluster.advance(3_000);
}
