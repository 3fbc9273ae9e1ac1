/**
 * Bypass rules in the owner's cockpit, in a real browser: made, ordered, switched, tried on a
 * made-up request and removed, on a desktop, a phone and in the dark.
 */

import assert from "node:assert/strict";

import { ROOMS, call } from "../harness/api.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { ownerOf, signedIn } from "../harness/owner.mjs";
import { localRoom } from "../harness/rooms.mjs";

const READ_ONLY = "the-token-for-reading";
const shop = localRoom({ name: "shop" });
/** By then a page has shown what it was told. */
const LATE_MS = 500;
const options = { rooms: [shop], vars: { API_TOKEN_READ: READ_ONLY } };
const RULES = `${ROOMS}/${shop.id}/rules`;

browserTest("rules are made, tried, ordered and removed", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await owner.open(shop);
  await page.getByRole("link", { name: "Rules" }).click();
  await owner.reads(/^No rule yet/);
  await owner.button("Test").click();
  await page.locator(".told").getByText("Meets the room").waitFor();

  await owner.button("New rule").click();
  await page.getByLabel("Expression", { exact: true }).fill("ssl and");
  await owner.button("Save").click();
  await page.locator("#field-expression-problem").getByText(/column 8/).waitFor();
  await page.getByLabel("Expression", { exact: true }).fill('http.request.method eq "POST"');
  await page.getByLabel("Description").fill("posts");
  await owner.button("Save").click();
  await owner.button("Disable: posts").waitFor();
  await call(arena.cluster, "POST", RULES, {
    action: "bypass_waiting_room",
    expression: "ip.src eq 203.0.113.7",
    description: "office",
  });
  await owner.button("Up: office").click();
  await page.getByRole("listitem").first().getByText("office").waitFor();
  const order = async () => (await call(arena.cluster, "GET", RULES)).result;
  assert.deepEqual((await order()).map(({ description }) => description), ["office", "posts"]);

  await page.getByLabel("Address of the visitor").fill("203.0.113.7");
  await owner.button("Test").click();
  await page.locator(".told").getByText("Passes").waitFor();
  const line = (name) => page.getByRole("listitem").filter({ hasText: name });
  await line("office").getByText("matches the request").waitFor();
  await line("posts").getByText("does not match").waitFor();
  await owner.button("Disable: office").click();
  await owner.button("Enable: office").waitFor();
  await owner.button("Test").click();
  await page.locator(".told").getByText("Meets the room").waitFor();
  await page.getByLabel("Headers").fill("X-Probe: yes");
  const draft = 'any(http.request.headers["x-probe"][*] eq "yes")';
  await page.getByLabel("Expression to try").fill(draft);
  await owner.button("Test").click();
  await page.locator(".told").getByText(/The expression matches/).waitFor();
  await owner.button("Delete: office").click();
  await owner.button("Enable: office").waitFor({ state: "detached" });
  const [posts, ...others] = await order();
  assert.deepEqual([posts.description, posts.enabled, others.length], ["posts", true, 0]);
  assert.deepEqual(owner.complaints, []);
});

browserTest("a list that comes late is not shown", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await owner.open(shop);
  await page.getByRole("link", { name: "Rules" }).click();
  await owner.reads(/^No rule yet/);
  // The page waits for this list for as long as a slow machine needs.
  await page.evaluate(() => {
    AbortSignal.timeout = () => new AbortController().signal;
  });
  // The first list is read before the change, and comes after it; none is answered later on.
  const late = Promise.withResolvers();
  const asked = Promise.withResolvers();
  let lists = 0;
  await page.route(/\/rules$/, async (route) => {
    if (route.request().method() !== "GET") return route.continue();
    if ((lists += 1) > 1) return undefined;
    const response = await route.fetch();
    asked.resolve();
    await late.promise;
    return route.fulfill({ response });
  });
  await call(arena.cluster, "PATCH", `${ROOMS}/${shop.id}`, { description: "another" });
  await asked.promise;
  await owner.button("New rule").click();
  await page.getByLabel("Expression", { exact: true }).fill("ssl");
  await page.getByLabel("Description").fill("secure");
  await owner.button("Save").click();
  await owner.button("Disable: secure").waitFor();
  const told = page.waitForResponse(/\/rules$/);
  late.resolve();
  await told;
  await page.waitForTimeout(LATE_MS);
  assert.ok(await owner.button("Disable: secure").isVisible());
});

browserTest("what was done to rules is taken back", options, async (arena) => {
  const { cluster } = arena;
  const add = (description, expression = "ssl") =>
    call(cluster, "POST", RULES, { action: "bypass_waiting_room", expression, description });
  const names = async () => {
    const { result } = await call(cluster, "GET", RULES);
    return result.map(({ description, enabled }) => description + (enabled ? "" : " (off)")).join();
  };
  for (const name of ["one", "two", "three"]) await add(name);
  const owner = await signedIn(arena, DESKTOP);
  await owner.open(shop);
  await owner.page.getByRole("link", { name: "Rules" }).click();
  /** Presses a button of a rule, and then Undo. */
  const backAndForth = async (button, undo, between) => {
    await owner.button(button).click();
    await owner.button(undo).first().waitFor();
    assert.equal(await names(), between);
    await owner.button(undo).first().click();
    await owner.reads(/Taken back\. Stored and read back/);
    assert.equal(await names(), "one,two,three");
  };
  await backAndForth("Up: three", "Undo: in another order", "one,three,two");
  await backAndForth("Disable: two", "Undo: “two” changed: disabled", "one,two (off),three");
  await backAndForth("Delete: two", "Undo: “two” deleted", "one,three");
  // An undo is a change like any other.
  await owner.button("Undo: “two” made").click();
  await owner.button("Delete: two").waitFor({ state: "detached" });
  assert.equal(await names(), "one,three");

  await add("four");
  await owner.button("Undo: “four” made").waitFor();
  const four = (await call(cluster, "GET", RULES)).result.at(-1).id;
  await owner.hides(true);
  await call(cluster, "PATCH", `${RULES}/${four}`, { enabled: false });
  await owner.button("Undo: “four” made").click();
  await owner.reads("Nothing was changed: meanwhile “four” was changed. Look again.");
  assert.equal(await names(), "one,three,four (off)");
  await owner.hides(false);

  await owner.page.getByRole("link", { name: "Health" }).click();
  await owner.reads("Rules of room shop: “four” changed: disabled");
  await owner.button("Undo: “four” changed: disabled").click();
  await owner.reads(/Taken back\./);
  assert.equal(await names(), "one,three,four");
  assert.deepEqual(owner.complaints, []);
});

browserTest("who only looks sees rules, and tries them on a request", options, async (arena) => {
  const rule = { action: "bypass_waiting_room", expression: "ssl" };
  await call(arena.cluster, "POST", RULES, rule);
  const owner = await signedIn(arena, DESKTOP, READ_ONLY);
  await owner.open(shop);
  await owner.page.getByRole("link", { name: "Rules" }).click();
  await owner.page.getByRole("listitem").getByText("ssl").waitFor();
  const buttons = owner.page.getByRole("main").getByRole("button");
  assert.deepEqual(await buttons.allInnerTexts(), ["Test"]);
  await owner.page.getByLabel("URL").fill(`https://${shop.host}/`);
  await buttons.click();
  await owner.page.locator(".told").getByText("Passes").waitFor();
});

browserTest("rules are readable by everybody", options, async (arena) => {
  const expression = 'http.request.uri.path eq "/pay/callback" and ip.src in {203.0.113.0/24}';
  const rule = { action: "bypass_waiting_room", expression, description: "the bank" };
  await call(arena.cluster, "POST", RULES, rule);
  for (const [device, context] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const owner = await ownerOf(arena, context);
    await owner.signIn(SECRETS.API_TOKEN);
    await owner.open(shop);
    await owner.page.getByRole("link", { name: "Rules" }).click();
    await owner.button("Test").click();
    await owner.page.locator(".told").waitFor();
    await owner.looks(`rules-${device}`);
    assert.deepEqual(owner.complaints, []);
  }
});
