/** Coverage follows host and path alone: the ending of a file's name uncovers nothing. */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { look, visitorInside } from "../harness/visitor.mjs";

const shop = room({ name: "shop", path: "/buy", total_active_users: 1 });
const { host, path } = shop;
/** What caches and gates elsewhere take for a file that anybody may have. */
const FILES = [
  "x.css",
  "x.js",
  "x.png",
  "x.ico",
  "x.woff2",
  "x.html;.css",
  "deep/er/x.svg",
  "x.css?y=1",
  "?x=.css",
  "robots.txt",
  ".well-known/x.json",
];

const title = "row 3: what looks like a static file waits like every page";
clusterTestBothWays(title, { rooms: [shop] }, async (cluster) => {
  await visitorInside(cluster, shop);
  for (const file of FILES) {
    const address = { host, path: `${path}/${file}` };
    assert.equal((await look(cluster, "ams-1", address)).kind, "queue", file);
    // As a part of a page it gets neither the site nor a page in its place.
    const headers = { "sec-fetch-dest": "style", accept: "text/css,*/*;q=0.1" };
    const part = await look(cluster, "ams-1", { ...address, headers });
    assert.equal(part.kind, "else", `${file} as a part of a page`);
  }
  const beside = await look(cluster, "ams-1", { host, path: "/buyers/x.css" });
  assert.equal(beside.kind, "origin", "what no room covers stays open");
});
