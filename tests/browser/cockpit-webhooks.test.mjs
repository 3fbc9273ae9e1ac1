/**
 * Webhooks in the owner's cockpit, in a real browser: made, tried, and deleted, on a desktop, a
 * phone and in the dark.
 */

import assert from "node:assert/strict";
import { after } from "node:test";

import { ROOMS, call } from "../harness/api.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { signedIn } from "../harness/owner.mjs";
import { localRoom } from "../harness/rooms.mjs";
import { isGenuine, startReceiver } from "../harness/webhook-receiver.mjs";

const HOST = "hooks.example";
const READ_ONLY = "the-token-for-reading";
const shop = localRoom({ name: "shop" });
const receiver = await startReceiver();
after(() => receiver.stop());
const options = {
  rooms: [shop],
  outside: { [HOST]: receiver.port },
  vars: { API_TOKEN_READ: READ_ONLY },
};
const WEBHOOKS = `${ROOMS}/${shop.id}/webhooks`;

/** An owner at the room's webhooks. */
async function atWebhooks(arena, device, token) {
  receiver.requests = [];
  const owner = await signedIn(arena, device, token);
  await owner.open(shop);
  await owner.page.getByRole("link", { name: "Webhooks" }).click();
  return owner;
}

browserTest("a webhook is made, tried and deleted", options, async (arena) => {
  const owner = await atWebhooks(arena, DESKTOP);
  const { page } = owner;
  await owner.reads(/^No webhook yet/);
  await owner.button("New webhook").click();
  await page.getByLabel("Address").fill("https://127.0.0.1/");
  await owner.button("Make").click();
  await page.locator("#field-url-problem").getByText(/public host name/).waitFor();
  await page.getByLabel("Address").fill(`https://${HOST}/room/secret`);
  await page.getByLabel("Description").fill("ours");
  await page.getByLabel("An event’s phases").uncheck();
  await owner.button("Make").click();

  const secret = await page.getByText(/^whsec_/).textContent();
  await owner.reads(`https://${HOST}/...`);
  const all = async () => (await call(arena.cluster, "GET", WEBHOOKS)).result;
  const [{ topics, description }] = await all();
  const chosen = ["queueing", "told_wait", "limit", "hold", "save", "quota"];
  assert.deepEqual([topics, description], [chosen, "ours"]);

  await owner.button("Send a test: ours").click();
  await owner.reads(/^The test was delivered on .* \(test\)\.$/);
  const [request] = receiver.requests;
  assert.equal(request.path, "/room/secret");
  assert.ok(isGenuine(request, secret, arena.cluster.clock.now()), "signed with the secret shown");
  receiver.statuses = [503];
  await owner.button("Send a test: ours").click();
  await owner.reads(/^The test was given up on .*: its status is no success, answered with 503\.$/);

  await page.reload();
  await owner.reads(/^The last message was given up on /);
  assert.equal(await page.getByText(/^whsec_/).count(), 0, "the secret is shown once");
  await owner.button("Delete: ours").click();
  await owner.button("Keep: ours").click();
  assert.equal((await all()).length, 1);
  await owner.button("Delete: ours").click();
  await owner.button("Delete for ever: ours").click();
  await owner.reads(/^No webhook yet/);
  assert.deepEqual(await all(), []);

  await page.getByRole("link", { name: "Health" }).click();
  await owner.reads("Webhook of room shop deleted");
  assert.deepEqual(owner.complaints, []);
});

browserTest("PagerDuty needs a key and no address", options, async (arena) => {
  const owner = await atWebhooks(arena, DESKTOP);
  const { page } = owner;
  await owner.button("New webhook").click();
  await page.getByLabel("Format").selectOption("pagerduty");
  assert.equal(await page.getByLabel("Address").count(), 0);
  await page.getByLabel("Integration key").fill("0123456789abcdef0123456789abcdef");
  await page.getByLabel("A shown wait is long above").fill("45");
  await owner.button("Make").click();
  await owner.reads("https://events.pagerduty.com/...");
  const { result } = await call(arena.cluster, "GET", WEBHOOKS);
  assert.deepEqual([result[0].format, result[0].told_wait_minutes], ["pagerduty", 45]);
  assert.deepEqual(owner.complaints, []);
});

browserTest("a mailbox is written as people write it", options, async (arena) => {
  const owner = await atWebhooks(arena, DESKTOP);
  const { page } = owner;
  await owner.button("New webhook").click();
  await page.getByLabel("Format").selectOption("email");
  await page.getByLabel("E-mail address").fill("ops@localhost");
  await owner.button("Make").click();
  await page.locator("#field-url-problem").getByText(/one address of a public mail/).waitFor();
  await page.getByLabel("E-mail address").fill("ops@shop.example");
  await owner.looks("webhooks-email");
  await owner.button("Make").click();
  await owner.reads("mailto:ops@shop.example");
  await owner.button("Send a test: mailto:ops@shop.example").click();
  await owner.reads(/^The test was given up .*: this deployment has no binding EMAIL/);
  const [{ format, topics }] = (await call(arena.cluster, "GET", WEBHOOKS)).result;
  assert.deepEqual([format, topics.includes("turn")], ["email", false]);
  assert.deepEqual(owner.complaints, []);
});

browserTest("who only looks sees webhooks without buttons", options, async (arena) => {
  await call(arena.cluster, "POST", WEBHOOKS, { url: `https://${HOST}/`, description: "ours" });
  const owner = await atWebhooks(arena, DESKTOP, READ_ONLY);
  await owner.page.getByRole("listitem").getByText("ours").waitFor();
  assert.equal(await owner.page.getByRole("main").getByRole("button").count(), 0);
});

browserTest("webhooks are readable by everybody", options, async (arena) => {
  const url = `https://${"x".repeat(60)}.${HOST}/room`;
  await call(arena.cluster, "POST", WEBHOOKS, { url, description: "ours" });
  for (const [device, context] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const owner = await atWebhooks(arena, context);
    await owner.page.getByRole("listitem").getByText("ours").waitFor();
    await owner.looks(`webhooks-${device}`);
    await owner.button("New webhook").click();
    await owner.looks(`webhooks-form-${device}`);
    await owner.page.getByLabel("Address").fill(`https://${HOST}/`);
    await owner.button("Make").click();
    await owner.page.getByText(/^whsec_/).waitFor();
    await owner.looks(`webhooks-secret-${device}`);
    assert.deepEqual(owner.complaints, []);
  }
});
