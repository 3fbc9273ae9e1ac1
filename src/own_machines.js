// The entry where the Worker runs in workerd on machines of its owner, without Cloudflare: it says
// who asks and from where, by the peer of the connection and by what named proxies tell, and lets
// nobody else tell it. `scripts/serve/configuration.mjs` writes the configuration with it.
import { env as environment } from "cloudflare:workers";
import { readAway } from "./body.js";
import { tellBy } from "./client.js";
import product from "./entry.js";
import { isIn, networksIn } from "./networks.js";
import {
  cacheHeaders,
  foreignHeaders,
  hostHeaders,
  namesIn,
  orderHeaders,
  usualName,
} from "./origin.js";

export {
  DataCenterAggregator,
  DataCenterCounter,
  GlobalAggregator,
  Registry,
} from "./entry.js";

/** The proxies whose headers count. */
const proxies = networksIn(environment.TRUSTED_PROXIES ?? "");
/** The header in which they tell the client's address, behind those of proxies before them. */
const ADDRESS_HEADER = environment.CLIENT_ADDRESS_HEADER || "x-forwarded-for";
/** The header in which they tell the client's country; "" if they do not. */
const COUNTRY_HEADER = environment.CLIENT_COUNTRY_HEADER || "";
/** The scheme of our own socket, which counts where no proxy tells another. */
const SCHEME = environment.OWN_SCHEME || "http";
const DATA_CENTER = environment.DATA_CENTER || "OWN";
/** Peers on this machine: what forwards their connections tells nothing about the client. */
const here = networksIn("127.0.0.0/8,::1");
/** The headers that named proxies write, in small letters. */
const TELLING = [ADDRESS_HEADER, COUNTRY_HEADER].filter(Boolean).map((name) => name.toLowerCase());
/** Addresses of this machine, of its containers and of private networks. */
const near = networksIn(
  "127.0.0.0/8,::1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,169.254.0.0/16," +
    "fc00::/7,fe80::/10",
);
/** A URL on a host that names this machine: cockpit and API are there, if nothing else is said. */
const ON_THIS_MACHINE =
  /^https?:\/\/(?:[^/?#\\]*@)?(?:(?:[^/?#@:]+\.)?localhost|127\.0\.0\.1|\[::1\])\.*(?:[:/?#\\]|$)/i;
/** Headers by which proxies tell of a client, and anybody can claim something. */
const CLAIMS = new Set([
  "client-ip",
  "fastly-client-ip",
  "true-client-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-forwarded-for",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-original-forwarded-for",
  "x-real-ip",
  ...TELLING.map(usualName),
  ...hostHeaders,
  ...orderHeaders,
]);
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$/;
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const IN_BRACKETS = /^\[(.+)\](?::\d+)?$/;
const COUNTRY = /^[a-z]{2}$/i;
/**
 * As much of a body that the site does not get is read before the answer leaves, in bytes and in
 * milliseconds: workerd cuts the connection of a client that is still sending, with the answer.
 */
const AWAY_BYTES_MAX = 100_000_000;
const AWAY_LIMIT_MS = 30_000;
/** Which addresses are those of proxies, as far as they were met; bounded. */
const known = new Map();
const KNOWN_MAX = 1_000;

// They are removed here, and what named proxies tell of a host stays.
foreignHeaders.clear();
// RFC 9213, and what was used before it: any cache may stand in front of these machines.
cacheHeaders.push("cdn-cache-control", "surrogate-control", "x-accel-expires");
tellBy({ address, properties, tells, colo: () => DATA_CENTER });

export default {
  fetch(request, env, ctx) {
    const peer = peerOf(request);
    const sent = isProxy(peer) ? ofProxy(request) : ofClient(request, peer);
    if (ON_THIS_MACHINE.test(sent.url) && isFar(sent)) return notHere();
    const answer = product.fetch(sent, env, ctx);
    return sent.body === null ? answer : afterBody(sent, answer);
  },

  /** `CONNECT` leads nowhere: workerd accepts it by itself, and logs an error if none ends it. */
  connect(socket) {
    return socket.close();
  },
};

/** Returns the answer once the body has come, which a request for the site has taken along. */
async function afterBody(request, answer) {
  const response = await answer;
  if (!request.bodyUsed) await readAway(request, AWAY_BYTES_MAX, AWAY_LIMIT_MS);
  return response;
}

/** The address of the peer; "" if it is none, as of a socket in the file system. */
function peerOf({ cf }) {
  const peer = cf?.clientIp ?? "";
  const address = peer.slice(0, peer.lastIndexOf(":"));
  return plain(address.startsWith("[") ? address.slice(1, -1) : address);
}

/** An address of IPv4 as such: a socket for both kinds tells it as one of IPv6. */
function plain(address) {
  return MAPPED.exec(address)?.[1] ?? address;
}

function isProxy(address) {
  if (proxies.length === 0) return false;
  let isOne = known.get(address);
  if (isOne === undefined) {
    isOne = isIn(proxies, address);
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(address, isOne);
  }
  return isOne;
}

/** The request of a proxy, without what no request may keep and without claims with `_`. */
function ofProxy(request) {
  const isOfVisitor = (name) =>
    orderHeaders.has(usualName(name)) || (name.includes("_") && !TELLING.includes(name));
  const names = namesIn(request.headers, CLAIMS).filter(isOfVisitor);
  if (names.length === 0) return request;
  const sent = new Request(request);
  for (const name of names) sent.headers.delete(name);
  return sent;
}

/** The request of a client that came without a proxy: what it claims is replaced by what is so. */
function ofClient(request, peer) {
  const { url } = request;
  const scheme = url.slice(0, url.indexOf(":"));
  const address = scheme === SCHEME ? request : SCHEME + url.slice(scheme.length);
  // One copy: a request in the place of an address is copied too.
  const sent = new Request(address, request);
  const { headers } = sent;
  for (const name of namesIn(headers, CLAIMS)) headers.delete(name);
  if (peer) headers.set("x-forwarded-for", peer);
  return sent;
}

/** An address without the port that some proxies write behind it. */
function withoutPort(told) {
  const [, address] = WITH_PORT.exec(told) ?? IN_BRACKETS.exec(told) ?? [undefined, told];
  return plain(address);
}

/**
 * The address of the client. Each proxy adds the peer that it sees behind what it was told, so the
 * last that is none of the proxies is true, and all before it may be made up.
 */
function address(request) {
  const peer = peerOf(request);
  if (!isProxy(peer)) return isIn(here, peer) ? "" : peer;
  const told = (request.headers.get(ADDRESS_HEADER) ?? "").split(",");
  const addresses = told.map((one) => withoutPort(one.trim()));
  return addresses.findLast((one) => !isProxy(one)) ?? addresses[0];
}

/** Whether the client is known to be elsewhere: whoever is there means another `localhost`. */
function isFar(request) {
  const client = address(request);
  return client !== "" && !isIn(near, client);
}

function notHere() {
  const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
  return new Response("This host is of this machine alone.\n", { status: 421, headers });
}

/** What rules may know: the country, if a proxy tells it. */
function properties(request) {
  if (!COUNTRY_HEADER || !isProxy(peerOf(request))) return undefined;
  const told = request.headers.get(COUNTRY_HEADER) ?? "";
  return COUNTRY.test(told) ? { country: told.toUpperCase() } : undefined;
}

function tells(request, path) {
  return properties(request)?.[path] !== undefined;
}
