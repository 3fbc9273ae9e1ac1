/**
 * Finds a port of this machine that nobody listens on at the moment. It lies below the ports that
 * Linux gives to `listen(0)` and to outgoing connections: nobody else gets it by chance.
 */

import net from "node:net";

const [FIRST, LAST] = [20_000, 32_000];
const TRIES = 100;

/** @returns {Promise<number>} */
export async function freePort() {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${FIRST} to ${LAST} is free`);
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
