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

browserTest("who only looks sees rules without buttons", options, async (arena) => {
  const rule = { action: "bypass_waiting_room", expression: "ssl" };
  await call(arena.cluster, "POST", RULES, rule);
  const owner = await signedIn(arena, DESKTOP, READ_ONLY);
  await owner.open(shop);
  await owner.page.getByRole("link", { name: "Rules" }).click();
  await owner.page.getByRole("listitem").getByText("ssl").waitFor();
  assert.equal(await owner.page.getByRole("main").getByRole("button").count(), 0);
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
