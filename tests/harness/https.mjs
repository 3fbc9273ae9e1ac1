/**
 * HTTPS in front of a cluster, with a certificate that it signs itself: browsers keep some cookies
 * over HTTPS alone. It also serves pages of other sites.
 */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import os from "node:os";
import path from "node:path";

/** Says why there can be no HTTPS on this machine; `undefined` if there can. */
export function opensslMissing() {
  const { status } = spawnSync("openssl", ["version"]);
  return status === 0 ? undefined : "no openssl (Debian: apt-get install openssl)";
}

/**
 * Starts an HTTPS server in front of the first isolate of a cluster.
 *
 * @param {object} cluster
 * @param {object} options
 * @param {Record<string, (port: number) => string>} options.pages the HTML of other sites by host,
 * made for the server's port; all other hosts are rooms
 */
export async function startHttps(cluster, { pages }) {
  const [{ name, colo }] = cluster.isolates;
  /** The requests that reached the rooms: [{ host, cookie, inside }]. */
  const seen = [];
  const server = https.createServer(certificate(), (request, response) => {
    const host = request.headers.host.split(":")[0];
    if (Object.hasOwn(pages, host)) {
      response.setHeader("content-type", "text/html; charset=utf-8");
      return response.end(pages[host](server.address().port));
    }
    const { port } = new URL(cluster.address(name, { host, path: "/" }));
    const headers = { ...request.headers, "mf-cf-blob": JSON.stringify({ colo }) };
    const { url, method } = request;
    const passedOn = http.request({ port, path: url, method, headers }, (answer) => {
      const inside = answer.headers["x-origin"] !== undefined;
      seen.push({ host, cookie: request.headers.cookie, inside });
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passedOn.on("error", () => response.destroy());
    request.pipe(passedOn);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { port: server.address().port, seen, stop };
}

/** Makes a fresh key, and a certificate for every host below `localhost`. */
function certificate() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "waiting-room-https-"));
  try {
    const { key, cert } = makeCertificate(folder, "*.localhost");
    return { key: fs.readFileSync(key), cert: fs.readFileSync(cert) };
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/** Lets the certificate that `makeCertificate` made have expired yesterday. */
export function expireCertificate({ key, cert }) {
  const made = spawnSync("openssl", [
    ...["x509", "-in", cert, "-signkey", key, "-days", "-1", "-out", cert],
  ]);
  if (made.status !== 0) throw new Error(`openssl: ${made.stderr}`);
}

/** Makes a fresh key and a certificate for a host as files of a folder; returns their paths. */
export function makeCertificate(folder, host) {
  const [key, cert] = ["key.pem", "cert.pem"].map((file) => path.join(folder, file));
  const options = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1";
  const names = ["-subj", "/CN=localhost", "-addext", `subjectAltName=DNS:${host}`];
  const files = ["-keyout", key, "-out", cert];
  const made = spawnSync("openssl", [...options.split(" "), ...names, ...files]);
  if (made.status !== 0) throw new Error(`openssl: ${made.stderr}`);
  return { key, cert };
}
