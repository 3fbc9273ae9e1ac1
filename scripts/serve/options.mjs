// The flags of `npm run serve`: what each takes and means, and the numbers among them read.
import { stop } from "../stop.mjs";
import { HELP, PORT_MAX, readFlags, wholeNumber } from "../usage.mjs";

/** The limits of the room: each field, its flag and its question. */
export const LIMITS = [
  ["total_active_users", "limit", "How many visitors may be inside at a time?"],
  ["new_users_per_minute", "per-minute", "How many may enter in any 60 seconds?"],
];

/** Each flag: name, default or `undefined`, what it takes, what it means. */
const SERVE_FLAGS = [
  ["origin", undefined, "url", "Your site itself, such as http://127.0.0.1:3000."],
  ["host", undefined, "host", "The host that visitors know it by, such as shop.example."],
  ["limit", undefined, "number", "How many visitors may be inside."],
  ["per-minute", undefined, "number", "How many may enter in any 60 seconds."],
  ["port", undefined, "number", "Where to listen. Default: 8787; 443 with --tls-cert."],
  [
    "address",
    undefined,
    "address",
    "On which address: * for all. Default: 127.0.0.1, for a proxy here; * with --tls-cert.",
  ],
  [
    "open-hosts",
    undefined,
    "hosts",
    "Hosts of the site without a room, like img.shop.example. Others are refused. Default: none.",
  ],
  [
    "trusted-proxies",
    undefined,
    "networks",
    "Whose headers tell who the client is, such as 127.0.0.1,10.0.0.0/8. Default: nobody's.",
  ],
  [
    "client-address-header",
    undefined,
    "name",
    "Where they tell the client's address. Default: x-forwarded-for.",
  ],
  ["client-country-header", undefined, "name", "Where they tell the country. Default: nowhere."],
  ["tls-cert", undefined, "file", "To serve HTTPS without a proxy: the certificate chain (PEM)."],
  ["tls-key", undefined, "file", "Its private key (PEM)."],
  [
    "admin-hosts",
    undefined,
    "hosts",
    "Where cockpit, health and API are served. Default: localhost,127.0.0.1.",
  ],
  ["cluster", undefined, "bucket", "To serve by several processes: their s3://bucket/prefix."],
  ["instances", undefined, "number", "How many of them here. Default: as many as processors."],
  ["cluster-endpoint", undefined, "url", "Where the bucket is. Default: at Amazon."],
  ["cluster-region", undefined, "name", "In which region. Default: AWS_REGION, or auto."],
  [
    "cluster-address",
    undefined,
    "address",
    "Where those on other machines reach ours: of a private network. Default: 127.0.0.1.",
  ],
  ["folder", "own-machine", "path", "Where all of it is kept: settings, secrets, rooms, data."],
  ["print-config", false, "", "Show the configuration of workerd, and start nothing."],
  ["backup", undefined, "path", "Copy the folder, while it is served too, and start nothing."],
  ["restore", undefined, "path", "Put such a copy back, and start nothing."],
  ["no-build", false, "", "Serve what `npm run build` has built last, without Rust."],
  ["yes", false, "", "Ask nothing: for scripts and services."],
  ["patience", "60", "seconds", "How long it may take until it answers."],
  HELP,
];

export function serveOptions(parameters) {
  const page = "docs/own-machines.md";
  const { values: options } = readFlags("serve", SERVE_FLAGS, parameters, { page });
  for (const name of ["limit", "per-minute", "patience", "instances"]) {
    if (options[name] !== undefined) options[name] = wholeNumber(options[name], `--${name}`);
  }
  if (options.port !== undefined) {
    const port = wholeNumber(options.port, "--port");
    if (port > PORT_MAX) stop(`--port must be at most ${PORT_MAX}, but is ${port}`);
    options.port = port;
  }
  return options;
}
