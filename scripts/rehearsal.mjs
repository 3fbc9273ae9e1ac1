// Builds what `npm run rehearse` needs: the simulator as a module (Rust), and the empty report, one
// page with its script and style, into build/rehearsal/.
import fs from "node:fs";
import path from "node:path";

import { build } from "esbuild";

import { ROOT } from "./modules.mjs";
import { xtask } from "./xtask.mjs";

const SOURCE = path.join(ROOT, "rehearsal", "report");
const TARGET = path.join(ROOT, "build", "rehearsal");
/** What every browser has that knows `light-dark()`, which the style sheet needs. */
const BROWSERS = ["chrome123", "firefox120", "safari17.5"];

/** Builds all of it. */
export async function buildRehearsal() {
  xtask("rehearsal");
  const parts = { style: await bundled("style.css"), script: await bundled("main.jsx") };
  let page = fs.readFileSync(path.join(SOURCE, "index.html"), "utf8");
  for (const [name, text] of Object.entries(parts))
    page = page.replace(`/* ${name} */`, () => text);
  fs.writeFileSync(path.join(TARGET, "report.html"), page);
}

/** Lists what it has built, as far as it has. */
export function rehearsalFiles() {
  if (!fs.existsSync(TARGET)) return [];
  const names = fs.readdirSync(TARGET).filter((name) => name !== "stamp");
  return names.map((name) => path.join(TARGET, name));
}

async function bundled(source) {
  const { outputFiles } = await build({
    entryPoints: [path.join(SOURCE, source)],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    charset: "utf8",
    target: BROWSERS,
    jsx: "automatic",
    jsxImportSource: "preact",
    define: { PAGE_LANGUAGES: "[]" },
    logLevel: "warning",
  });
  // It stands within an element of the page.
  return outputFiles[0].text.trim().replaceAll("</script", "<\\/script");
}
