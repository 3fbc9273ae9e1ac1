// Reads the beginning of a request's body, within a number of bytes and a time.

/**
 * Reads the body; of one that is longer than `most` bytes, somewhat more than these. Returns
 * undefined where it has not come after `limitMs`, or breaks off.
 */
export async function beginning({ body }, most, limitMs) {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  try {
    return await Promise.race([late, read(reader, most)]);
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
  let length = 0;
  while (length <= most) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.length;
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
