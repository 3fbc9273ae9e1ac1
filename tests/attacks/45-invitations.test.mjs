/**
 * Threat 45, invitations: forged, expired, of another room, under another algorithm, used by more
 * than may, guessed, put into a ticket by hand, or sent for a visitor who has pressed nothing.
 */

import assert from "node:assert/strict";

import { ROOMS, call, refused } from "../harness/api.mjs";
import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { inParallel } from "../harness/crowd.mjs";
import { inviter, join, ownKeys, signed } from "../harness/invitation.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";

const NAME = "__cfwaitingroom";
const fields = {
  invitation_groups: [{ name: "members", enters: "first" }, { name: "staff" }],
  invitation_only: true,
  total_active_users: 50,
};
const shop = room({ name: "shop", ...fields });
const office = room({ name: "office", ...fields });
const keys = ownKeys();
const gallery = room({
  name: "gallery",
  ...fields,
  invitation_groups: [{ name: "friends", public_key: keys.x }, { name: "staff" }],
});
const presale = room({
  name: "presale",
  ...fields,
  total_active_users: 1,
  new_places_per_network: 1,
});
const options = { rooms: [shop, office, gallery, presale], colos: { AMS: 2, NRT: 2, IAD: 1 } };

async function comers(cluster, count, colos = ["AMS"]) {
  const visitors = Array.from({ length: count }, (_, at) => {
    const colo = colos[at % colos.length];
    return new Visitor(cluster, { name: `visitor-${at}`, host: shop.host, colo });
  });
  for (const visitor of visitors) await visitor.visit();
  return visitors;
}

const forged = "row 45: a code that the room's own key has not signed as it is opens nothing";
clusterTestBothWays(forged, options, async (cluster) => {
  const { key, claims, make } = await inviter(cluster, shop, "members");
  const others = await inviter(cluster, office, "members");
  const [visitor] = await comers(cluster, 1);
  const own = { ...claims, jti: "a" };
  const good = make({ jti: "a" });
  const [header, text, signature] = good.split(".");
  const none = Buffer.from('{"alg":"none"}').toString("base64url");
  const staff = Buffer.from(JSON.stringify({ ...own, group: "staff" })).toString("base64url");
  const past = Math.floor(cluster.clock.now() / 1_000) - 1;
  const wrong = [
    ["no signature", `${none}.${text}.`],
    ["no signature under the right header", `${header}.${text}.`],
    ["another algorithm", signed(key, own, { alg: "HS512" })],
    ["an algorithm of public keys", signed(key, own, { alg: "EdDSA" })],
    ["a critical extension", signed(key, own, { alg: "HS256", crit: ["exp"] })],
    ["no key", signed("", own)],
    ["the name for a key", signed("members", own)],
    ["a key of another room", signed(others.key, own)],
    ["another room", others.make({ jti: "a" })],
    ["another group", make({ jti: "a", group: "staff" })],
    ["a group that is put in", `${header}.${staff}.${signature}`],
    ["no end", make({ jti: "a", exp: undefined })],
    ["an end in a hundred years", make({ jti: "a", exp: past + 3_155_760_000 })],
    ["no name", make({})],
    ["more uses than there are", make({ jti: "a", uses: 1e9 })],
  ];
  const calls = await cluster.calls("GlobalAggregator", shop);
  for (const [what, code] of wrong) {
    const { status } = await join(visitor, code);
    assert.equal(status, 404, what);
  }
  assert.equal((await join(visitor, make({ jti: "a", exp: past }))).status, 410, "it is over");
  // A guess costs no object anything.
  assert.equal(await cluster.calls("GlobalAggregator", shop), calls);
  await visitor.visit();
  assert.ok(visitor.waiting);
  assert.equal((await join(visitor, good)).status, 200);
  await visitor.visit();
  assert.ok(visitor.inside);
  for (const piece of [good, signature, key]) assert.equal(cluster.log.count(piece), 0);
});

const owned = "row 45: the owner's own key alone signs, and its public half is no secret";
clusterTestBothWays(owned, options, async (cluster) => {
  const staff = await inviter(cluster, gallery, "staff");
  const friends = await inviter(cluster, gallery, "friends");
  assert.equal(friends.key, null, "there is a second key");
  const visitor = new Visitor(cluster, { name: "guest", host: gallery.host });
  await visitor.visit();
  const own = { ...friends.claims, jti: "a" };
  const good = keys.signed(own);
  const [header, text, signature] = good.split(".");
  const other = Buffer.from(JSON.stringify({ ...own, uses: 9 })).toString("base64url");
  const { x, publicKey } = keys;
  const pem = publicKey.export({ format: "pem", type: "spki" });
  const wrong = [
    ["another's key", ownKeys().signed(own)],
    ["claims that are put in", `${header}.${other}.${signature}`],
    ["no signature", `${header}.${text}.`],
    ["a signature that is cut", good.slice(0, -2)],
    ["no algorithm", keys.signed(own, { alg: "none" })],
    ["the algorithm of the others", keys.signed(own, { alg: "HS256" })],
    ["a key of the deployment", signed(staff.key, own)],
    ["the owner's key for another group", keys.signed({ ...own, group: "staff" })],
    ["the owner's key in another room", keys.signed({ ...own, room: shop.id })],
    ["no end", keys.signed({ ...own, exp: undefined })],
  ];
  // What everybody may know of the key, taken for a secret.
  for (const secret of [x, Buffer.from(x, "base64url"), pem, JSON.stringify({ x }), ""]) {
    wrong.push(["the public key for a secret", signed(secret, own)]);
    wrong.push(["the public key for a secret", signed(secret, own, { alg: "EdDSA" })]);
  }
  const calls = await cluster.calls("GlobalAggregator", gallery);
  for (const [what, code] of wrong) {
    const { status } = await join(visitor, code);
    assert.equal(status, 404, what);
  }
  assert.equal(await cluster.calls("GlobalAggregator", gallery), calls);
  await visitor.visit();
  assert.ok(visitor.waiting);
  assert.equal((await join(visitor, good)).status, 200);
  await visitor.visit();
  assert.ok(visitor.inside);
  // By a point of small order everybody could sign, and a private key is nobody's to have.
  const weak = Buffer.alloc(32).toString("base64url");
  const secret = { kty: "OKP", crv: "Ed25519", x, d: x };
  for (const key of [weak, x.slice(1), secret, { kty: "oct", k: x }]) {
    const groups = { invitation_groups: [{ name: "friends", public_key: key }] };
    const { errors } = await refused(cluster, 400, "PATCH", `${ROOMS}/${gallery.id}`, groups);
    assert.match(JSON.stringify(errors), /invitation_groups\/0\/public_key/);
  }
});

const shared = "row 45: a shared code is used by as many as may, from everywhere at once";
clusterTest(shared, options, async (cluster) => {
  const { make } = await inviter(cluster, shop, "members");
  const USES = 5;
  const [one, some] = [make({ jti: "one" }), make({ jti: "some", uses: USES })];
  const visitors = await comers(cluster, 40, ["AMS", "NRT", "IAD"]);
  for (const [code, uses] of [[one, 1], [some, USES]]) {
    const free = visitors.filter((visitor) => !visitor.group);
    const statuses = [];
    await inParallel(free, free.length, async (visitor) => {
      const { status } = await join(visitor, code);
      visitor.group = status === 200;
      statuses.push(status);
    });
    assert.equal(statuses.filter((status) => status === 200).length, uses, statuses.join());
    assert.ok(statuses.every((status) => status === 200 || status === 410), statuses.join());
  }
  await cluster.advance(3_000);
  await cluster.killObjects();
  // A lost answer costs nobody the place, and nobody else gets one by it.
  for (const visitor of visitors) {
    const { status } = await join(visitor, some);
    assert.equal(status === 200, visitor.group === true);
  }
  for (const visitor of visitors) await visitor.visit();
  const inside = visitors.filter((visitor) => visitor.inside);
  assert.equal(inside.length, USES + 1);
});

const pressed = "row 45: no link, no other site and no ticket of one's own joins a group";
clusterTestBothWays(pressed, options, async (cluster) => {
  const { make } = await inviter(cluster, shop, "members");
  const code = make({ jti: "a", uses: 9 });
  const [victim] = await comers(cluster, 1);
  for (const path of [`/?waiting-room-place&act=join&invitation=${code}`, `/?invitation=${code}`]) {
    for (const method of ["GET", "HEAD"]) await victim.visit({ path, method });
  }
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const request = { method: "POST", path: "/?waiting-room-place" };
  const body = `act=join&invitation=${code}`;
  for (const other of ["null", "https://other.example", `https://${shop.host}:8443`, undefined]) {
    const headers = other ? { ...form, origin: other } : form;
    assert.equal((await victim.visit({ ...request, body, headers })).status, 403, other);
  }
  // A place to go to, in the form or the address, is nobody's.
  const headers = { ...form, origin: `http://${shop.host}`, referer: "https://evil.example/a" };
  const path = "/?next=https://evil.example&waiting-room-place";
  await victim.visit({ method: "POST", path, body, headers });
  await victim.visit();
  assert.ok(victim.waiting, "a victim who has pressed nothing is invited");
  // Any other bit of the ticket makes it none.
  const ticket = victim.cookie(NAME);
  const bytes = Buffer.from(ticket, "base64url");
  for (let bit = 0; bit < 32; bit += 1) {
    const forged = Buffer.from(bytes);
    // The counter and the group are the last word before the tag.
    forged[bytes.length - 17 - Math.floor(bit / 8)] ^= 1 << bit % 8;
    const cookie = `${NAME}=${forged.toString("base64url")}`;
    const thief = new Visitor(cluster, { name: "thief", host: shop.host });
    await thief.visit({ headers: { cookie } });
    assert.ok(thief.waiting, `bit ${bit}`);
  }
  const sent = await victim.visit({ ...request, body, headers });
  assert.equal(sent.status, 303);
  assert.ok(!sent.headers.location.includes("evil.example"), sent.headers.location);
  await victim.visit();
  assert.ok(victim.inside, "the button of the page does not work");
});

const opened =
  "row 45: nobody has kept a place without an invitation when the room is opened to all";
clusterTest(opened, options, async (cluster) => {
  const headers = { "cf-connecting-ip": "203.0.113.9" };
  const strangers = Array.from({ length: 5 }, (_, at) => {
    return new Visitor(cluster, { name: `stranger-${at}`, host: presale.host, colo: "IAD" });
  });
  const isolate = "iad-1";
  for (const stranger of strangers) await stranger.visit({ isolate, headers });
  assert.ok(strangers.every(({ cookies }) => cookies), "each of them has a ticket");
  await call(cluster, "PATCH", `${ROOMS}/${presale.id}`, { invitation_only: false });
  await cluster.advance(10_000);
  for (const name of ["first", "second"]) {
    const person = new Visitor(cluster, { name, host: presale.host, colo: "IAD" });
    await person.visit({ isolate, headers: { "cf-connecting-ip": "198.51.100.1" } });
  }
  await cluster.advance(3_000);
  const given = [];
  for (const stranger of strangers) {
    const { headers: answer } = await stranger.visit({ isolate, headers });
    if (answer["set-cookie"]) given.push(stranger.name);
  }
  assert.deepEqual(given, ["stranger-0"], "places beyond the share of newcomers");
});
