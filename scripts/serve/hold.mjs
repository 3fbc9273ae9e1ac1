// Opens the socket and hands it to the process that keeps it, without listening to it: connections
// wait in it while no workerd takes them.
import { spawn } from "node:child_process";
import net from "node:net";
import path from "node:path";

import { stop } from "../stop.mjs";
import { heldProblem } from "./held-socket.mjs";
import { LIMITS } from "./options.mjs";
import { HELD_FD } from "./workerd.mjs";

/** How many connections may wait. */
const BACKLOG = 4_096;
/** A socket that systemd holds for us: then it waits even while this command does not run. */
const OF_SYSTEMD = process.env.LISTEN_FDS === "1";
const SUPERVISOR = path.join(import.meta.dirname, "supervise.mjs");

/**
 * Starts the process that keeps the socket and runs workerd; resolves once it has ended, with its
 * `code` or the `signal` that killed it.
 */
export async function superviseWithSocket({ folder, settings }, { patience, ...options }) {
  const problem = OF_SYSTEMD ? heldProblem(settings, HELD_FD) : "";
  if (problem) stop(problem);
  const server = OF_SYSTEMD ? undefined : await listening(settings);
  // Node has no public name for the descriptor of a socket.
  const socket = server ? server._handle.fd : HELD_FD;
  const given = LIMITS.map(([, flag]) => [flag, options[flag]]);
  const limits = JSON.stringify(Object.fromEntries(given));
  const child = spawn(process.execPath, [SUPERVISOR, folder, String(patience), limits], {
    stdio: ["inherit", "inherit", "inherit", socket, "ipc"],
    detached: true,
  });
  server?.close();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  return new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
}

function listening({ address, port }) {
  // Nobody is to be served by this process, not even in the moment until the other one is there.
  const server = net.createServer((connection) => connection.destroy());
  const where = { port, backlog: BACKLOG, ...(address !== "*" && { host: plain(address) }) };
  return new Promise((resolve) => {
    server.once("error", ({ code, message }) => {
      const why = code === "EADDRINUSE" ? "is in use" : `cannot be opened (${code ?? message})`;
      stop(`port ${port} ${why}: choose another with --port, or end what runs there`);
    });
    server.listen(where, () => resolve(server));
  });
}

function plain(address) {
  return address.replaceAll(/^\[|\]$/g, "");
}
