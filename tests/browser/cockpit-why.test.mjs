/**
 * "Why did I wait?" in the owner's cockpit, in a real browser: the reference that a page shows, and
 * the answer in sentences, with the token that only reads, on a desktop and a phone.
 */

import assert from "node:assert/strict";

import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { signedIn } from "../harness/owner.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { Visitor, pass, visitorInside } from "../harness/visitor.mjs";

const READ_ONLY = "the-token-for-reading";
const shop = localRoom({ name: "shop", json_response_enabled: true, ...FREQUENT_CHECK_INS });
const options = { rooms: [shop], vars: { API_TOKEN_READ: READ_ONLY } };
const NUMBER = /Your reference: <strong class="ref" dir="ltr">([0-9A-Z]{5}-[0-9A-Z]{5})</;
/** Until the visitor has entered, after the session of the one inside. */
const ENTERED_MS = 180_000;
const TOLD_MS = 20_000;

const title = "who asks for somebody is told the story, or why there is none";
browserTest(title, options, async (arena) => {
  const { cluster } = arena;
  await visitorInside(cluster, shop);
  const visitor = new Visitor(cluster, { name: "waits", host: shop.host });
  await visitor.visit();
  await pass(cluster, TOLD_MS, [visitor]);
  const [, reference] = NUMBER.exec((await visitor.visit()).body);
  for (const context of [DESKTOP, PHONE]) {
    const owner = await signedIn(arena, context, READ_ONLY);
    await owner.open(shop);
    await owner.page.getByRole("link", { name: "History" }).click();
    const field = owner.page.getByRole("textbox", { name: "Reference" });
    await field.fill("7K3M9-QXB2R");
    await owner.page.keyboard.press("Enter");
    await owner.reads(/^The journal knows no such reference\. It may be misread/);
    await field.fill(` ${reference.toLowerCase().replace("-", " – ")} `);
    await owner.button("Look it up").click();
    await owner.reads(/^Joined at /);
    await owner.reads(visitor.inside ? /^Entered at .*, in the order of joining/ : /^Waits: at /);
    await owner.reads("Nobody with a later join entered before.");
    await owner.looks("why");
    assert.deepEqual(owner.complaints, []);
    await pass(cluster, ENTERED_MS, [visitor], () => visitor.inside);
    await visitor.visit();
    await cluster.advance(TOLD_MS);
  }
});
