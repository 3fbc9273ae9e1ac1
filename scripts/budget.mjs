// What the built Worker may weigh. The build and the benchmark hold it.

/**
 * The wasm, in KB after gzip: what a fresh isolate must load before its first answer. Without the
 * management API, rules, lists and events it was 377. Languages and JSON took 4, and the queueing
 * methods with lottery and ranges 6; the texts of the languages are no part of it, see
 * `src/languages.js`.
 */
export const WASM_GZIP_KB_MAX = 425;
