/** The Worker alone decides: nothing that a client says about itself opens the room. */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { look, visitorInside } from "../harness/visitor.mjs";

const shop = room({ name: "shop", total_active_users: 1, json_response_enabled: true });
const FLAGS = ["x-waiting-room", "cf-waiting-room", "x-queue-token", "x-admitted", "x-bypass"];
const WORDS = ["1", "true", "passed", "accepted"];
const COOKIES = [
  "waiting_room_passed=1",
  "__cfwaitingroom=accepted",
  '__cfwaitingroom={"accepted":true}',
  "__cfwaitingroom=eyJhY2NlcHRlZCI6dHJ1ZX0",
  "__cfwaitingroom_shop=1; queue=done",
];
const QUERIES = ["passed=1", "__cfwaitingroom=1", "queueittoken=e_x~q_1~ts_9~h_1", "bypass=true"];

const title = "row 24: no flag, cookie or query of a client opens the room";
clusterTestBothWays(title, { rooms: [shop] }, async (cluster) => {
  await visitorInside(cluster, shop);
  const tries = [
    ...FLAGS.flatMap((name) => WORDS.map((word) => ({ headers: { [name]: word } }))),
    ...COOKIES.map((cookie) => ({ headers: { cookie } })),
    ...QUERIES.map((query) => ({ path: `/?${query}` })),
    { headers: { accept: "application/json", "x-requested-with": "XMLHttpRequest" } },
    { headers: { "user-agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" } },
    { headers: { "sec-fetch-dest": "image", referer: `https://${shop.host}/inside` } },
    { headers: { range: "bytes=0-10", "if-none-match": "*" } },
    { method: "HEAD" },
    { method: "PROPFIND" },
    { headers: { "x-http-method-override": "OPTIONS" }, method: "POST", body: "a=1" },
  ];
  for (const one of tries) {
    const { kind } = await look(cluster, "ams-1", { host: shop.host, headers: {}, ...one });
    assert.notEqual(kind, "origin", JSON.stringify(one));
  }
  assert.equal((await cluster.arrivals()).length, 1, "the origin saw somebody else");
});
