/** Questions to the inspector of a workerd, about one of its services. */

/** Longer than a collection of garbage takes in a large isolate, in milliseconds. */
const ANSWER_WITHIN_MS = 10_000;

/**
 * Runs `work` with a function that asks the inspector: a method, and its parameters.
 *
 * @template T
 * @param {URL} inspector the address of workerd's inspector
 * @param {string} service the name of the service
 * @param {(ask: (method: string, params?: object) => Promise<any>) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function inspect(inspector, service, work) {
  const socket = new WebSocket(new URL(`/core:user:${service}`, inspector));
  let asked = 0;
  const ask = (method, params) => question(socket, { id: (asked += 1), method, params });
  try {
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error(`no inspector of ${service} at ${inspector}`));
    });
    return await work(ask);
  } finally {
    socket.close();
  }
}

function question(socket, message) {
  const { id, method } = message;
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
    socket.send(JSON.stringify(message));
  });
}
