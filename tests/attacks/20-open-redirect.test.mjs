/** No address in a request is ever followed: where we redirect, it is to the same host. */

import assert from "node:assert/strict";
import { after } from "node:test";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { asking, startSiteverify } from "../harness/siteverify.mjs";
import { Visitor, look, visitorInside } from "../harness/visitor.mjs";

const siteverify = await startSiteverify();
after(() => siteverify.stop());
const shop = room({
  name: "shop",
  total_active_users: 1,
  turnstile_mode: "visible_managed",
  turnstile_action: "infinite_queue",
});
const options = { rooms: [shop], ...asking(siteverify) };
const EVIL = "evil.example";
/** Ways to name another site, also to browsers that take `//` and `\` for the beginning of one. */
const PATHS = [
  `/?next=https://${EVIL}/`,
  `/?url=//${EVIL}&redirect_uri=https%3A%2F%2F${EVIL}`,
  `//${EVIL}/`,
  `///${EVIL}/..`,
  `/\\${EVIL}/`,
  `/%5c${EVIL}/`,
  `/%2f%2f${EVIL}/`,
  `/@${EVIL}`,
  `/.${EVIL}`,
  `/?x=%0d%0aLocation:%20https://${EVIL}/`,
];

const title = "row 20: no answer of the room leads to another site";
clusterTestBothWays(title, options, async (cluster) => {
  await visitorInside(cluster, shop);
  await cluster.advance(3_000);
  let redirects = 0;
  for (const path of PATHS) {
    const plain = await look(cluster, "ams-1", { host: shop.host, path });
    assert.equal(plain.headers.location, undefined, path);
    assert.ok(!String(plain.headers.refresh).includes(EVIL), path);
    const sign = path.includes("?") ? "&" : "?";
    const token = siteverify.token(shop.host, shop.id);
    const person = new Visitor(cluster, { name: "person", host: shop.host });
    const answer = await person.visit({ path: `${path}${sign}cf_wr_turnstile=${token}` });
    if (answer.headers.location === undefined) continue;
    redirects += 1;
    const target = new URL(answer.headers.location, `http://${shop.host}${path}`);
    assert.equal(target.hostname, shop.host, `${path}: ${answer.headers.location}`);
  }
  assert.ok(redirects > 3, `only ${redirects} redirects were tried`);
});
