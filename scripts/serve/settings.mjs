// Completes what is known of a site on its owner's machines: from flags, from what was kept, and by
// asking. Whatever cannot be used ends the process with a sentence before anything is written.
import { randomBytes } from "node:crypto";
import path from "node:path";

import { networksIn } from "../../src/networks.js";
import { hostProblem } from "../deploy/settings.mjs";
import { isThisMachine } from "../doctor/options.mjs";
import { stop } from "../stop.mjs";
import { examinePair } from "./certificate.mjs";
import { addressOf } from "./check.mjs";
import { clusterOf } from "./cluster.mjs";

const LOCAL = /^(?:[a-z0-9-]+\.)*localhost$/;
/** A host of `ADMIN_HOSTS`, or all below one. */
const ADMIN_HOST = /^(?:\*\.)?[a-z0-9.-]+$/i;
const HEADER = /^[a-z0-9-]+$/;
const LISTEN_ADDRESS = /^(?:\*|[0-9a-f.:]+|\[[0-9a-f:]+\])$/i;
const VARIABLE = /^[A-Z][A-Z0-9_]*$/;
/** The variables that follow from other settings. */
const OF_SETTINGS = ["ZONES", "ADMIN_HOSTS", "ORIGIN_URL", "OPEN_HOSTS", "TRUSTED_PROXIES"];

/** Completes the settings of `kept`, without writing them. */
export async function settle(kept, options, questions) {
  const { settings } = kept;
  const origin = await answered("origin", "Where is your site itself?", originProblem);
  const host = await answered("host", "By which host do visitors know it?", problemOfHost);
  if (settings.host && host.toLowerCase() !== settings.host) {
    stop(`${kept.folder} is for ${settings.host}: take another folder with --folder`);
  }
  const tls = tlsOf(options, settings);
  const chosen = (flag, name, usual) => options[flag] ?? settings[name] ?? usual;
  Object.assign(settings, {
    origin,
    host: host.toLowerCase(),
    zone: settings.zone ?? newZone(host.toLowerCase()),
    tls,
    port: chosen("port", "port", tls ? 443 : 8787),
    address: chosen("address", "address", tls ? "*" : "127.0.0.1"),
    adminHosts: chosen("admin-hosts", "adminHosts", "localhost,127.0.0.1"),
    openHosts: chosen("open-hosts", "openHosts", ""),
    trustedProxies: chosen("trusted-proxies", "trustedProxies", ""),
    clientAddressHeader: chosen("client-address-header", "clientAddressHeader", ""),
    clientCountryHeader: chosen("client-country-header", "clientCountryHeader", ""),
    variables: settings.variables ?? {},
    cluster: clusterOf(kept, options),
  });
  for (const name of ["clientAddressHeader", "clientCountryHeader"]) {
    settings[name] = settings[name].toLowerCase();
  }
  check(settings);

  async function answered(name, question, problem) {
    const known = options[name] ?? settings[name];
    const answer = known ?? (await questions.text(question, `--${name}`, problem));
    const why = problem(answer);
    if (why) stop(`--${name}: ${why}`);
    return answer;
  }
}

function check(settings) {
  const { trustedProxies, adminHosts, openHosts, address, variables, origin } = settings;
  const { clientAddressHeader } = settings;
  try {
    networksIn(trustedProxies);
  } catch (error) {
    stop(`--trusted-proxies: ${error.message}`);
  }
  const wrong = adminHosts.split(",").find((one) => !ADMIN_HOST.test(one.trim()));
  if (wrong !== undefined) stop(`--admin-hosts: "${wrong}" is no host`);
  for (const host of openHosts.split(",").map((one) => one.trim()).filter(Boolean)) {
    const why = problemOfHost(host);
    if (why) stop(`--open-hosts: ${why}`);
  }
  if (!LISTEN_ADDRESS.test(address)) stop(`--address: "${address}" is no address, and not *`);
  if (isOwnAddress(settings)) {
    stop(`--origin: at ${origin} the room itself listens: name the site, or another --port`);
  }
  for (const header of [clientAddressHeader, settings.clientCountryHeader].filter(Boolean)) {
    if (!HEADER.test(header)) stop(`"${header}" is no name of a header`);
    if (!trustedProxies) stop(`--trusted-proxies must say who may send the header ${header}`);
  }
  for (const [name, value] of Object.entries(variables)) {
    if (!VARIABLE.test(name) || typeof value !== "string") {
      stop(`settings.json: the variable ${name} must be a text, with a name in capitals`);
    }
    if (OF_SETTINGS.includes(name)) stop(`settings.json: ${name} follows from other settings`);
  }
}

/** Whether a site's address is the one at which the room itself listens. */
function isOwnAddress({ origin, address, port, tls }) {
  const { protocol, hostname, port: given } = new URL(origin);
  if (Number(given || (protocol === "https:" ? 443 : 80)) !== port) return false;
  const own = new URL(addressOf({ address, port, tls })).hostname;
  const isOnAll = ["*", "0.0.0.0", "::", "[::]"].includes(address);
  // `localhost` may be any address of this machine.
  const isLocal = [hostname, own].includes("localhost") && isThisMachine(own);
  return hostname === own || (isThisMachine(hostname) && (isOnAll || isLocal));
}

function originProblem(text) {
  const url = URL.parse(text);
  const isPlain = url && ["http:", "https:"].includes(url.protocol) && url.pathname === "/";
  if (isPlain && !url.search && !url.username) return "";
  return `"${text}" is no address like http://127.0.0.1:3000 (no path).`;
}

function problemOfHost(host) {
  return LOCAL.test(host.toLowerCase()) ? "" : hostProblem(host);
}

function tlsOf(options, settings) {
  const [cert, key] = [options["tls-cert"], options["tls-key"]];
  if (Boolean(cert) !== Boolean(key)) stop("--tls-cert and --tls-key belong together");
  const tls = cert ? { cert: path.resolve(cert), key: path.resolve(key) } : settings.tls;
  const { problem } = tls ? examinePair(tls) : {};
  if (!problem) return tls;
  stop(
    `--tls-cert and --tls-key: ${problem}: name a chain that begins with the certificate of the ` +
      "site, and the key of that certificate",
  );
}

/** The zone of a site: a name in the API, and the hosts that rooms may have. */
function newZone(host) {
  return { id: randomBytes(16).toString("hex"), name: host.replace(/^www\./, "") };
}
