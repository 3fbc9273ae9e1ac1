/**
 * What event streams cost: as many as an isolate keeps open, of visitors near the head of a line,
 * and the CPU time of the process while they are open, beside that while nobody comes.
 */

import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

import { RARE_CHECK_INS, room } from "../tests/harness/rooms.mjs";
import { cpuNs } from "../tests/harness/workerd-process.mjs";
import { HOST } from "./rooms.mjs";
import { startServices } from "./services.mjs";

/** The most of one isolate, and of one visitor (`src/stream.js`). */
const STREAMS = 500;
const STREAMS_OF_EACH = 4;
/** Places: so many at once that hundreds who wait are near the head. */
const PLACES = 200;
const CONNECTIONS = 16;
/** After which those inside leave within a minute, so that all who come then are near the head. */
const FULL_MS = 20_000;
/** In which the isolate hears how many wait. */
const HEARD_MS = 4_000;
const MEASURED_MS = 10_000;

const STREAMED = room({
  ...{ name: "streamed", host: HOST, path: "/streamed", session_duration: 1 },
  ...{ total_active_users: PLACES, new_users_per_minute: PLACES, event_stream_enabled: true },
  ...RARE_CHECK_INS,
});

/** Returns a sentence with the figure. */
export async function streamsFigure({ load, originPort }) {
  const only = ["hub", "waiting-room"];
  const services = await startServices({ originPort, only, rooms: [STREAMED] });
  const port = services.ports["waiting-room"];
  const visit = (count, collect) => {
    const requests = Array(count).fill(request(originPort));
    return load.ask({ port, requests, connections: CONNECTIONS, count, collect });
  };
  try {
    await visit(PLACES, false);
    await sleep(FULL_MS);
    const { cookies } = await visit(STREAMS / STREAMS_OF_EACH, true);
    await sleep(HEARD_MS);
    const idleMs = await cpuMsPerSecond(services.pid);
    const all = Array(STREAMS_OF_EACH).fill(cookies).flat();
    const streams = await Promise.all(all.map((cookie) => opened(port, originPort, cookie)));
    const openMs = await cpuMsPerSecond(services.pid);
    const still = streams.filter(({ complete, destroyed }) => !complete && !destroyed).length;
    for (const stream of streams) stream.destroy();
    const each = ((openMs - idleMs) * 1_000) / still;
    return (
      `${still} event streams: ${(openMs - idleMs).toFixed(1)} ms of CPU in a second, ` +
      `${each.toFixed(0)} microseconds for each stream and step`
    );
  } finally {
    await services.stop();
  }
}

async function cpuMsPerSecond(pid) {
  const [before, began] = [cpuNs(pid), performance.now()];
  await sleep(MEASURED_MS);
  return (cpuNs(pid) - before) / 1e3 / (performance.now() - began);
}

/** Opens a stream of the visitor with this cookie; resolves with the answer when it begins. */
function opened(port, originPort, cookie) {
  const headers = { host: `${HOST}:${originPort}`, accept: "text/event-stream", cookie };
  const target = { host: "127.0.0.1", port, path: STREAMED.path, headers, agent: false };
  return new Promise((resolve, reject) => {
    const sent = http.get({ ...target }, (response) => {
      response.on("error", () => {});
      resolve(response.resume());
    });
    sent.once("error", reject);
  });
}

function request(originPort) {
  return [
    `GET ${STREAMED.path} HTTP/1.1`,
    `Host: ${HOST}:${originPort}`,
    `MF-CF-Blob: {"colo":"AMS"}`,
    "Accept: text/html",
    "\r\n",
  ].join("\r\n");
}
