// Sends one request to a host, over a connection of its own; for what asks a deployment from
// outside. It follows no redirect and keeps no cookie.
import http from "node:http";
import https from "node:https";

/**
 * Resolves with status, headers and body.
 *
 * @param {URL} url
 * @param {object} [how]
 * @param {string} [how.method]
 * @param {Record<string, string>} [how.headers]
 * @param {string} [how.liveAddress] where to connect instead of the host itself
 * @param {number} [how.limitMs] how long each silence may last
 * @param {boolean} [how.trustsAll] whether any certificate will do
 */
export function askHost(url, how = {}) {
  const { method = "GET", headers = {}, liveAddress, limitMs = 10_000, trustsAll = false } = how;
  const { protocol, hostname, port } = new URL(liveAddress ?? url);
  const { request } = protocol === "https:" ? https : http;
  const path = url.pathname + url.search;
  const all = { host: url.host, ...headers };
  // The host of a URL has an IPv6 address in brackets, which connections take without.
  const to = hostname.replaceAll(/^\[|\]$/g, "");
  const sent = { hostname: to, port, path, method, headers: all, timeout: limitMs, agent: false };
  const ofTls = { servername: url.hostname, ...(trustsAll && { rejectUnauthorized: false }) };
  return new Promise((resolve, reject) => {
    const asked = request({ ...sent, ...ofTls }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const { statusCode: status, headers: told } = response;
        resolve({ status, headers: told, body: Buffer.concat(chunks).toString() });
      });
    });
    asked.on("timeout", () => asked.destroy(new Error("no answer in time")));
    asked.on("error", ({ code, message }) => reject(new Error(`${url.host}: ${code ?? message}`)));
    asked.end();
  });
}

/** The JSON of a body; `undefined` if it is none. */
export function parsed(body) {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
