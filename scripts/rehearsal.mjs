// Builds what `npm run rehearse` and the cockpit's screen *Rehearse* need, into build/rehearsal/:
// the simulator as a module (Rust), and the empty report, one page with its script and style.
import fs from "node:fs";
import path from "node:path";

import { bundled } from "./bundle.mjs";
import { ROOT } from "./modules.mjs";
import { isBuilt } from "./rehearse/player.mjs";
import { xtask } from "./xtask.mjs";

const SOURCE = path.join(ROOT, "rehearsal", "report");
const TARGET = path.join(ROOT, "build", "rehearsal");

/** Builds all of it. */
export async function buildRehearsal() {
  if (!isBuilt()) console.log("Building the simulator (once, about two minutes) ...");
  xtask("rehearsal");
  const parts = { style: await part("style.css"), script: await part("main.jsx") };
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

async function part(name) {
  const text = await bundled(path.join(SOURCE, name));
  // It stands within an element of the page.
  return text.trim().replaceAll("</script", "<\\/script");
}
