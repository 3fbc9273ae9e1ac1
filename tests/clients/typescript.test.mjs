/**
 * The official TypeScript client, unchanged but for the base URL and the token. It looks at what
 * the client gives back and at nothing else.
 */

import assert from "node:assert/strict";

import Cloudflare from "cloudflare";

import { apiAddress } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { describedFetch } from "../harness/described.mjs";
import { ZONE as zone_id, room } from "../harness/rooms.mjs";

const shop = room({ name: "shop" });
// Clients of their own, by the clock of the machine.
const options = { rooms: [shop], colos: { AMS: 1 }, stopped: false };
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
  await cluster.advance(5_000); // by then a change counts everywhere
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

clusterTest("an event: create, read, change, delete", options, async (cluster) => {
  const { events } = client(cluster).waitingRooms;
  const place = { zone_id, waiting_room_id: shop.id };
  const sale = {
    name: "opening",
    event_start_time: "2030-12-01T18:00:00Z",
    event_end_time: "2030-12-01T20:00:00Z",
  };
  const made = await events.create(shop.id, { zone_id, ...sale });
  assert.equal(made.event_start_time, sale.event_start_time);
  assert.deepEqual(await events.get(made.id, place), made);
  const listed = [];
  for await (const { name } of events.list(shop.id, { zone_id })) listed.push(name);
  assert.deepEqual(listed, [sale.name]);
  const limits = { total_active_users: 50, new_users_per_minute: 40 };
  await events.update(made.id, { ...place, ...sale, ...limits });
  const edited = await events.edit(made.id, { ...place, ...sale, name: "first-day" });
  assert.deepEqual([edited.name, edited.total_active_users], ["first-day", 50]);
  const details = await events.details.get(made.id, place);
  assert.deepEqual([details.new_users_per_minute, details.session_duration], [40, 1]);
  assert.equal((await events.delete(made.id, place)).id, made.id);
  await assert.rejects(events.get(made.id, place), Cloudflare.NotFoundError);
});

clusterTest("rules: create, read, replace, edit, delete", options, async (cluster) => {
  const { rules } = client(cluster).waitingRooms;
  const place = { zone_id, waiting_room_id: shop.id };
  const rule = (expression) => ({ action: "bypass_waiting_room", expression });
  const staff = rule("ip.src in {192.0.2.1}");
  const link = rule('ends_with(http.request.uri.path, "/userverified")');
  const all = async (page) => {
    const rules = [];
    for await (const one of page) rules.push(one);
    return rules;
  };
  const [made] = await all(rules.create(shop.id, { zone_id, rules: staff }));
  assert.deepEqual([made.expression, made.enabled], [staff.expression, true]);
  const replaced = await all(rules.update(shop.id, { zone_id, rules: [link, staff] }));
  assert.deepEqual(
    replaced.map(({ expression }) => expression),
    [link.expression, staff.expression],
  );
  assert.deepEqual(await all(rules.get(shop.id, { zone_id })), replaced);
  const { id } = replaced[1];
  const change = { ...place, ...staff, enabled: false, position: { index: 1 } };
  const [first] = await all(rules.edit(id, change));
  assert.deepEqual([first.id, first.enabled], [id, false]);
  const left = await all(rules.delete(id, place));
  assert.deepEqual(
    left.map(({ expression }) => expression),
    [link.expression],
  );
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

clusterTest("rules, and lists that they refer to", options, async (cluster) => {
  const { waitingRooms, rules } = client(cluster);
  const [account_id, action] = ["any", "bypass_waiting_room"];
  const rule = (expression) => ({ zone_id, rules: { action, expression } });
  const made = await rules.lists.create({ account_id, kind: "ip", name: "office" });
  const item = { ip: "203.0.113.0/24" };
  const added = await rules.lists.items.create(made.id, { account_id, body: [item] });
  const done = await rules.lists.bulkOperations.get(added.operation_id, { account_id });
  assert.equal(done.status, "completed");
  const { result: one } = await waitingRooms.rules.create(shop.id, rule("ip.src in $office"));
  const { result: both } = await waitingRooms.rules.create(shop.id, rule("ssl"));
  assert.deepEqual(both[0], one[0]);
  const change = { zone_id, action, expression: "not ssl", position: { index: 1 } };
  const place = { waiting_room_id: shop.id };
  const { result: edited } = await waitingRooms.rules.edit(both[1].id, { ...place, ...change });
  assert.deepEqual(
    edited.map(({ expression, version }) => [expression, version]),
    [
      ["not ssl", "2"],
      ["ip.src in $office", "1"],
    ],
  );
  const listed = [];
  for await (const list of rules.lists.list({ account_id })) listed.push(list);
  assert.deepEqual(
    listed.map((list) => [list.name, list.num_items, list.num_referencing_filters]),
    [["office", 1, 1]],
  );
  const update = { zone_id, rules: [] };
  assert.deepEqual((await waitingRooms.rules.update(shop.id, update)).result, []);
  const items = [];
  for await (const one of rules.lists.items.list(made.id, { account_id })) items.push(one);
  assert.deepEqual(
    items.map(({ ip }) => ip),
    [item.ip],
  );
  const remove = { account_id, items: [{ id: items[0].id }] };
  await rules.lists.items.delete(made.id, remove);
  assert.equal((await rules.lists.get(made.id, { account_id })).num_items, 0);
  assert.equal((await rules.lists.delete(made.id, { account_id })).id, made.id);
});

function client(cluster, apiToken = SECRETS.API_TOKEN) {
  const fetch = describedFetch;
  return new Cloudflare({ apiToken, baseURL: apiAddress(cluster), maxRetries: 0, fetch });
}

function fields(name) {
  const limits = { total_active_users: 20, new_users_per_minute: 20 };
  return { name, host: `${name}.example`, ...limits };
}

function pick({ search_engine_crawler_bypass }) {
  return { search_engine_crawler_bypass };
}
