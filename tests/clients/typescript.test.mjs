/**
 * The official TypeScript client, unchanged but for the base URL and the token. It looks at what
 * the client gives back and at nothing else.
 */

import assert from "node:assert/strict";

import Cloudflare from "cloudflare";

import { clusterTest } from "../harness/cluster-test.mjs";
import { ZONE as zone_id, room } from "../harness/rooms.mjs";

const shop = room({ name: "shop" });
const options = { rooms: [shop], colos: { AMS: 1 } };
/** More than two pages of 25. */
const ROOMS = 60;

clusterTest("a room: create, get, update, edit, delete", options, async (cluster) => {
  const { waitingRooms } = client(cluster);
  const sale = fields("sale");
  const made = await waitingRooms.create({ zone_id, ...sale });
  assert.deepEqual([made.name, made.host, made.path], ["sale", "sale.example", "/"]);
  assert.deepEqual(await waitingRooms.get(made.id, { zone_id }), made);
  const updated = await waitingRooms.update(made.id, { zone_id, ...sale, session_duration: 9 });
  assert.deepEqual([updated.id, updated.session_duration], [made.id, 9]);
  const change = { zone_id, ...sale, total_active_users: 30, queue_all: true };
  const edited = await waitingRooms.edit(made.id, change);
  assert.deepEqual([edited.total_active_users, edited.session_duration], [30, 9]);
  assert.equal((await waitingRooms.statuses.get(made.id, { zone_id })).status, "queueing");
  assert.equal((await waitingRooms.delete(made.id, { zone_id })).id, made.id);
  await assert.rejects(waitingRooms.get(made.id, { zone_id }), Cloudflare.NotFoundError);
});

clusterTest(`a list of ${ROOMS} rooms, page by page`, options, async (cluster) => {
  const { waitingRooms } = client(cluster);
  const names = Array.from({ length: ROOMS - 1 }, (_, at) => `room-${at}`);
  for (const name of names) await waitingRooms.create({ zone_id, ...fields(name) });
  for (const scope of [{ zone_id }, { account_id: "any" }]) {
    const listed = [];
    for await (const { name } of waitingRooms.list(scope)) listed.push(name);
    assert.deepEqual(listed.sort(), [...names, "shop"].sort());
  }
  const page = await waitingRooms.list({ zone_id, per_page: 50, page: 2 });
  assert.equal(page.result.length, ROOMS - 50);
});

clusterTest("settings, preview and what is refused", options, async (cluster) => {
  const { waitingRooms } = client(cluster);
  const bypass = { search_engine_crawler_bypass: true };
  assert.deepEqual(pick(await waitingRooms.settings.update({ zone_id, ...bypass })), bypass);
  assert.deepEqual(pick(await waitingRooms.settings.get({ zone_id })), bypass);
  const off = { search_engine_crawler_bypass: false };
  assert.deepEqual(pick(await waitingRooms.settings.edit({ zone_id, ...off })), off);
  const { preview_url: url } = await waitingRooms.page.preview({ zone_id, custom_html: "<p>hi" });
  assert.equal(await (await fetch(url)).text(), "<p>hi");
  const wrong = { zone_id, ...fields("wrong"), total_active_users: 0 };
  await assert.rejects(waitingRooms.create(wrong), (error) => {
    assert.ok(error instanceof Cloudflare.BadRequestError);
    assert.match(error.errors[0].message, /total_active_users/);
    return true;
  });
  const stranger = client(cluster, "guessed").waitingRooms;
  await assert.rejects(stranger.get(shop.id, { zone_id }), Cloudflare.PermissionDeniedError);
});

function client(cluster, apiToken = "local-development-only") {
  const place = { host: "127.0.0.1", path: "/_waiting-room/client/v4" };
  return new Cloudflare({ apiToken, baseURL: cluster.address("ams-1", place), maxRetries: 0 });
}

function fields(name) {
  const limits = { total_active_users: 20, new_users_per_minute: 20 };
  return { name, host: `${name}.example`, ...limits };
}

function pick({ search_engine_crawler_bypass }) {
  return { search_engine_crawler_bypass };
}
