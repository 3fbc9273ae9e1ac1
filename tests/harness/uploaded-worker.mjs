/**
 * Runs the modules of an upload to Cloudflare's API in workerd, with the bindings of its metadata.
 * What the Worker passes on reaches an origin that answers with one sentence.
 */

import { Miniflare, convertV4MiniflareOptions } from "./miniflare.mjs";
import { script } from "./worker-modules.mjs";

/** What the origin says. */
export const ORIGIN_SAYS = "the shop itself";
const ORIGIN = `export default { fetch: () => new Response("${ORIGIN_SAYS}") };`;
const MODULE_TYPES = {
  "application/javascript+module": "ESModule",
  "application/wasm": "CompiledWasm",
  "text/plain": "Text",
};

export class UploadedWorker {
  #miniflare;

  /** Starts this version in the place of the one before; objects begin anew. */
  async run({ id, metadata, modules }, secrets) {
    await this.stop();
    const parts = modules.map(async ([path, part]) => {
      const bytes = Buffer.from(await part.arrayBuffer());
      const type = MODULE_TYPES[part.type];
      return { type, path, contents: type === "CompiledWasm" ? bytes : bytes.toString() };
    });
    const all = await Promise.all(parts);
    const isMain = ({ path }) => path === metadata.main_module;
    const ordered = [...all.filter(isMain), ...all.filter((part) => !isMain(part) && part.type)];
    const uploaded = {
      name: "uploaded",
      modulesRoot: "/",
      modules: ordered.map((part) => ({ ...part, path: `/${part.path}` })),
      compatibilityDate: metadata.compatibility_date,
      unsafeDirectSockets: [{ port: 0 }],
      bindings: {
        ...textsOf(metadata.bindings),
        ...versionOf(metadata.bindings, id),
        ...Object.fromEntries(secrets),
      },
      durableObjects: objectsOf(metadata.bindings),
      outboundService: "origin",
    };
    const origin = {
      ...script(ORIGIN),
      name: "origin",
      compatibilityDate: metadata.compatibility_date,
    };
    const quiet = { telemetry: { enabled: false }, handleStructuredLogs: () => {} };
    const workers = [uploaded, origin];
    const options = { cf: false, port: 0, ...quiet, workers };
    this.#miniflare = new Miniflare(convertV4MiniflareOptions(options));
    await this.#miniflare.ready;
    this.port = Number((await this.#miniflare.unsafeGetDirectURL("uploaded")).port);
  }

  async stop() {
    await this.#miniflare?.dispose();
    this.#miniflare = undefined;
  }
}

/** The variables, without the jurisdiction: workerd by itself refuses calls to objects in one. */
function textsOf(bindings) {
  const isText = ({ type, name }) => type === "plain_text" && name !== "JURISDICTION";
  const texts = bindings.filter(isText);
  return Object.fromEntries(texts.map(({ name, text }) => [name, text]));
}

/** What tells the Worker its version, where it asks for that. */
function versionOf(bindings, id) {
  const asked = bindings.filter(({ type }) => type === "version_metadata");
  return Object.fromEntries(asked.map(({ name }) => [name, { id, tag: "", timestamp: "" }]));
}

function objectsOf(bindings) {
  const objects = bindings.filter(({ type }) => type === "durable_object_namespace");
  return Object.fromEntries(
    objects.map(({ name, class_name: className }) => [name, { className, useSQLite: true }]),
  );
}
