// Builds analytics/ and its GraphQL library into build/analytics/analytics.js: one module, which
// the Worker loads when somebody first asks.
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

import { build } from "esbuild";

const ROOT = path.join(import.meta.dirname, "..");
const TARGET = path.join(ROOT, "build", "analytics", "analytics.js");

await build({
  entryPoints: [path.join(ROOT, "analytics", "main.js")],
  outfile: TARGET,
  bundle: true,
  minify: true,
  format: "esm",
  charset: "utf8",
  target: "es2023",
  // Without it the library compares the realms of its types at every step.
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "warning",
});
const gzipped = zlib.gzipSync(fs.readFileSync(TARGET), { level: 9 });
console.log(`analytics: ${(gzipped.length / 1_024).toFixed(1)} KB gzip`);
