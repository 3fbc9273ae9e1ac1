// What the built Worker may weigh. The build and the benchmark hold it.

/**
 * The wasm, in KB after gzip: what a fresh isolate must load before its first answer. Without the
 * management API, rules, lists and events it was 377; with them 415; the end of sessions by the
 * origin took 5, queueing methods and their estimates 7, languages and JSON 4 (the texts of the
 * languages are no part of it, see `src/languages.js`). Builds of zlib and processors differ by up
 * to 3 KB for the same file, so the bound is 5 above what was measured.
 */
export const WASM_GZIP_KB_MAX = 435;
