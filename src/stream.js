// Event streams: keeps each open for a minute and passes on what the wasm tells each second. The
// wasm decides whose turn is near and what the stream tells.
import * as wasm from "../build/worker/gen/waiting_room.js";
import { configured, rebuild } from "./instance.js";
import { decodeStreamStep } from "./verdict.js";

/** Milliseconds between two steps of a stream. The view that it is told from is at most 2 s old. */
const STEP_MS = 1_000;
/** The life of a stream in milliseconds; a visitor who still waits has checked in long before. */
const LIFE_MS = 60_000;
/** The most streams of one isolate: each step takes about 20 microseconds. Others poll as usual. */
const STREAMS_MAX = 500;
/** The most streams of one ticket: a visitor's tabs. Others of it poll as usual. */
const STREAMS_PER_TICKET_MAX = 4;
/** A stream without a step for so many milliseconds is gone: not every end of one is told. */
const GONE_MS = 10_000;
/** What is sent if there is no news: it keeps the connection alive, and clients ignore it. */
const HEARTBEAT = ":\n\n";

/** The open streams; `steppedAt`, in milliseconds since the epoch, is when one stepped last. */
const open = new Set();

/**
 * Makes the body of a stream that begins with `text`; with too many streams, `text` alone. `report`
 * calls `after`.
 *
 * @param {string} text
 * @param {Request} request
 * @param {object} env
 * @param {() => void} report
 * @returns {ReadableStream | string}
 */
export function streamed(text, request, env, report) {
  const { url, headers } = request;
  const cookies = headers.get("cookie") ?? "";
  const owner = wasm.stream_owner(url, cookies);
  if (!isFree(owner)) return text;
  const encoder = new TextEncoder();
  const endsAt = Date.now() + LIFE_MS;
  const stream = { owner, steppedAt: Date.now() };
  let told = text;
  open.add(stream);
  const close = (controller) => {
    open.delete(stream);
    controller.close();
  };
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(text)),
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      stream.steppedAt = Date.now();
      const { events, goesOn } = listen(url, cookies, env, report);
      const isNews = events !== told;
      if (events !== undefined) controller.enqueue(encoder.encode(isNews ? events : HEARTBEAT));
      told = events;
      if (!goesOn || Date.now() >= endsAt) close(controller);
    },
    cancel: () => open.delete(stream),
  });
}

function isFree(owner) {
  const isFull = () => {
    const ofOwner = [...open].filter((stream) => stream.owner === owner);
    return open.size >= STREAMS_MAX || ofOwner.length >= STREAMS_PER_TICKET_MAX;
  };
  if (!isFull()) return true;
  const goneBefore = Date.now() - GONE_MS;
  for (const stream of open) if (stream.steppedAt < goneBefore) open.delete(stream);
  return !isFull();
}

/** Asks the wasm what a stream tells next; if it cannot say, the stream ends. */
function listen(url, cookies, env, report) {
  try {
    if (!configured(env)) return {};
    const step = decodeStreamStep(wasm.listen(url, cookies));
    if (step.after) report();
    return step;
  } catch (error) {
    rebuild(error);
    return {};
  }
}
