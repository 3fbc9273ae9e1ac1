/**
 * Plain HTTP to workerd with a `Host` of the caller's choice, over connections that stay open. It
 * follows no redirect and keeps no cookie.
 */

import http from "node:http";

const agent = new http.Agent({ keepAlive: true, maxSockets: 1_000 });

/**
 * Sends one request to a port of this machine, and resolves with the whole answer.
 *
 * @param {object} request
 * @param {number} request.port
 * @param {string} [request.host] the `Host` header, which decides the URL that the Worker sees
 * @param {string} [request.path]
 * @param {string} [request.method]
 * @param {Record<string, string>} [request.headers]
 * @param {string | Buffer} [request.body]
 * @param {BufferEncoding} [request.encoding] how the answer's bytes become its text
 * @returns {Promise<{ status: number, headers: http.IncomingHttpHeaders, body: string }>}
 */
export async function send(request) {
  try {
    return await attempt(request);
  } catch (error) {
    // workerd closes idle connections by its own clock, which a test may just have moved.
    if (error.code === "ECONNRESET" && error.neverRead) return attempt(request, false);
    throw error;
  }
}

/** Sends one request that must be answered with 200, and reads the answer as JSON. */
export async function sendForJson(request) {
  const { status, body } = await send(request);
  if (status !== 200) throw new Error(`${request.path ?? "/"} answered ${status}: ${body}`);
  return JSON.parse(body);
}

/** Closes the open connections, so that the process can end. */
export function closeConnections() {
  agent.destroy();
}

/** Sends a request over a connection that stays open, or over one of its own (`false`). */
function attempt(request, over = agent) {
  const { port, host, path = "/", method = "GET", headers = {}, body, encoding } = request;
  return new Promise((resolve, reject) => {
    const all = { ...headers, ...(host && { host }) };
    const where = { agent: over, host: "127.0.0.1", port, path, method };
    const sent = http.request({ ...where, headers: all });
    sent.on("response", (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString(encoding);
        resolve({ status: response.statusCode, headers: response.headers, body: text });
      });
    });
    sent.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode, headers: response.headers, body: "" });
    });
    sent.on("error", (error) => {
      error.neverRead = sent.reusedSocket;
      reject(error);
    });
    sent.end(body);
  });
}
