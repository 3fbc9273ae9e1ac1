/**
 * Threat 2, path tricks: whatever way a path is spelled, it does not reach a covered page without
 * the line. Models of servers say what each spelling is served as.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { startPair } from "../harness/pair.mjs";
import { room } from "../harness/rooms.mjs";
import { send } from "../harness/http.mjs";
import { reachedBy, SERVERS } from "../harness/servers.mjs";

const rule = {
  id: "1".repeat(32),
  action: "bypass_waiting_room",
  expression:
    'starts_with(http.request.uri.path, "/static/") or ' +
    'not starts_with(lower(http.request.uri.path), "/checkout")',
};
const held = { queue_all: true };
const shop = room({ name: "shop", path: "/checkout", ...held });
const exact = room({ name: "exact", path: "/Checkout", case_sensitive_path: true, ...held });
const cheese = room({ name: "cheese", path: "/k%C3%A4se", ...held });
const shared = { host: "shared.example", ...held };
const checkout = room({ name: "checkout", path: "/checkout", cookie_suffix: "a", ...shared });
const news = room({ name: "news", path: "/news", cookie_suffix: "b", ...shared, queue_all: false });
const ruled = room({ name: "ruled", bypass_rules: [rule], ...held });

/** Spellings of `/checkout` that some server takes for it, and some that none does. */
const SPELLINGS = [
  ..."checkout CHECKOUT CheckOut checkout/ checkout/x.css checkout. checkout..".split(" "),
  "checkout%20",
  ..."checkout%20. checkout%2e checkout;a=1 checkout;/../x checkout/.;/ checkout%3Ba=1".split(" "),
  ..."%63heckout %2563heckout %252563heckout c%48eckout %43HECKOUT %u0063heckout".split(" "),
  ..."checkout%2fpay checkout%252fpay checkout%25252fpay checkout%5cpay checkout\\pay".split(" "),
  ..."checkout%u002fpay checkout%c0%afpay checkout%e0%80%afpay checkout%c1%9cpay".split(" "),
  ..."%EF%BD%83heckout checkout%EF%BC%8Fpay checkout%00 checkout%00.css checkout%3fx".split(" "),
  ..."%63%68%65%63%6b%6f%75%74 %ff%63heckout checkout%0a checkout%09 checkout%23x".split(" "),
  ..."checkout%0d checkout%0b checkout%0c checkout%c2%a0 checkout%e3%80%80 %20checkout".split(" "),
  ..."%0acheckout %c2%a0checkout checkout%0ax check%09out check%00out checkout%ff".split(" "),
  ..."check%ffout check%out checkout%0d%0a/pay checkout%c2%85".split(" "),
  "checkout".replace("k", "%e2%84%aa"),
];
const BEFORE = [
  ..."/ // /./ /%2e/ /x/../ /x/%2e%2e/ /x/%2E./ /x/..%2f /x/%252e%252e/".split(" "),
  ..."/x/..;/ /x/..;a=1/".split(" "),
  ..."/x%2f..%2f /x/..%5c /%5c /%2f /x/%c0%ae%c0%ae/ /x/%u002e%u002e/ /x//../ /;a/ /.;/".split(" "),
  ..."/static/../ /static/%2e%2e/ /static/x/%2e%2e/%2e%2e/ /static/..%2f /static;/../".split(" "),
  ..."/x/.%00./ /x/..%09/ /x/.%0a./ /x/..%c2%a0/ /x/%20../ /%0a/ /%c2%a0/ /x/..%ff/".split(" "),
  ..."//x/ ///x/ /\\x/ /\\\\x/ //x;/ //[::1]/ /.//x/ //user@x:80/ //x/y/../ //x//".split(" "),
  ..."/%2fx/ /%5cx/ /%2f%2fx/ /%5c%5cx/ /%252fx/ /%09/x/ /;a//x/ /x/..//x/ //x/./".split(" "),
  ..."/x// /x/%2f /x/.// /x/;a// /x///y/ /x/%2f%2fy/ /x/http://y/".split(" "),
  ..."/http://x/ /http:/x/ /(S(abc))/ /(A(x)F(y))/ /%28S(abc)%29/".split(" "),
];
const PATHS = BEFORE.flatMap((start) => SPELLINGS.map((spelling) => start + spelling));

let pair;
/** The path of the last request that reached the origin. */
let reached;

before(async () => {
  const origin = (request, response) => {
    reached = request.url;
    response.end("origin");
  };
  pair = await startPair({ origin, rooms: [shop, exact, cheese, ruled, checkout, news] });
});
after(() => pair.stop());

/** The paths that reach the origin of a host and that some server takes for the held page. */
async function holes(host) {
  const found = [];
  for (const path of PATHS) {
    const { body } = await send({ port: pair.ports.product, host, path });
    const servers = body === "origin" ? reachedBy(path, "/checkout") : [];
    if (servers.length > 0) found.push(`${path} (${servers.join(", ")})`);
  }
  return found;
}

test("row 2: the models of servers read paths in different ways", () => {
  const differ = PATHS.filter((path) => {
    const count = reachedBy(path, "/checkout").length;
    return count > 0 && count < Object.keys(SERVERS).length;
  });
  assert.ok(differ.length > PATHS.length / 2, `${differ.length} of ${PATHS.length}`);
});

test("row 2: no spelling of a held path reaches a server that serves it", async () => {
  assert.deepEqual(await holes(shop.host), []);
});

test("row 2: no spelling of a held path matches a rule about another path", async () => {
  assert.deepEqual(await holes(ruled.host), []);
});

test("row 2: a visitor inside one room reaches no other by its name as a host", async () => {
  const ask = (path, headers) =>
    send({ port: pair.ports.product, host: shared.host, path, headers });
  const inside = await ask("/news");
  assert.equal(inside.body, "origin");
  const cookie = inside.headers["set-cookie"][0].split(";")[0];
  assert.equal((await ask("/news/x", { cookie })).body, "origin");
  for (const path of ["//news/checkout", "/\\news/checkout", "/http://news/checkout"]) {
    assert.equal((await ask(path, { cookie })).status, 400, path);
  }
});

test("row 2: a room for one letter case covers it in every encoding, and no other", async () => {
  const ask = (path) => send({ port: pair.ports.product, host: exact.host, path });
  const visit = async (path) => (await ask(path)).body;
  for (const path of ["/Checkout", "/%43heckout", "//Checkout.", "/x/../Checkout"]) {
    assert.notEqual(await visit(path), "origin", path);
  }
  for (const path of ["/checkout", "/CHECKOUT", "/%63heckout"]) {
    assert.equal(await visit(path), "origin", path);
  }
});

test("row 2: a letter that is written in parts is the letter of a room's path", async () => {
  const ask = (path) => send({ port: pair.ports.product, host: cheese.host, path });
  const visit = async (path) => (await ask(path)).body;
  for (const path of ["/k%C3%A4se", "/ka%CC%88se", "/KA%cc%88SE/x"]) {
    assert.notEqual(await visit(path), "origin", path);
  }
  for (const path of ["/kase", "/cafe%CC%81"]) assert.equal(await visit(path), "origin", path);
});

test("row 2: paths that are nobody's trick pass as they were written", async () => {
  const paths = ["/static/a.css", "/static/k%C3%A4se%20x/", "/about", "/.well-known/acme/a"];
  for (const path of paths) {
    const { body } = await send({ port: pair.ports.product, host: ruled.host, path });
    assert.equal(body, "origin", path);
    assert.equal(reached, path);
  }
});
