// Bundles a script or a style sheet of a page that owners open: the cockpit, the report of a
// rehearsal.
import { build } from "esbuild";

/** What every browser has that knows `light-dark()`, which the style sheet needs. */
const BROWSERS = ["chrome123", "firefox120", "safari17.5"];

/** Returns the text of a file with all that it imports; `more` are options of esbuild. */
export async function bundled(source, more = {}) {
  const { outputFiles } = await build({
    entryPoints: [source],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    charset: "utf8",
    target: BROWSERS,
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
    ...more,
  });
  return outputFiles[0].text;
}
