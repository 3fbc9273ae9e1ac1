/** A socket that systemd holds is where the settings say, or it is said that it is not. */

import assert from "node:assert/strict";
import fs from "node:fs";
import net from "node:net";
import { test } from "node:test";

import { differenceOf, heldProblem, listeningAt } from "../../scripts/serve/held-socket.mjs";

const row = (address, state, inode) =>
  `   0: ${address} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000 0 0 ${inode} 1`;
const LINES = [
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt uid  timeout inode",
  row("0100007F:2253", "0A", "11"),
  row("00000000:01BB", "0A", "12"),
  row("00000000000000000000000001000000:2253", "0A", "13"),
  row("00000000000000000000000000000000:2253", "0A", "14"),
  row("B80D0120000000000000000001000000:0050", "0A", "15"),
  row("0100007F:2253", "01", "16"),
  "",
];

test("the tables of Linux tell where a socket listens", () => {
  const told = ["11", "12", "13", "14", "15", "16", "17"].map((one) => listeningAt(LINES, one));
  const six = ["[::1]:8787", "[::]:8787", "[2001:db8::1]:80"];
  assert.deepEqual(told, ["127.0.0.1:8787", "0.0.0.0:443", ...six, undefined, undefined]);
});

test("a socket elsewhere is told, and one on all addresses fits", () => {
  const settings = { address: "127.0.0.1", port: 8787 };
  for (const held of ["127.0.0.1:8787", "0.0.0.0:8787", "[::]:8787", undefined]) {
    assert.equal(differenceOf(settings, held), "", held);
  }
  for (const held of ["127.0.0.1:8788", "[::1]:8787", "10.0.0.9:8787"]) {
    const want = `systemd listens at ${held}, and settings.json says 127.0.0.1:8787: give`;
    assert.ok(differenceOf(settings, held).startsWith(want), held);
  }
  assert.equal(differenceOf({ address: "0.0.0.0", port: 8787 }, "127.0.0.1:8787"), "");
  const secure = { address: "*", port: 443, tls: { cert: "a", key: "b" } };
  assert.equal(differenceOf(secure, "[::]:443"), "");
  assert.match(differenceOf(secure, "[::]:8443"), /settings\.json says 127\.0\.0\.1:443/);
});

test("a socket of this process is found", { skip: !fs.existsSync("/proc/net/tcp") }, async (t) => {
  const server = net.createServer();
  t.after(() => server.close());
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address();
  const problem = (wanted) => {
    const settings = { address: "127.0.0.1", port: wanted };
    return heldProblem(settings, server._handle.fd);
  };
  assert.equal(problem(port), "");
  assert.match(problem(port === 80 ? 81 : 80), new RegExp(`systemd listens at 127.0.0.1:${port},`));
  assert.equal(heldProblem({ address: "127.0.0.1", port }, 9_999), "");
});
