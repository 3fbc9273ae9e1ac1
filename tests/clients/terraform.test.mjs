/**
 * The requests of Cloudflare's Terraform provider (version 5, from which Pulumi's is made), written
 * down from its source: method, path, query, headers and body of each. And the same look-ups by
 * the official TypeScript client.
 */

import assert from "node:assert/strict";

import Cloudflare from "cloudflare";

import { apiAddress } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { describedFetch } from "../harness/described.mjs";
import { ZONE, room } from "../harness/rooms.mjs";

const OTHER = "11111111111111111111111111111111";
const READ_ONLY = "the-token-for-reading";
const shop = room({ name: "shop" });
const options = {
  rooms: [shop],
  colos: { AMS: 1 },
  stopped: false,
  vars: { ZONES: `${ZONE}=example,${OTHER}=other.net`, API_TOKEN_READ: READ_ONLY },
};
/** What the provider's client sends with each request. */
const HEADERS = {
  accept: "application/json",
  "content-type": "application/json",
  "user-agent": "terraform-provider-cloudflare/5.12.0 terraform/1.11.4",
  "x-stainless-lang": "go",
  "x-stainless-package-version": "6.1.0",
  "x-stainless-retry-count": "0",
};

/** Sends a request of the provider, and returns its status and result. */
function provider(cluster, token = SECRETS.API_TOKEN) {
  return async (method, path, body) => {
    const answer = await describedFetch(`${apiAddress(cluster)}/${path}`, {
      method,
      headers: { ...HEADERS, authorization: `Bearer ${token}` },
      body: body && JSON.stringify(body),
    });
    const { result, success, errors } = await answer.json();
    assert.equal(success, answer.ok, JSON.stringify(errors));
    return { status: answer.status, result, errors };
  };
}

clusterTest("data sources find zones, the account and the user", options, async (cluster) => {
  const ask = provider(cluster);
  // data cloudflare_zone with a filter: exactly one must be found, and is then read by its id.
  const byName = await ask("GET", "zones?account.id=any&match=all&name=example&status=active");
  assert.deepEqual(byName.result.map(({ id, name }) => [id, name]), [[ZONE, "example"]]);
  const { result: zone } = await ask("GET", `zones/${ZONE}`);
  assert.deepEqual(zone, byName.result[0]);
  for (const field of ["created_on", "modified_on"]) assert.ok(!isNaN(Date.parse(zone[field])));
  const kinds = [zone.status, zone.type, zone.paused, zone.development_mode];
  assert.deepEqual(kinds, ["active", "full", false, 0]);
  // data cloudflare_zones: page by page until one is empty.
  const page = async (query) => (await ask("GET", `zones?${query}`)).result.map(({ name }) => name);
  assert.deepEqual(await page("direction=desc&order=name"), ["other.net", "example"]);
  assert.deepEqual(await page("page=2"), []);
  assert.deepEqual(await page("per_page=1&page=2"), ["other.net"]);
  assert.deepEqual(await page("name=contains%3Aother"), ["other.net"]);
  assert.deepEqual(await page("name=unknown.example"), []);
  const any = "name=unknown.example&status=active&match=any";
  assert.deepEqual(await page(any), ["example", "other.net"]);
  assert.equal((await ask("GET", "zones?per_page=0")).status, 400);
  assert.equal((await ask("GET", `zones/${"f".repeat(32)}`)).status, 404);
  // data cloudflare_account with a filter: its list, then the one that was found.
  const { result: accounts } = await ask("GET", "accounts?name=waiting-room");
  assert.equal(accounts.length, 1);
  assert.deepEqual((await ask("GET", `accounts/${accounts[0].id}`)).result, accounts[0]);
  assert.deepEqual(zone.account, { id: accounts[0].id, name: accounts[0].name });
  const { result: user } = await ask("GET", "user");
  const { result: verified } = await ask("GET", `accounts/${accounts[0].id}/tokens/verify`);
  assert.deepEqual([user.id, user.email], [verified.id, "token@waiting-room.invalid"]);
});

clusterTest("resources are made, read, changed and destroyed", options, async (cluster) => {
  const ask = provider(cluster);
  const done = async (...parameters) => {
    const { status, result } = await ask(...parameters);
    assert.equal(status, 200);
    return result;
  };
  const rooms = `zones/${ZONE}/waiting_rooms`;
  const wanted = {
    host: "sale.example",
    name: "sale",
    new_users_per_minute: 300,
    path: "/",
    session_duration: 10,
    total_active_users: 500,
  };
  const made = await done("POST", rooms, wanted);
  const path = `${rooms}/${made.id}`;
  assert.deepEqual(await done("GET", path), made);
  // A field that the provider does not know is set elsewhere, and stays through an update.
  await done("PATCH", path, { maintenance: "drain" });
  const { id, created_on, modified_on, zone_id, ...known } = made;
  const { maintenance, ...others } = known;
  const updated = await done("PUT", path, { ...others, session_duration: 12 });
  assert.deepEqual([updated.session_duration, updated.maintenance], [12, "drain"]);

  const times = {
    event_start_time: "2030-12-01T18:00:00Z",
    event_end_time: "2030-12-01T22:00:00Z",
    prequeue_start_time: "2030-12-01T17:30:00Z",
  };
  const event = await done("POST", `${path}/events`, {
    name: "opening",
    shuffle_at_event_start: true,
    ...times,
  });
  for (const [name, time] of Object.entries(times)) assert.equal(event[name], time, "no diff");
  const ofEvent = `${path}/events/${event.id}`;
  await done("PUT", ofEvent, { name: "opening", ...times, description: "the first day" });
  assert.equal((await done("GET", ofEvent)).description, "the first day");

  const rule = { action: "bypass_waiting_room", expression: "ip.src in {203.0.113.0/24}" };
  const rules = await done("PUT", `${path}/rules`, [{ ...rule, description: "our office" }]);
  assert.deepEqual(await done("GET", `${path}/rules`), rules);
  assert.deepEqual(await done("PUT", `${path}/rules`, []), [], "destroyed");

  const settings = `${rooms}/settings`;
  const bypass = { search_engine_crawler_bypass: true };
  assert.equal((await done("PUT", settings, bypass)).search_engine_crawler_bypass, true);
  assert.equal((await done("GET", settings)).search_engine_crawler_bypass, true);

  await done("DELETE", ofEvent);
  await done("DELETE", path);
  assert.equal((await ask("GET", path)).status, 404, "the provider takes it out of its state");
});

clusterTest("a token for reading can plan, and changes nothing", options, async (cluster) => {
  const look = provider(cluster, READ_ONLY);
  const guess = provider(cluster, "guessed");
  const ofUser = ["user", "user/tokens/verify"];
  for (const path of ["zones", `zones/${ZONE}`, "accounts", "accounts/any", ...ofUser]) {
    assert.equal((await look("GET", path)).status, 200, path);
    assert.equal((await guess("GET", path)).status, 403, path);
  }
  const change = { host: "sale.example", name: "sale" };
  assert.equal((await look("POST", `zones/${ZONE}/waiting_rooms`, change)).status, 403);
  assert.equal((await look("PUT", "waiting_rooms/file", { format: 1 })).status, 403);
  assert.equal((await look("POST", "zones", { name: "new.example" })).status, 405);
  assert.notEqual((await look("GET", "user")).result.id, undefined);
});

clusterTest("the official client makes the same look-ups", options, async (cluster) => {
  const options = { baseURL: apiAddress(cluster), maxRetries: 0, fetch: describedFetch };
  const client = new Cloudflare({ ...options, apiToken: SECRETS.API_TOKEN });
  const all = async (page) => {
    const found = [];
    for await (const one of page) found.push(one);
    return found;
  };
  const zones = await all(client.zones.list({ account: { id: "any" }, per_page: 1 }));
  assert.deepEqual(zones.map(({ name }) => name), ["example", "other.net"]);
  assert.deepEqual(await client.zones.get({ zone_id: OTHER }), zones[1]);
  const [account, ...more] = await all(client.accounts.list({ name: "waiting-room" }));
  assert.equal(more.length, 0);
  assert.deepEqual(await client.accounts.get({ account_id: account.id }), account);
  const { id } = await client.user.get();
  assert.equal((await client.user.tokens.verify()).id, id);
  const named = new Cloudflare({
    ...options,
    apiToken: null,
    apiEmail: "me@shop.example",
    apiKey: SECRETS.API_TOKEN,
  });
  assert.equal((await named.user.get()).email, "me@shop.example");
});

const without = { ...options, vars: {} };
clusterTest("without ZONES the zones of rooms are there", without, async (cluster) => {
  const ask = provider(cluster);
  const { result: zones } = await ask("GET", "zones");
  assert.deepEqual(zones.map(({ id, name }) => [id, name]), [[ZONE, "shop.example"]]);
  assert.equal((await ask("GET", `zones/${OTHER}`)).status, 404);
});
