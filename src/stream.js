// Event streams: keeps one open for a while and passes on what the wasm says each second. It may
// not decide who is near, who is called, or what is told; no stream knows more of others than how
// many they are.
import * as wasm from "../build/worker/gen/waiting_room.js";
import { configured, rebuild } from "./instance.js";

/** How often a stream is asked about, in milliseconds. The view behind it is at most 2 s old. */
const STEP_MS = 1_000;
/** A stream ends after this time, in milliseconds; who still waits has checked in long before. */
const LIFE_MS = 60_000;
/** Streams of one isolate at most: each step takes about 20 microseconds. Others poll as usual. */
const STREAMS_MAX = 500;
/** A stream that took no step for this long is gone, in milliseconds: not every end is told. */
const GONE_MS = 10_000;
/** Keeps the connection alive; clients ignore it. */
const HEARTBEAT = ":\n\n";

/** When each open stream took its last step. */
const open = new Map();

/**
 * The body of a stream that begins with `text`. `report` does the work that is left for `after`.
 *
 * @param {string} text
 * @param {Request} request
 * @param {object} env
 * @param {() => void} report
 * @returns {ReadableStream | string}
 */
export function streamed(text, request, env, report) {
  if (!isFree()) return text;
  const { url, headers } = request;
  const cookies = headers.get("cookie") ?? "";
  const encoder = new TextEncoder();
  const endsAt = Date.now() + LIFE_MS;
  const stream = {};
  let told = text;
  open.set(stream, Date.now());
  const close = (controller) => {
    open.delete(stream);
    controller.close();
  };
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(text)),
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      open.set(stream, Date.now());
      const { next, goesOn } = listen(url, cookies, env, report);
      if (next !== undefined) controller.enqueue(encoder.encode(next === told ? HEARTBEAT : next));
      told = next;
      if (!goesOn || Date.now() >= endsAt) close(controller);
    },
    cancel: () => open.delete(stream),
  });
}

function isFree() {
  if (open.size < STREAMS_MAX) return true;
  const goneBefore = Date.now() - GONE_MS;
  for (const [stream, steppedAt] of open) if (steppedAt < goneBefore) open.delete(stream);
  return open.size < STREAMS_MAX;
}

/** What the wasm says next; nothing more where it cannot say. */
function listen(url, cookies, env, report) {
  try {
    if (!configured(env)) return {};
    const verdict = wasm.listen(url, cookies);
    if (verdict[0] >= "a") report();
    return { next: verdict.slice(1), goesOn: verdict[0].toUpperCase() === "W" };
  } catch (error) {
    rebuild(error);
    return {};
  }
}
