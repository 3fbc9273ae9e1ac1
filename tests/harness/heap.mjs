/**
 * The memory that an isolate of workerd really holds: garbage is collected first, which workerd
 * puts off for as long as the machine has memory. It asks workerd's inspector.
 */

/** Longer than a collection of garbage takes in a large isolate, in milliseconds. */
const ANSWER_WITHIN_MS = 10_000;

/**
 * Returns the bytes of the objects and texts that an isolate holds; the memory of its wasm is not
 * among them.
 *
 * @param {URL} inspector the address of workerd's inspector
 * @param {string} service the name of the service
 */
export async function heldBytes(inspector, service) {
  const socket = new WebSocket(new URL(`/core:user:${service}`, inspector));
  try {
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error(`no inspector of ${service} at ${inspector}`));
    });
    await ask(socket, 1, "HeapProfiler.enable");
    await ask(socket, 2, "HeapProfiler.collectGarbage");
    const { usedSize, embedderHeapUsedSize, backingStorageSize } = await ask(
      socket,
      3,
      "Runtime.getHeapUsage",
    );
    return usedSize + embedderHeapUsedSize + backingStorageSize;
  } finally {
    socket.close();
  }
}

function ask(socket, id, method) {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`${method} was not answered`));
    const timer = setTimeout(late, ANSWER_WITHIN_MS);
    socket.onmessage = ({ data }) => {
      const answer = JSON.parse(data);
      if (answer.id !== id) return;
      clearTimeout(timer);
      if (answer.error) reject(new Error(`${method}: ${answer.error.message}`));
      else resolve(answer.result);
    };
    socket.send(JSON.stringify({ id, method }));
  });
}
