/**
 * A cookie that this room did not seal, or not so, makes a new visitor: never an error, never a way
 * in.
 */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { QUEUE_MARK, look, visitorInside } from "../harness/visitor.mjs";

const NAME = "__cfwaitingroom";
const full = room({ name: "full", total_active_users: 1 });
const other = room({ name: "other", total_active_users: 1 });
const options = { rooms: [full, other], colos: { AMS: 2 } };

clusterTestBothWays(
  "tampered, truncated and foreign cookies are new visitors",
  options,
  async (cluster) => {
    const guest = await visitorInside(cluster, full);
    const accepted = guest.cookie(NAME);
    const stranger = await visitorInside(cluster, other);
    const foreign = stranger.cookie(NAME);

    for (const cookie of forgeries(accepted, foreign)) {
      const answer = await look(cluster, "ams-1", { host: full.host, headers: { cookie } });
      const shown = cookie.slice(0, 120);
      assert.equal(answer.status, 200, shown);
      assert.equal(answer.kind, "queue", `got in with ${shown}`);
      assert.ok(answer.body.includes(QUEUE_MARK), shown);
      assert.ok(
        answer.headers["set-cookie"]?.[0].startsWith(`${NAME}=`),
        `no fresh ticket for ${shown}`,
      );
    }
    assert.equal((await guest.visit()).kind, "origin", "the true cookie works no more");
  },
);

clusterTestBothWays(
  "a spoilt cookie keeps nobody out of a room with places",
  options,
  async (cluster) => {
    const headers = { cookie: `${NAME}=spoilt` };
    const answer = await look(cluster, "ams-1", { host: full.host, headers });
    assert.equal(answer.kind, "origin");
    assert.ok(answer.headers["set-cookie"]?.[0].startsWith(`${NAME}=`));
  },
);

const both = room({
  name: "both",
  host: "www.both.example",
  additional_routes: [{ host: "both.example" }],
  cookie_suffix: "both",
  total_active_users: 1,
});

const isInsideOnBoth = "a visitor inside on one host of a room is so on the one above";
clusterTestBothWays(isInsideOnBoth, { rooms: [both] }, async (cluster) => {
  const first = await look(cluster, "ams-1", { host: "www.both.example" });
  assert.equal(first.kind, "origin");
  const [set] = first.headers["set-cookie"];
  assert.match(set, /; Domain=both\.example; /);
  const headers = { cookie: set.split(";")[0] };
  assert.equal((await look(cluster, "ams-1", { host: "both.example", headers })).kind, "origin");
  assert.equal((await look(cluster, "ams-1", { host: "both.example" })).kind, "queue");
});

clusterTestBothWays("nobody gets the head of another's page", options, async (cluster) => {
  await visitorInside(cluster, full);
  const newcomers = Array.from({ length: 6 }, (_, at) => ({
    host: full.host,
    headers: { "accept-language": at % 2 ? "de" : "en", "x-visitor": `newcomer ${at}` },
  }));
  const cookies = new Set();
  for (const newcomer of [...newcomers, ...newcomers]) {
    const { kind, headers } = await look(cluster, "ams-1", newcomer);
    assert.equal(kind, "queue");
    assert.equal(headers["set-cookie"].length, 1);
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    cookies.add(headers["set-cookie"][0]);
  }
  assert.equal(cookies.size, 2 * newcomers.length);
});

/** Cookie headers made from a ticket of this room and one of another. */
function forgeries(accepted, foreign) {
  const values = [
    "",
    "a",
    "%",
    "%00%ff",
    foreign,
    accepted.slice(0, -1),
    accepted.slice(0, Math.ceil(accepted.length / 2)),
    accepted.slice(1),
    `${accepted}A`,
    accepted + accepted,
    "A".repeat(accepted.length),
    "A".repeat(7_000),
    ...flippedEverywhere(accepted),
  ];
  const names = [`${NAME}_full`, NAME.toUpperCase(), `x${NAME}`];
  return [
    ...values.map((value) => `${NAME}=${value}`),
    ...names.map((name) => `${name}=${accepted}`),
    `${NAME}`,
    `;;=;${NAME}==;`,
    Array.from({ length: 200 }, (_, at) => `${NAME}=forged${at}`).join("; "),
  ];
}

/** The value with one character changed, at every seventh place and at both ends. */
function flippedEverywhere(value) {
  const places = [...value]
    .map((_, at) => at)
    .filter((at) => at % 7 === 0 || at === value.length - 1);
  return places.map((at) => {
    // The last character of base64 can carry bits that are not read: change its highest.
    const changed = value[at] === "A" ? "w" : "A";
    return value.slice(0, at) + changed + value.slice(at + 1);
  });
}
