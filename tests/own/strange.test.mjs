/** Answers and requests that no site and no browser should send: no bare error, no stack trace. */

import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { test } from "node:test";
import { promisify } from "node:util";

import { OwnServer } from "../harness/own-server.mjs";
import { room } from "../harness/rooms.mjs";

const ALL = { timeout: 300_000 };
const UPGRADED = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n";
const limits = { total_active_users: 10 };
const rooms = [
  room({ name: "shop", ...limits }),
  room({ name: "revoking", ...limits, enabled_origin_commands: ["revoke"] }),
  room({ name: "full", total_active_users: 1 }),
];
/** More than what lies in buffers on the way. */
const LARGE = Buffer.alloc(20_000_000, 7);

test("a site that upgrades where nobody asked for it has given no answer", ALL, async (t) => {
  const server = await OwnServer.make(t, { rooms });
  await server.start();
  server.origin.server.removeAllListeners("request").on("request", ({ socket }) => {
    socket.write(UPGRADED);
  });
  for (const { host } of rooms.slice(0, 2)) {
    const check = (answer) => {
      assert.equal(answer.status, 502, host);
      assert.match(answer.body, /The site does not answer/);
    };
    const first = await server.send("own", { host });
    check(first);
    const cookie = first.headers["set-cookie"][0].split(";")[0];
    check(await server.send("own", { host, headers: { cookie } }));
  }
});

/** Sends a form as browsers do, which read no answer before all is sent; returns its head. */
async function sendLarge({ port }, path, ...headers) {
  const socket = net.connect(port, "127.0.0.1").pause();
  const host = `Host: ${rooms[2].host}`;
  const head = [`POST ${path} HTTP/1.1`, host, "Accept: text/html", ...headers];
  socket.write(`${head.join("\r\n")}\r\nContent-Length: ${LARGE.length}\r\n\r\n`);
  socket.on("error", () => {});
  await promisify(socket.write.bind(socket))(LARGE);
  const [answer] = await once(socket.resume(), "data");
  socket.destroy();
  return String(answer).split("\r\n\r\n")[0];
}

test("a large form of somebody who waits gets the page, and of others arrives", ALL, async (t) => {
  const server = await OwnServer.make(t, { rooms });
  await server.start();
  let arrived = 0;
  server.origin.server.on("request", (request) => {
    request.on("data", ({ length }) => (arrived += length));
  });
  assert.match(await sendLarge(server, "/"), /^x-origin: 1/im);
  assert.equal(arrived, LARGE.length);
  for (const path of ["/", "/?waiting-room-place", "/_waiting-room/no-such"]) {
    assert.match(await sendLarge(server, path), /^HTTP\/1\.1 [24]/, path);
  }
  assert.match(await sendLarge(server, "/", "X-Original-URL: /other"), /^HTTP\/1\.1 2/);
  assert.equal(arrived, LARGE.length);
});

test("CONNECT is closed, and leaves no trace in the log", ALL, async (t) => {
  const server = await OwnServer.make(t, { rooms });
  await server.start();
  const arrived = server.origin.arrivals.length;
  const socket = net.connect(server.port, "127.0.0.1");
  const request = "CONNECT shop.example:443 HTTP/1.1\r\nHost: shop.example:443\r\n\r\n";
  socket.write(`${request}GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n`);
  socket.resume();
  await once(socket, "close");
  assert.equal(server.origin.arrivals.length, arrived, "it leads nowhere");
  await server.stop();
  assert.doesNotMatch(server.said, /^ +at |stack|exception/im);
});
