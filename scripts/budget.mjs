// What the built Worker may weigh. The build and the benchmark hold it.

/**
 * The wasm, in KB after gzip: what a fresh isolate must load before its first answer. Without the
 * management API, rules, lists and events it was 377; with them 415; the end of sessions by the
 * origin took 5, queueing methods, lottery and ranges 6, languages and JSON 4, Turnstile and the
 * infinite queue 10, event streams 3, the proof of a draw 2, the reasons why a configuration cannot
 * be used 2. The texts of the languages are no part of it, see `src/languages.js`. Builds of zlib
 * and processors differ by up to 3 KB for the same file, so the bound is 4 above what was measured.
 */
export const WASM_GZIP_KB_MAX = 455;
