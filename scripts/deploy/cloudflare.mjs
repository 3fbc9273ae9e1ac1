// Asks Cloudflare's API for what wrangler does not tell: zones, routes, records and domains.
import { spawnSync } from "node:child_process";

import { stop } from "../stop.mjs";
import { WRANGLER, wranglerEnvironment } from "./wrangler.mjs";

const DEFAULT_ADDRESS = "https://api.cloudflare.com/client/v4";
const ANSWER_WITHIN_MS = 30_000;
const PER_PAGE = 50;
/** What the token must be allowed to do. */
export const PERMISSIONS =
  "it needs Account / Workers Scripts / Edit, Zone / Workers Routes / Edit, Zone / Zone / Read " +
  "and Zone / DNS / Read (https://dash.cloudflare.com/profile/api-tokens, template " +
  '"Edit Cloudflare Workers" and DNS / Read)';

export class ApiError extends Error {
  constructor(call, status, errors) {
    const told = errors.map(({ code, message }) => `${message} [code: ${code}]`).join("; ");
    super(`Cloudflare's API refused ${call} (${status}): ${told || "without a reason"}`);
    this.status = status;
    this.codes = errors.map(({ code }) => code);
  }
}

/** Ends the process with what a refused call means for the owner; other errors are ours. */
export function stopAt(error) {
  if (!(error instanceof ApiError)) throw error;
  const isForbidden = [401, 403].includes(error.status);
  const remedy = isForbidden ? `; the token lacks a permission: ${PERMISSIONS}` : "";
  stop(`${error.message}${remedy}`);
}

export class Cloudflare {
  #token;
  #address = process.env.CLOUDFLARE_API_BASE_URL ?? DEFAULT_ADDRESS;

  constructor(token) {
    this.#token = token;
  }

  /** Makes a call and returns its result; `undefined` if what is asked for is not there. */
  async call(method, path, body) {
    return (await this.#envelope(method, path, body))?.result;
  }

  /** Returns the whole of a list that comes in pages. */
  async list(path) {
    const all = [];
    for (let page = 1; ; page += 1) {
      const paged = `${path}${path.includes("?") ? "&" : "?"}per_page=${PER_PAGE}&page=${page}`;
      const envelope = await this.#envelope("GET", paged);
      all.push(...(envelope?.result ?? []));
      if (page >= (envelope?.result_info?.total_pages ?? 1)) return all;
    }
  }

  async #envelope(method, path, body) {
    const headers = { authorization: `Bearer ${this.#token}`, "content-type": "application/json" };
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const sent = { method, headers, body: body && JSON.stringify(body), signal };
    const answer = await fetch(`${this.#address}/${path}`, sent).catch((error) =>
      stop(`Cloudflare's API cannot be reached (${error.cause?.message ?? error.message})`),
    );
    const envelope = await answer.json().catch(() => ({ errors: [] }));
    if (answer.ok && envelope.success) return envelope;
    if (answer.status === 404) return undefined;
    throw new ApiError(`${method} ${path}`, answer.status, envelope.errors ?? []);
  }
}

/** The token of the variable, or of `wrangler login`; ends the process if there is none. */
export function token() {
  const { CLOUDFLARE_API_TOKEN: given } = process.env;
  if (given) return given;
  const parameters = [WRANGLER, "auth", "token", "--json"];
  const env = wranglerEnvironment();
  const { stdout } = spawnSync(process.execPath, parameters, { encoding: "utf8", env });
  const told = /\{[^]*\}/.exec(stdout)?.[0];
  try {
    const { token: found } = JSON.parse(told);
    if (found) return found;
  } catch {
    // Whatever it said instead, there is no token.
  }
  stop(
    "no access to a Cloudflare account: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN to " +
      `a token; ${PERMISSIONS}`,
  );
}
