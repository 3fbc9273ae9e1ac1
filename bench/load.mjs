/**
 * The load generator, a process of its own: plain sockets, one request at a time on each, the next
 * one as soon as the answer is complete. Sockets stay open for the next job, so that short ones do
 * not measure connecting. It counts what came back and judges nothing.
 */

import net from "node:net";

const END = "\r\n\r\n";
const LAST_CHUNK = "0\r\n\r\n";
const NO_ANSWER_MS = 10_000;
/** A socket that was idle for longer is not used again: servers close theirs after 5 s. */
const IDLE_MAX_MS = 2_000;
/** The open sockets of each port and address of ours that no job uses. */
const idle = new Map();

process.on("message", async (job) => {
  try {
    process.send(await run(job));
  } catch (error) {
    process.send({ problem: `load: ${error.message}` });
  }
});

/**
 * Sends `requests` in turn, again and again.
 *
 * @param {object} job
 * @param {number} job.port
 * @param {string} [job.from] the address of this machine that the server is to see
 * @param {string[]} job.requests whole requests, as they go over the wire
 * @param {number} job.connections
 * @param {number} [job.durationMs] no new request after this time
 * @param {number} [job.count] no more requests than this
 * @param {boolean} [job.collect] return the first cookie of the last answer to each request
 * @param {boolean} [job.timed] return how long each answer took, in milliseconds
 */
async function run({ port, from, requests, connections, durationMs = Infinity, ...wanted }) {
  const { count, collect, timed } = wanted;
  const sum = { requests: 0, statuses: {}, setCookies: 0, bodyBytes: 0, cookies: [], tookMs: [] };
  const limit = count ?? Infinity;
  let sent = 0;
  const sockets = await Promise.all(Array.from({ length: connections }, () => connect(port, from)));
  const began = performance.now();
  const next = () => {
    if (sent >= limit || performance.now() - began >= durationMs) return undefined;
    return { at: sent % requests.length, request: requests[sent++ % requests.length] };
  };
  const take = (at, { status, head, bodyBytes }, tookMs) => {
    sum.requests += 1;
    if (timed) sum.tookMs.push(tookMs);
    sum.statuses[status] = (sum.statuses[status] ?? 0) + 1;
    sum.bodyBytes += bodyBytes;
    const cookie = /\r\nset-cookie: ([^;\r]+)/i.exec(head)?.[1];
    if (cookie === undefined) return;
    sum.setCookies += 1;
    if (collect) sum.cookies[at] = cookie;
  };
  await Promise.all(sockets.map((socket) => converse(socket, next, take)));
  const elapsedMs = performance.now() - began;
  keep(placeOf(port, from), sockets);
  return { ...sum, elapsedMs };
}

/** Takes a socket that is open already, or opens one. */
function connect(port, from) {
  const kept = idle.get(placeOf(port, from)) ?? [];
  while (kept.length > 0) {
    const { socket, since } = kept.pop();
    if (!socket.destroyed && performance.now() - since < IDLE_MAX_MS) return socket;
    socket.destroy();
  }
  return new Promise((resolve, reject) => {
    const where = { port, host: "127.0.0.1", localAddress: from };
    const socket = net.connect({ ...where, noDelay: true });
    socket.once("connect", () => resolve(socket));
    socket.once("error", reject);
  });
}

function placeOf(port, from) {
  return `${port} ${from}`;
}

function keep(place, sockets) {
  const kept = idle.get(place) ?? [];
  idle.set(place, kept);
  for (const socket of sockets) {
    for (const event of ["data", "error", "close", "timeout"]) socket.removeAllListeners(event);
    // It may be closed before it is wanted again.
    socket.on("error", () => socket.destroy());
    kept.push({ socket, since: performance.now() });
  }
}

/** Uses one connection until there is nothing more to send. */
function converse(socket, next, take) {
  return new Promise((resolve, reject) => {
    let current;
    let sentAt;
    let pending = [];
    const send = () => {
      current = next();
      if (!current) return resolve();
      sentAt = performance.now();
      socket.write(current.request, "latin1");
    };
    socket.setTimeout(NO_ANSWER_MS, () => reject(new Error(`no answer in ${NO_ANSWER_MS} ms`)));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the connection was closed")));
    socket.on("data", (chunk) => {
      pending.push(chunk);
      const answer = parse(pending.length === 1 ? chunk : Buffer.concat(pending));
      if (!answer) return;
      pending = [];
      take(current.at, answer, performance.now() - sentAt);
      send();
    });
    send();
  });
}

/** The answer, or `undefined` while it is incomplete. Nothing else can follow it. */
function parse(bytes) {
  const end = bytes.indexOf(END);
  if (end < 0) return undefined;
  const head = bytes.latin1Slice(0, end);
  const bodyBytes = bytes.length - end - END.length;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  const complete =
    length === undefined
      ? bytes.latin1Slice(-LAST_CHUNK.length) === LAST_CHUNK
      : bodyBytes >= Number(length);
  return complete ? { status: head.slice(9, 12), head, bodyBytes } : undefined;
}
