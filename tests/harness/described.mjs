/**
 * Holds what the management API answers against its description, `src/openapi.json.txt`: path,
 * method, status, type and body of each answer, and query and body of each request that was
 * granted. A field that the description does not name is a violation. Nothing is asked for that:
 * tests count the calls that reach a Worker.
 */

import fs from "node:fs";
import path from "node:path";

import addFormats from "ajv-formats";
import Ajv from "ajv/dist/2020.js";

import { ROOT } from "./worker-modules.mjs";

const FILE = path.join(ROOT, "src", "openapi.json.txt");
const PREFIX = "/_waiting-room/";
/** What the prefix is followed by; the cockpit's files are no part of the API. */
const BEGINNING =
  /^(?:(?:client\/v4|preview)\/|(?:health|live|metrics|openapi\.json|test-visitor)(?:\?|$))/;
/** The hosts of owners, unless the variable ADMIN_HOSTS says otherwise. */
const ADMIN_HOSTS = "localhost,127.0.0.1,*.workers.dev";
const JSON_TYPE = "application/json";
/** How the API refuses a request. */
const REFUSED = { $ref: "#/components/responses/Refused" };
/** The statuses with which a path or a method that is not described may be answered. */
const UNKNOWN_STATUSES = [403, 404, 405, 429, 503];

/**
 * Throws if an answer, or the request for it, is not as the description says.
 *
 * @param {{ host?: string, path: string, method?: string, body?: string | Buffer }} request
 * @param {{ status: number, headers: Record<string, string>, body: string }} answer
 * @param {string} [adminHosts] the variable of the Worker
 */
export function checkDescribed(request, answer, adminHosts = ADMIN_HOSTS) {
  if (!isManagement(request, adminHosts)) return;
  described ??= new Description(JSON.parse(fs.readFileSync(FILE, "utf8")));
  const violations = described.violations(request, answer);
  if (violations.length === 0) return;
  const { method = "GET", path: asked } = request;
  const what = `${method} ${asked} answered ${answer.status}`;
  throw new Error(`${what}, which openapi.json does not describe:\n${violations.join("\n")}`);
}

let described;

/** A `fetch` that does the same, for clients that make requests by themselves. */
export async function describedFetch(url, options = {}) {
  const response = await fetch(url, options);
  const { hostname, pathname, search } = new URL(url);
  const request = { host: hostname, path: pathname + search, ...options };
  const { status, headers } = response;
  const body = await response.clone().text();
  checkDescribed(request, { status, headers: Object.fromEntries(headers), body });
  return response;
}

function isManagement({ host = "", path: asked = "/" }, adminHosts) {
  if (!asked.startsWith(PREFIX) || !BEGINNING.test(asked.slice(PREFIX.length))) return false;
  const name = host.replace(/:\d+$/, "").toLowerCase();
  return adminHosts
    .split(",")
    .map((pattern) => pattern.trim().toLowerCase())
    .some((one) => (one.startsWith("*") ? name.endsWith(one.slice(1)) : name === one));
}

/** A description of an API in OpenAPI 3.1, ready to be compared with what is sent. */
export class Description {
  #document;
  #paths;
  #ajv = new Ajv({ allErrors: true, strict: false, validateSchema: false });
  #compiled = new Map();

  constructor(document) {
    this.#document = closed(document);
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(this.#document, "api");
    this.#paths = Object.entries(document.paths).map(([template, item]) => {
      const [{ url: base }] = item.servers ?? document.servers;
      return { pattern: pathPattern(base + template), template, item };
    });
    // `waiting_rooms/settings` stands where the id of a room would.
    this.#paths.sort((one, other) => braces(one.template) - braces(other.template));
  }

  /** Says in lines what of a request and its answer is not described; in none if all is. */
  violations(request, answer) {
    const { method = "GET", path: asked, body } = request;
    const [pathname, query = ""] = asked.split("?");
    const found = this.#paths.find(({ pattern }) => pattern.test(pathname.replace(/\/+$/, "")));
    const name = method === "HEAD" ? "get" : method.toLowerCase();
    const operation = found?.item[name];
    if (!operation) return this.#unknown(found, method, answer);
    const at = ["paths", found.template, name];
    const wrong = this.#answered(at, operation, method, answer);
    if (answer.status >= 300) return wrong;
    wrong.push(...this.#asked(operation.parameters ?? [], query));
    const sent = body === undefined || body === "" ? undefined : parsed(body);
    if (sent === undefined) return wrong;
    if (!operation.requestBody) return wrong.concat(`the request has a body: ${String(body)}`);
    const schema = [...at, "requestBody", "content", JSON_TYPE, "schema"];
    return wrong.concat(this.#differences(schema, sent, "the request's body"));
  }

  /** What is not described is refused, in the words of the API or of the path. */
  #unknown(found, method, answer) {
    if (!UNKNOWN_STATUSES.includes(answer.status)) return ["there is no such path or method"];
    const at = ["paths", found?.template, "post"];
    const refused = found?.item.post?.responses.default ?? REFUSED;
    return this.#answered(at, { responses: { default: refused } }, method, answer);
  }

  #answered(at, operation, method, { status, headers, body }) {
    const name = String(status) in operation.responses ? String(status) : "default";
    let response = operation.responses[name];
    if (!response) return [`there is no answer with the status ${status}`];
    let place = [...at, "responses", name];
    if (response.$ref) {
      place = response.$ref.slice("#/".length).split("/");
      response = place.reduce((within, part) => within[part], this.#document);
    }
    const type = (headers["content-type"] ?? "").split(";")[0];
    if (!response.content) return body === "" ? [] : [`there is no body with ${status}`];
    const content = response.content[type];
    if (!content) return [`the type ${type} is not among ${Object.keys(response.content)}`];
    if (method === "HEAD") return [];
    const inside = [...place, "content", type];
    if (type === JSON_TYPE) {
      return this.#differences([...inside, "schema"], parsed(body), "the answer");
    }
    if (!content["x-line-schema"]) return [];
    const lines = body.split("\n").filter(Boolean);
    return lines.flatMap((line, number) =>
      this.#differences([...inside, "x-line-schema"], parsed(line), `line ${number + 1}`),
    );
  }

  /** Compares the parameters of a query with those that are declared. */
  #asked(parameters, query) {
    const all = parameters.map((one) =>
      one.$ref ? this.#document.components.parameters[one.$ref.split("/").at(-1)] : one,
    );
    const declared = all.filter((one) => one.in === "query");
    const given = new URLSearchParams(query);
    const missing = declared.filter(({ name, required }) => required && !given.has(name));
    const wrong = missing.map(({ name }) => `the parameter ${name} is missing`);
    for (const [name, value] of given) {
      const schema = declared.find((one) => one.name === name)?.schema;
      const validate = schema && this.#validator(JSON.stringify(schema), () => schema);
      if (!schema) wrong.push(`the parameter ${name} is not declared`);
      else if (!validate(value) && !validate(Number(value))) {
        wrong.push(`the parameter ${name} may not be ${value}`);
      }
    }
    return wrong;
  }

  #differences(place, value, name) {
    const pointer = place.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1")).join("/");
    const $ref = `api#/${pointer.split("/").map(encodeURIComponent).join("/")}`;
    const validate = this.#validator($ref, () => ({ $ref }));
    if (validate(value)) return [];
    return validate.errors.map(({ instancePath, message, params }) => {
      const more = params.additionalProperty ?? params.allowedValues ?? "";
      return `${name} at ${instancePath || "/"}: ${message} ${more}`.trimEnd();
    });
  }

  #validator(key, schema) {
    let validate = this.#compiled.get(key);
    if (!validate) this.#compiled.set(key, (validate = this.#ajv.compile(schema())));
    return validate;
  }
}

/** A copy in which each object that has named fields has no others, unless it says so. */
function closed(node) {
  if (Array.isArray(node)) return node.map(closed);
  if (node === null || typeof node !== "object") return node;
  const copy = Object.fromEntries(Object.entries(node).map(([name, one]) => [name, closed(one)]));
  const isObject = [node.type].flat().includes("object");
  return isObject ? { additionalProperties: false, ...copy } : copy;
}

function pathPattern(template) {
  const escaped = template.replaceAll(".", String.raw`\.`);
  return new RegExp(`^${escaped.replace(/\{\w+\}/g, "[^/]+")}$`);
}

function braces(template) {
  return template.split("{").length;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return String(text);
  }
}
