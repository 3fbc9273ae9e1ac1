// Reads a request's body, within a number of bytes and a time.

/**
 * Reads the body; of one that is longer than `most` bytes, somewhat more than these. Returns
 * undefined where it has not come after `limitMs`, or breaks off.
 */
export function beginning({ body }, most, limitMs) {
  return body === null ? new Uint8Array() : timely(body, limitMs, (reader) => read(reader, most));
}

/** Reads a body to its end, and keeps nothing; of one that is too long or late, as much as came. */
export function readAway({ body }, most, limitMs) {
  return timely(body, limitMs, (reader) => chunksOf(reader, most, () => {}));
}

async function timely(body, limitMs, work) {
  const reader = body.getReader();
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  try {
    return await Promise.race([late, work(reader)]);
  } catch (error) {
    console.warn(`a body broke off: ${error}`);
  } finally {
    clearTimeout(timer);
    // Without this a copy would be kept in memory for as long as the other is read.
    reader.cancel().catch(() => {});
  }
}

async function read(reader, most) {
  const chunks = [];
  const length = await chunksOf(reader, most, (chunk) => chunks.push(chunk));
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** Passes on the chunks of somewhat more than `most` bytes at most; returns how many bytes. */
async function chunksOf(reader, most, pass) {
  let length = 0;
  while (length <= most) {
    const { done, value } = await reader.read();
    if (done) break;
    pass(value);
    length += value.length;
  }
  return length;
}
