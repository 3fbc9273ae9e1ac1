/** The cockpit behind Cloudflare Access, in a real browser: nobody types a token. */

import assert from "node:assert/strict";
import { after } from "node:test";

import { ROOMS, call } from "../harness/api.mjs";
import { startAccess } from "../harness/access.mjs";
import { DESKTOP, browserTest } from "../harness/browser-test.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { ownerOf } from "../harness/owner.mjs";
import { localRoom } from "../harness/rooms.mjs";

const shop = localRoom({ name: "shop" });
const access = await startAccess();
after(() => access.stop());
const ACCESS_ROLES = JSON.stringify({ "anna@shop.example": "steer", "gone@shop.example": "none" });
const options = { rooms: [shop], ...access.options({ ACCESS_ROLES }) };

/** Opens the cockpit as somebody whom Access has signed in. */
const behind = (arena, claims, ms = 0) => {
  const extraHTTPHeaders = access.header(arena.cluster.clock.now() + ms, claims);
  return ownerOf(arena, { ...DESKTOP, extraHTTPHeaders });
};

const signedIn = "who comes by Access is signed in, by address, and may its own";
browserTest(signedIn, options, async (arena) => {
  const anna = await behind(arena);
  await anna.heading("Rooms").waitFor();
  await anna.reads("anna@shop.example");
  await anna.reads(/^You may steer:/);
  await anna.looks("access");
  await anna.open(shop);
  await anna.button("Hold all").click();
  await anna.reads(/In force: Hold all\./);
  const [entry] = (await call(arena.cluster, "GET", "waiting_rooms/audit_log?per_page=5")).result;
  assert.equal(entry.actor, "anna@shop.example");
  assert.deepEqual(await anna.page.evaluate(() => [...Object.keys(sessionStorage)]), []);
  assert.deepEqual(anna.complaints, []);
  await anna.page.route("**/cdn-cgi/access/logout", (route) => route.fulfill({ body: "Gone." }));
  await anna.button("Sign out").click();
  await anna.reads("Gone.");
});

browserTest("who may nothing hears why, and can enter a token", options, async (arena) => {
  const gone = await behind(arena, { email: "gone@shop.example" });
  await gone.reads(/gone@shop\.example is signed in, but ACCESS_ROLES gives no right\./);
  await gone.looks("access-refused");
  await gone.signIn(SECRETS.API_TOKEN);
  await gone.heading("Rooms").waitFor();
});

const ended = "when the sign-in ends, the screen says so and offers a new one";
browserTest(ended, options, async (arena) => {
  const anna = await behind(arena);
  await anna.heading("Rooms").waitFor();
  // As Access answers the calls of a page whose sign-in has ended.
  await anna.page.route("**/client/v4/**", (route) => route.fulfill({ status: 401, body: "" }));
  await anna.reads("Cloudflare Access does not sign you in any more.");
  await anna.page.unrouteAll({ behavior: "ignoreErrors" });
  await anna.button("Sign in by Cloudflare Access").click();
  await anna.heading("Rooms").waitFor();
  const [{ id }] = (await call(arena.cluster, "GET", ROOMS)).result;
  assert.equal(id, shop.id);
});
