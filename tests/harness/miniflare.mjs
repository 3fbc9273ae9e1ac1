/**
 * Miniflare, loaded as CommonJS, which it is. An `import` of it would first search its 6 MB for the
 * names that it exports, in every file of tests: a quarter of a second of a processor.
 */

import { createRequire } from "node:module";

export const { Miniflare, convertV4MiniflareOptions } = createRequire(import.meta.url)("miniflare");
