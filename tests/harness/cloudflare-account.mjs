/**
 * A small server that speaks as much of Cloudflare's API as `npm run deploy` and the real wrangler
 * need, with accounts in memory. What was uploaded really runs: see `uploaded-worker.mjs`.
 */

import http from "node:http";

import { UploadedWorker } from "./uploaded-worker.mjs";

/** The token that the server takes. */
export const TOKEN = "a-token-of-the-test";

/** How long a connection may be idle, in milliseconds. */
const IDLE_MS = 120_000;
/** Errors that callers tell apart by Cloudflare's codes. */
const NO_WORKER = { status: 404, code: 10_007, message: "This Worker does not exist" };
const NO_ROUTE = { status: 404, code: 7_003, message: "Could not route to this path" };
const NOT_ALLOWED = { status: 403, code: 10_000, message: "Authentication error" };
const ROUTE_TAKEN = { status: 409, code: 10_020, message: "A route with the same pattern exists" };
const BROKEN = { status: 500, code: 10_013, message: "An unknown error has occurred" };

export class CloudflareAccount {
  /** All changing calls so far, like `PUT workers/scripts/waiting-room`. */
  changes = [];
  /** All calls so far. */
  calls = [];
  accounts = [{ id: "a".repeat(32), name: "Shop" }];
  zones = [];
  dnsRecords = [];
  routes = [];
  domains = [];
  /** Workers by name: `{ versions, secrets, live }`. */
  workers = new Map();
  /** A pattern of calls that are answered with an error, to try a failure in the middle. */
  failing;
  /** A pattern of calls that the token may not make. */
  forbidden;
  #nextId = 1;

  /** Adds an active zone. */
  addZone(name, account = this.accounts[0], more = {}) {
    const zone = { id: this.#id(), name, status: "active", account, ...more };
    this.zones.push(zone);
    return zone;
  }

  /** Adds the zone shop.example, whose visitors come by Cloudflare. */
  addShop() {
    const zone = this.addZone("shop.example");
    this.addDnsRecord(zone, "shop.example");
    return zone;
  }

  addDnsRecord(zone, name, proxied = true) {
    this.dnsRecords.push({ id: this.#id(), zone: zone.id, name, type: "A", proxied });
  }

  addRoute(zone, pattern, script) {
    const route = { id: this.#id(), zone: zone.id, pattern, script };
    this.routes.push(route);
    return route;
  }

  async start() {
    this.server = http.createServer((request, response) => this.#answer(request, response));
    // A command may leave a connection idle for long while it runs wrangler on a busy machine.
    this.server.keepAliveTimeout = IDLE_MS;
    await new Promise((listening) => this.server.listen(0, "127.0.0.1", listening));
    this.address = `http://127.0.0.1:${this.server.address().port}/client/v4`;
  }

  async stop() {
    for (const { live } of this.workers.values()) await live?.stop();
    this.server.closeAllConnections();
    this.server.close();
  }

  #id() {
    return (this.#nextId++).toString(16).padStart(32, "0");
  }

  async #answer(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = new URL(request.url, "http://stand-in");
    const path = url.pathname.replace(/^\/client\/v4\//, "");
    const call = `${request.method} ${path}`;
    this.calls.push(call);
    let status = 200;
    let envelope;
    try {
      if (request.headers.authorization !== `Bearer ${TOKEN}`) throw NOT_ALLOWED;
      if (this.forbidden?.test(call)) throw NOT_ALLOWED;
      if (this.failing?.test(call)) throw BROKEN;
      const body = await read(Buffer.concat(chunks), request.headers["content-type"] ?? "");
      const result = await this.#perform(request.method, path, url.searchParams, body);
      if (isChange(call)) this.changes.push(call);
      envelope = { success: true, errors: [], messages: [], result };
      if (Array.isArray(result)) envelope.result_info = pages(result);
    } catch (error) {
      if (!error.code || !error.status) throw error;
      status = error.status;
      const errors = [{ code: error.code, message: error.message }];
      envelope = { success: false, errors, messages: [], result: null };
    }
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(envelope));
  }

  #perform(method, path, query, body) {
    for (const [verb, pattern, perform] of this.#table) {
      const match = verb === method && pattern.exec(path);
      if (match) return perform.call(this, match.slice(1), query, body);
    }
    throw NO_ROUTE;
  }

  #table = [
    ["GET", /^accounts$/, () => this.accounts],
    ["GET", /^memberships$/, () => this.accounts.map((account) => ({ account }))],
    ["GET", /^zones$/, (_, query) => this.#zones(query)],
    ["GET", /^zones\/(\w+)\/workers\/routes$/, ([zone]) => this.#in(this.routes, zone)],
    ["POST", /^zones\/(\w+)\/workers\/routes$/, ([zone], _, route) => this.#post(zone, route)],
    ["DELETE", /^zones\/\w+\/workers\/routes\/(\w+)$/, ([id]) => this.#remove("routes", id)],
    ["GET", /^zones\/(\w+)\/dns_records$/, ([zone], query) => this.#dns(zone, query)],
    ["GET", /^accounts\/\w+\/workers\/domains$/, (_, query) => this.#domains(query)],
    ["DELETE", /^accounts\/\w+\/workers\/domains\/(\w+)$/, ([id]) => this.#remove("domains", id)],
    ["GET", /^accounts\/\w+\/workers\/services\/([\w-]+)$/, ([name]) => this.#service(name)],
    ["DELETE", /^accounts\/\w+\/workers\/services\/([\w-]+)$/, ([name]) => this.#delete(name)],
    ["GET", SCRIPT("deployments"), ([name]) => this.#deployments(name)],
    ["POST", SCRIPT("deployments"), ([name], _, body) => this.#deploy(name, body)],
    ["GET", SCRIPT("versions\\/([\\w-]+)"), ([name, id]) => this.#version(name, id)],
    ["POST", SCRIPT("versions"), ([name], _, form) => this.#upload(name, form, false)],
    ["PUT", SCRIPT(), ([name], _, form) => this.#upload(name, form, true)],
    ["GET", SCRIPT("subdomain"), () => ({ enabled: false, previews_enabled: false })],
    ["POST", SCRIPT("subdomain"), (_, __, { enabled, previews_enabled }) => ({
      enabled,
      previews_enabled,
    })],
    ["PATCH", SCRIPT("script-settings"), (_, __, settings) => settings],
    ["PUT", SCRIPT("routes"), ([name], _, routes) => this.#putRoutes(name, routes)],
    ["POST", SCRIPT("domains\\/changeset"), () => noChange()],
    ["PUT", SCRIPT("domains\\/records"), ([name], _, body) => this.#putDomains(name, body)],
    ["PUT", SCRIPT("secrets"), ([name], _, secret) => this.#putSecret(name, secret)],
    ["GET", SCRIPT("secrets"), ([name]) => this.#secrets(name)],
    ["GET", SCRIPT("references"), () => ({ services: { incoming: [] }, durable_objects: [] })],
    ["GET", /^accounts\/\w+\/workers\/subdomain$/, () => ({ subdomain: "someone" })],
    ["GET", /^accounts\/\w+\/workers\/workers\/[\w-]+$/, () => ({ subdomain: {} })],
    ["GET", /^accounts\/\w+\/workers\/durable_objects\/namespaces$/, () => []],
    ["GET", /^accounts\/\w+\/storage\/kv\/namespaces$/, () => []],
    ["GET", /^accounts\/\w+\/workers\/tails\/by-consumer\/[\w-]+$/, () => []],
  ];

  #zones(query) {
    const name = query.get("name");
    const account = query.get("account.id");
    const isIn = (zone) => !account || zone.account.id === account;
    return this.zones.filter((zone) => (!name || zone.name === name) && isIn(zone));
  }

  #in(all, zone) {
    return all.filter((one) => one.zone === zone);
  }

  #dns(zone, query) {
    const name = query.get("name");
    return this.#in(this.dnsRecords, zone).filter((record) => !name || record.name === name);
  }

  #domains(query) {
    const fits = (domain) =>
      ["hostname", "service"].every((key) => !query.has(key) || domain[key] === query.get(key));
    return this.domains.filter(fits);
  }

  #post(zone, { pattern, script }) {
    const isTaken = this.#in(this.routes, zone).some((route) => route.pattern === pattern);
    if (isTaken) throw ROUTE_TAKEN;
    return this.addRoute({ id: zone }, pattern, script);
  }

  #remove(list, id) {
    this[list] = this[list].filter((one) => one.id !== id);
    return { id };
  }

  #worker(name) {
    const worker = this.workers.get(name);
    if (!worker) throw NO_WORKER;
    return worker;
  }

  #service(name) {
    const worker = this.#worker(name);
    const script = { id: name, tag: "0".repeat(32), migration_tag: worker.migrationTag };
    return { id: name, default_environment: { environment: "production", script } };
  }

  /** Routes and hosts of a deleted Worker stay: that nobody promises to remove them is enough. */
  async #delete(name) {
    await this.#worker(name).live?.stop();
    this.workers.delete(name);
    return null;
  }

  #deployments(name) {
    const { versions, deployed } = this.#worker(name);
    const of = ({ id }) => ({ id, versions: [{ version_id: id, percentage: 100 }] });
    return { deployments: versions.filter(({ id }) => id === deployed).map(of) };
  }

  #version(name, id) {
    const found = this.#worker(name).versions.find((version) => version.id === id);
    if (!found) throw NO_WORKER;
    return { id, annotations: found.annotations, resources: { bindings: [], script: {} } };
  }

  /** Keeps an upload as a version; `PUT` of a script also deploys it. */
  async #upload(name, form, deploys) {
    const metadata = JSON.parse(await textOf(form.get("metadata")));
    const worker = this.workers.get(name) ?? { versions: [], secrets: new Map() };
    this.workers.set(name, worker);
    if (metadata.migrations) worker.migrationTag = metadata.migrations.new_tag;
    for (const { type, name: binding, text } of metadata.bindings ?? []) {
      if (type === "secret_text") worker.secrets.set(binding, text);
    }
    const modules = [...form].filter(([part]) => part !== "metadata");
    const id = versionId(worker);
    const version = { id, annotations: metadata.annotations ?? {}, metadata, modules };
    worker.versions.push(version);
    if (deploys) await this.#run(worker, version);
    return { id, deployment_id: id, startup_time_ms: 1, resources: { script: { etag: id } } };
  }

  async #deploy(name, { versions: [{ version_id: id }] }) {
    const worker = this.#worker(name);
    await this.#run(worker, worker.versions.find((version) => version.id === id));
    return { id };
  }

  async #run(worker, version) {
    worker.deployed = version.id;
    worker.live ??= new UploadedWorker();
    await worker.live.run(version, worker.secrets);
  }

  /** A secret is a version of its own with the code of the last. */
  async #putSecret(name, { name: binding, text }) {
    const worker = this.#worker(name);
    worker.secrets.set(binding, text);
    const last = worker.versions.at(-1);
    const version = { ...last, id: versionId(worker) };
    worker.versions.push(version);
    await this.#run(worker, version);
    return { name: binding, type: "secret_text" };
  }

  #secrets(name) {
    const names = [...this.#worker(name).secrets.keys()];
    return names.map((binding) => ({ name: binding, type: "secret_text" }));
  }

  #putRoutes(name, routes) {
    this.routes = this.routes.filter(({ script }) => script !== name);
    for (const { zone_id: zone, pattern } of routes) this.#post(zone, { pattern, script: name });
    return routes.map(({ pattern }) => pattern);
  }

  #putDomains(service, { origins }) {
    this.domains = this.domains.filter((domain) => domain.service !== service);
    for (const { hostname } of origins) this.domains.push({ id: this.#id(), hostname, service });
    return null;
  }
}

/** Ids of versions are UUIDs. */
function versionId({ versions }) {
  return `00000000-0000-4000-8000-${String(versions.length + 1).padStart(12, "0")}`;
}

function SCRIPT(below) {
  return new RegExp(`^accounts/\\w+/workers/scripts/([\\w-]+)${below ? `/${below}` : ""}$`);
}

function isChange(call) {
  return !call.startsWith("GET ") && !call.endsWith("/changeset");
}

function noChange() {
  return { added: [], removed: [], updated: [], conflicting: [] };
}

function pages(result) {
  const count = result.length;
  return { page: 1, per_page: 50, count, total_count: count, total_pages: 1 };
}

async function read(bytes, type) {
  if (type.includes("multipart/form-data")) {
    return new Response(bytes, { headers: { "content-type": type } }).formData();
  }
  return bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined;
}

function textOf(part) {
  return typeof part === "string" ? part : part.text();
}
