// What the built Worker may weigh. The build and the benchmark hold it.

/**
 * The wasm, in KB after gzip: what a fresh isolate must load before its first answer. Without the
 * management API, rules, lists and events it was 377; queueing methods and their estimates are 7.
 */
export const WASM_GZIP_KB_MAX = 422;
