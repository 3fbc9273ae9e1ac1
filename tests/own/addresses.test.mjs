/** Who a visitor is, is told by the peer and by named proxies alone, whatever a visitor claims. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { isIn, networksIn } from "../../src/networks.js";
import { KEEPS, KEPT, OwnServer } from "../harness/own-server.mjs";
import { room } from "../harness/rooms.mjs";
import { look } from "../harness/visitor.mjs";

const ALL = { timeout: 300_000 };
const HOST = "shop.example";
const OFFICE = "203.0.113.9";
const ELSEWHERE = "198.51.100.9";
/** Opens the room for an address, a country and a scheme: nobody else enters. */
const rule = (id, expression) => ({
  id: id.repeat(32),
  action: "bypass_waiting_room",
  expression,
});
const bypass_rules = [
  rule("1", "ip.src in {203.0.113.0/24}"),
  rule("2", 'ip.src.country eq "CH"'),
  rule("3", 'starts_with(http.request.full_uri, "https://shop.example/secure/")'),
  rule("4", 'cf.ray_id ne ""'),
  rule("6", `not cf.client.bot or not ip.src.asnum in {1} or not ip.src.region in {"BY"}`),
  rule("5", 'any(http.request.headers["cf-ipcountry"][*] eq "CH")'),
];
const rooms = [
  room({ name: "shop", queue_all: true, bypass_rules }),
  room({
    name: "open",
    host: "open.shop.example",
    total_active_users: 100,
    // A renewal sets the cookie again, whenever another second has begun.
    disable_session_renewal: true,
  }),
];
/** All by which a client may claim to be of the office, or by HTTPS. */
const CLAIMS = {
  "cf-connecting-ip": OFFICE,
  "cf-connecting-ipv6": OFFICE,
  "cf-pseudo-ipv4": OFFICE,
  "cf-ipcountry": "CH",
  "cf-ray": "0123456789abcdef-ZRH",
  "true-client-ip": OFFICE,
  "x-client-ip": OFFICE,
  "x-country": "CH",
  "x-forwarded-for": OFFICE,
  "x-forwarded-proto": "https",
  "x-real-ip": OFFICE,
  forwarded: `for=${OFFICE};proto=https`,
  "x-forwarded-host": HOST,
  "x-forwarded-uri": "/secure/a",
  "x-host": HOST,
  "x-original-host": HOST,
  // Many servers take these for the same.
  x_forwarded_for: OFFICE,
  x_forwarded_host: HOST,
  "x-forwarded-prefix": "/secure",
  script_name: "/secure",
  "x_original-host": HOST,
};
/** What a named proxy writes over the claims of clients. */
const OF_PROXIES = ["x-country", "x-forwarded-for", "x-forwarded-proto"];

test("networks hold the addresses that they name", () => {
  const check = (networks, address, want) =>
    assert.equal(isIn(networksIn(networks), address), want, `${address} in ${networks}`);
  check("192.0.2.0/24", "192.0.2.255", true);
  check("192.0.2.0/24", "192.0.3.0", false);
  check("192.0.2.1", "192.0.2.1", true);
  check("192.0.2.1", "192.0.2.10", false);
  check("10.0.0.0/8, ::1", "::1", true);
  check("10.0.0.0/8, ::1", "10.255.0.1", true);
  check("10.0.0.0/8", "::ffff:10.1.2.3", true);
  check("2001:db8::/32", "2001:db8:ffff::1", true);
  check("2001:db8::/32", "2001:db9::", false);
  check("::/0", "2001:db9::1", true);
  check("0.0.0.0/0", "2001:db9::1", false);
  const no = ["", "unknown", "192.0.2.256", "1.2.3", "::1%lo", "localhost", "192.0.2.1:80"];
  for (const none of no) {
    check("0.0.0.0/0,::/0", none, false);
  }
  for (const wrong of ["192.0.2.0/33", "::/129", "192.0.2.0/", "a", "1.2.3.4/8/8", "::1/-1"]) {
    assert.throws(() => networksIn(wrong), { message: /is no address, and no network like/ });
  }
});

for (const address of ["127.0.0.1", "*"]) {
  const title = `without a proxy no claim opens anything, nor reaches the site (on ${address})`;
  test(title, ALL, async (t) => {
    const server = await OwnServer.make(t, { rooms });
    await server.start({ address });
    await gainNothing(server, ["x-country"]);
  });
}

test("no cache ahead is told to keep an answer with a ticket", ALL, async (t) => {
  const server = await OwnServer.make(t, { rooms });
  await server.start();
  const told = async (headers) => {
    const answer = await look(server, "own", { host: "open.shop.example", path: KEPT, headers });
    assert.equal(answer.kind, "origin");
    return [answer.headers["set-cookie"]?.[0], KEEPS.filter((name) => name in answer.headers)];
  };
  const [set, kept] = await told({});
  assert.deepEqual(kept, []);
  assert.deepEqual(await told({ cookie: set.split(";")[0] }), [undefined, KEEPS]);
});

test("a peer that is not named is no proxy", ALL, async (t) => {
  const server = await OwnServer.make(t, { rooms });
  await server.start({ "trusted-proxies": "10.0.0.0/8", "client-country-header": "X-Country" });
  await gainNothing(server, []);
});

test("a named proxy tells address, country and scheme, and no more", ALL, async (t) => {
  const server = await OwnServer.make(t, { rooms });
  const named = { "trusted-proxies": "127.0.0.1,::1", "client-country-header": "X-Country" };
  await server.start(named);
  const check = async (headers, want, path = "/") => {
    const { kind } = await look(server, "own", { host: HOST, path, headers });
    assert.equal(kind, want, JSON.stringify(headers));
  };
  await check({ "x-forwarded-for": OFFICE }, "origin");
  await check({ "x-forwarded-for": `${ELSEWHERE}, ${OFFICE}` }, "origin");
  await check({ "x-forwarded-for": `${OFFICE}, ${ELSEWHERE}` }, "queue");
  await check({ "x-forwarded-for": `${OFFICE}, 127.0.0.1` }, "origin");
  await check({ "x-forwarded-for": `${OFFICE}, unknown` }, "queue");
  // As some proxies write it.
  await check({ "x-forwarded-for": `${ELSEWHERE}:443, ${OFFICE}:5678, [::1]:80` }, "origin");
  await check({ "x-forwarded-for": `${OFFICE}:5678, ${ELSEWHERE}:443` }, "queue");
  // As a socket for both kinds of addresses tells one of IPv4.
  await check({ "x-forwarded-for": `::ffff:${OFFICE}, ::FFFF:127.0.0.1` }, "origin");
  await check({ "x-forwarded-for": `[::ffff:${OFFICE}]:5678` }, "origin");
  await check({ "x-forwarded-for": `::ffff:${ELSEWHERE}` }, "queue");
  await check({ "x-country": "ch" }, "origin");
  await check({ "x-country": "CHX" }, "queue");
  await check({ "x-forwarded-proto": "https" }, "origin", "/secure/a");
  await check({ "x-forwarded-proto": "http" }, "queue", "/secure/a");
  const others = Object.entries(CLAIMS).filter(([name]) => !OF_PROXIES.includes(name));
  await check(Object.fromEntries(others), "queue", "/secure/a");

  const open = { host: "open.shop.example", path: "/" };
  const told = {
    "x-forwarded-host": "open.shop.example",
    "x-forwarded-prefix": "/open",
    forwarded: "host=open.shop.example",
  };
  // No proxy writes these, but some pass them on.
  const claims = { x_forwarded_host: HOST, x_original_url: "/secure", script_name: "/secure" };
  const headers = { "x-forwarded-for": OFFICE, "x-forwarded-proto": "https", ...told, ...claims };
  const answer = await look(server, "own", { ...open, headers });
  assert.equal(answer.kind, "origin");
  assert.match(answer.headers["set-cookie"][0], /; Secure/);
  const { headers: got } = server.origin.arrivals.at(-1);
  assert.deepEqual(
    [got.host, got["x-forwarded-for"], got["x-forwarded-proto"]],
    ["open.shop.example", OFFICE, "https"],
  );
  for (const [name, value] of Object.entries(told)) assert.equal(got[name], value, "as it is told");
  for (const name of Object.keys(claims)) assert.equal(got[name], undefined, name);
});

test("whoever is elsewhere reaches no cockpit and no API by naming localhost", ALL, async (t) => {
  const server = await OwnServer.make(t, { rooms });
  const named = { "trusted-proxies": "127.0.0.1,::1", "admin-hosts": "localhost,ops.example" };
  await server.start(named);
  const check = async (host, from, want) => {
    const headers = from ? { "x-forwarded-for": from } : {};
    const { status } = await server.send("own", { host, path: "/_waiting-room/", headers });
    assert.equal(status, want, `${host} from ${from}`);
  };
  const spellings = ["localhost", "LOCALHOST:80", "localhost.", "a@localhost", "localhost..:1"];
  for (const host of spellings) {
    for (const from of [OFFICE, "2001:db8::1", "unknown"]) await check(host, from, 421);
  }
  for (const from of ["", "127.0.0.1", "::1", "10.1.2.3", "172.17.0.1", "::ffff:192.168.1.2"]) {
    await check("localhost", from, 200);
  }
  await check("ops.example", OFFICE, 200);
});

/** Sends all claims, one by one and at once: the site hears of the `usual` headers alone. */
async function gainNothing(server, usual) {
  const single = Object.entries(CLAIMS).map(([name, value]) => ({ [name]: value }));
  for (const claims of [...single, CLAIMS]) {
    const request = { host: HOST, path: "/secure/a", headers: claims };
    const { kind } = await look(server, "own", request);
    assert.equal(kind, "queue", JSON.stringify(claims));
  }
  const open = { host: "open.shop.example", path: "/" };
  const answer = await look(server, "own", { ...open, headers: CLAIMS });
  assert.equal(answer.kind, "origin");
  assert.doesNotMatch(answer.headers["set-cookie"][0], /; Secure/);
  const { headers } = server.origin.arrivals.at(-1);
  const told = Object.keys(CLAIMS).filter((name) => headers[name] !== undefined);
  assert.deepEqual(told.sort(), [...usual, "x-forwarded-for", "x-forwarded-proto"]);
  const { "x-forwarded-for": from, "x-forwarded-proto": scheme } = headers;
  assert.deepEqual([from, scheme], ["127.0.0.1", "http"]);
  // Whoever asks for another host gets to no site.
  for (const host of ["other.example", "a.shop.example"]) {
    assert.equal((await look(server, "own", { host, path: "/" })).status, 421, host);
  }
}
