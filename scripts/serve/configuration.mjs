// Writes the configuration of workerd: the modules, what they are bound to, where objects are
// stored, and the socket. It is a text that an owner can read, and no secret stands in it.
import path from "node:path";

import { ROOT, filesFrom, typeOf } from "../modules.mjs";

/** The module that workerd starts with. */
export const OWN_ENTRY = path.join(ROOT, "src", "own_machines.js");
/** The file's name in the folder, and the constant in it. */
export const CONFIGURATION = "workerd.capnp";
export const CONSTANT = "config";
/** Where objects are stored, in the folder. */
export const DATA = "data";
/** The secret by which instances of a cluster know each other, and the file that workerd reads. */
export const CLUSTER_KEY = "CLUSTER_KEY";
export const CLUSTER_KEY_FILE = "cluster.key";
const ROOMS = path.join(ROOT, "rooms.json");
const CLASSES = {
  DATA_CENTER_COUNTER: "DataCenterCounter",
  DATA_CENTER_AGGREGATOR: "DataCenterAggregator",
  GLOBAL_AGGREGATOR: "GlobalAggregator",
  REGISTRY: "Registry",
};
const MODULE_KINDS = { ESModule: "esModule", CompiledWasm: "wasm", Text: "text" };
const PROTO_HEADER = "X-Forwarded-Proto";
/** Headers in which Cloudflare tells about a client. Here anybody could send them. */
const OF_CLOUDFLARE = [
  "cf-bot-score",
  "cf-connecting-ip",
  "cf-connecting-ipv6",
  "cf-ew-via",
  "cf-ipcity",
  "cf-ipcontinent",
  "cf-ipcountry",
  "cf-iplatitude",
  "cf-iplongitude",
  "cf-ja3-hash",
  "cf-ja4",
  "cf-metro-code",
  "cf-postal-code",
  "cf-pseudo-ipv4",
  "cf-ray",
  "cf-region",
  "cf-region-code",
  "cf-threat-score",
  "cf-timezone",
  "cf-verified-bot",
  "cf-visitor",
  "cf-warp-tag-id",
  "cf-worker",
];

/**
 * The configuration as a text for a folder.
 *
 * @param {object} site
 * @param {string} site.folder the full path
 * @param {object} site.settings of `settle`
 * @param {Record<string, string>} site.secrets of which only the names are written
 * @param {string} compatibilityDate that of wrangler.toml
 */
export function configurationText({ folder, settings, secrets }, compatibilityDate) {
  const lines = [
    "# Written by `npm run serve` at each start: change settings.json instead.",
    'using Workerd = import "/workerd/workerd.capnp";',
    "",
    `const ${CONSTANT} :Workerd.Config = (`,
    "  services = [",
    '    (name = "waiting-room", worker = .waitingRoom),',
    `    (name = "origin", external = (${origin(settings)})),`,
    `    (name = "${DATA}", disk = (path = "${DATA}", writable = true)),`,
    `    (name = "internet", network = (${internet(settings)})),`,
    "  ],",
    `  sockets = [(${socket(folder, settings)})],`,
    "  logging = (structuredLogging = true),",
    ...(settings.cluster ? clusterLines(settings.cluster) : []),
    ");",
    "",
    "const waitingRoom :Workerd.Worker = (",
    "  modules = [",
    ...modules(folder).map((line) => `    ${line},`),
    "  ],",
    `  compatibilityDate = ${quoted(compatibilityDate)},`,
    "  bindings = [",
    ...bindings(settings, secrets).map((line) => `    ${line},`),
    "  ],",
    "  durableObjectNamespaces = [",
    ...Object.values(CLASSES).map((name) => {
      const key = `uniqueKey = "waiting-room-${name}"`;
      return `    (className = "${name}", ${key}, enableSql = true),`;
    }),
    "  ],",
    `  durableObjectStorage = (localDisk = "${DATA}"),`,
    ");",
  ];
  return `${lines.join("\n")}\n`;
}

/** The part of the configuration that makes a process an instance. No secret stands in it. */
function clusterLines({ bucket, endpoint, region, address }) {
  const options = [
    ...(region ? [`aws_region=${region}`] : []),
    ...(endpoint ? [`aws_endpoint=${endpoint}`] : []),
    // The bucket of a private network, as its owner says by this address.
    ...(endpoint.startsWith("http:") ? ["aws_allow_http=true"] : []),
  ];
  return [
    "  cluster = (",
    `    bucket = ${JSON.stringify(bucket)},`,
    `    bucketOptions = [${options.map((option) => JSON.stringify(option)).join(", ")}],`,
    // Any free port: instances find each other in the bucket.
    `    address = ${JSON.stringify(`${address}:0`)},`,
    `    key = embed "${CLUSTER_KEY_FILE}",`,
    "  ),",
  ];
}

/** The site itself. `Host` stays; the scheme by which the client came is told in a header. */
function origin({ origin: text }) {
  const { protocol, hostname, port } = new URL(text);
  const usual = protocol === "https:" ? 443 : 80;
  const address = `address = ${quoted(`${hostname}:${port || usual}`)}`;
  const http = `(forwardedProtoHeader = "${PROTO_HEADER}")`;
  if (protocol === "http:") return `${address}, http = ${http}`;
  const tls = `tlsOptions = (trustBrowserCas = true), certificateHost = ${quoted(hostname)}`;
  return `${address}, https = (options = ${http}, ${tls})`;
}

/** What webhooks and Turnstile reach. */
function internet({ variables }) {
  const allow = variables.WEBHOOKS_ANYWHERE === "yes" ? '"public", "private"' : '"public"';
  return `allow = [${allow}], tlsOptions = (trustBrowserCas = true)`;
}

function socket(folder, { address, port, tls, trustedProxies, ...headers }) {
  const named = [headers.clientAddressHeader, headers.clientCountryHeader];
  const removed = OF_CLOUDFLARE.filter((name) => !named.includes(name));
  const options = [
    ...(trustedProxies ? [`forwardedProtoHeader = "${PROTO_HEADER}"`] : []),
    `injectRequestHeaders = [${removed.map((name) => `(name = "${name}")`).join(", ")}]`,
  ].join(", ");
  const where = `name = "http", address = ${quoted(`${address}:${port}`)}`;
  const whole = `${where}, service = "waiting-room"`;
  if (!tls) return `${whole}, http = (${options})`;
  const [key, cert] = [tls.key, tls.cert].map((file) => embedded(folder, file));
  const pair = `keypair = (privateKey = ${key}, certificateChain = ${cert})`;
  return `${whole}, https = (options = (${options}), tlsOptions = (${pair}))`;
}

/** The modules, the one to start with first; rooms.json is that of the folder. */
function modules(folder) {
  return filesFrom(OWN_ENTRY).map((file) => {
    const name = `name = ${quoted(path.relative(ROOT, file).replaceAll(path.sep, "/"))}`;
    if (file === ROOMS) return `(${name}, json = embed "rooms.json")`;
    return `(${name}, ${MODULE_KINDS[typeOf(file)]} = ${embedded(folder, file)})`;
  });
}

function bindings({ variables, ...settings }, secrets) {
  const texts = {
    ...variables,
    ZONES: `${settings.zone.id}=${settings.zone.name}`,
    ADMIN_HOSTS: settings.adminHosts,
    // With it other hosts than these and those of rooms are refused: all would reach the origin.
    ORIGIN_URL: settings.origin,
    OPEN_HOSTS: settings.openHosts ?? "",
    TRUSTED_PROXIES: settings.trustedProxies,
    CLIENT_ADDRESS_HEADER: settings.clientAddressHeader,
    CLIENT_COUNTRY_HEADER: settings.clientCountryHeader,
    OWN_SCHEME: settings.tls ? "https" : "http",
  };
  return [
    ...Object.entries(texts).map(([name, text]) => `(name = "${name}", text = ${quoted(text)})`),
    ...[...Object.keys(secrets), "DATA_CENTER"]
      // Instances know each other by it: the Worker needs it for nothing.
      .filter((name) => name !== CLUSTER_KEY)
      .map((name) => `(name = "${name}", fromEnvironment = "${name}")`),
    '(name = "ORIGIN", service = "origin")',
    ...Object.entries(CLASSES).map(
      ([name, of]) => `(name = "${name}", durableObjectNamespace = "${of}")`,
    ),
  ];
}

function embedded(folder, file) {
  return `embed ${quoted(path.relative(folder, file).replaceAll(path.sep, "/"))}`;
}

/** A text in quotation marks, with the escapes of C that Cap'n Proto reads. */
function quoted(text) {
  return JSON.stringify(text);
}
