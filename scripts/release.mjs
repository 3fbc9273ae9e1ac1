// `npm run release`: a folder that deploys without Rust. It holds the built Worker, the scripts
// that deploy it, and a wrangler pinned by the lock file: what Cloudflare's deploy button needs.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { ROOT, filesFrom, productFiles } from "./modules.mjs";
import { buildRehearsal, rehearsalFiles } from "./rehearsal.mjs";
import { OWN_ENTRY } from "./serve/configuration.mjs";
import { stop } from "./stop.mjs";
import { HELP, readFlags } from "./usage.mjs";
import { buildWorker } from "./xtask.mjs";

/** The scripts that an owner runs, as in package.json. */
const COMMANDS = [
  "deploy",
  "serve",
  "rehearse",
  "verify",
  "rotate-keys",
  "doctor",
  "rooms:import",
  "rooms:export",
  "back-door",
];
/** Their files, and what one of them starts. */
const SCRIPTS = [
  "run",
  "deploy",
  "serve",
  "serve/supervise",
  "rehearse",
  "rehearse/thread",
  "verify",
  "rotate-keys",
  "doctor",
  "rooms",
  "back-door",
];
const MORE_FILES = [".dev.vars.example", ".npmrc", "CHANGELOG.md", "LICENSE"];
/** What an owner starts or copies: the manual names it, and links to none of it. */
const EXAMPLES = ["alerts-by-email", "origin-lock", "own-machines", "rehearsal"].map((name) =>
  path.join("examples", name),
);
const IGNORED = [
  "/node_modules/",
  "/production/",
  "/own-machine/",
  ".wrangler/",
  "/.dev.vars",
  "*.log",
];
/** The verifier of transparency logs, as a page. */
const VERIFIER = path.join(ROOT, "build", "transparency", "verify.html");
/** What the deploy button tells about what it asks for. */
const DESCRIPTIONS = {
  TICKET_KEYS: {
    description: "Seals the visitors' tickets. Make one with `openssl rand -hex 32`, and keep it.",
  },
  API_TOKEN: { description: "Opens the API. Make one with `openssl rand -hex 32`, and keep it." },
};

/** Each flag: name, default, what it takes, what it means. */
const FLAGS = [
  ["folder", "build/release", "path", "Where to write the folder, which is emptied before."],
  ["no-build", false, "", "Take what `npm run build` has built last."],
  HELP,
];

const { values } = readFlags("release", FLAGS, process.argv.slice(2));
process.chdir(ROOT);
if (!values["no-build"]) {
  // First: the cockpit carries it.
  await buildRehearsal();
  buildWorker();
}
const folder = path.resolve(values.folder);
fs.rmSync(folder, { recursive: true, force: true });
copyFiles();
write("wrangler.toml", withoutBuild(fs.readFileSync("wrangler.toml", "utf8")));
write(".gitignore", `${IGNORED.join("\n")}\n`);
writePackage();
console.log(`${folder}: copy it anywhere and run \`npm run deploy\` there (docs/deploy.md)`);

function copyFiles() {
  const scripts = SCRIPTS.flatMap((name) => filesFrom(path.join(ROOT, "scripts", `${name}.mjs`)));
  const product = [...productFiles(), ...filesFrom(OWN_ENTRY)];
  const files = [...product, ...scripts, ...rehearsalFiles(), VERIFIER].map((file) =>
    path.relative(ROOT, file),
  );
  const examples = EXAMPLES.flatMap((folder) =>
    fs.readdirSync(folder).map((name) => path.join(folder, name)),
  );
  const all = new Set([...files, ...MORE_FILES, ...manual(), ...examples]);
  for (const file of all) write(file, fs.readFileSync(file));
}

/** The pages of the manual, and every file that they lead to. */
function manual() {
  const found = new Set();
  const follow = (file) => {
    if (found.has(file)) return;
    found.add(file);
    if (!file.endsWith(".md")) return;
    const links = fs.readFileSync(file, "utf8").matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g);
    for (const [, link] of links) {
      if (!/^https?:/.test(link)) follow(path.join(path.dirname(file), link));
    }
  };
  for (const name of fs.readdirSync("docs")) {
    if (name.endsWith(".md")) follow(path.join("docs", name));
  }
  return found;
}

function write(name, contents) {
  const file = path.join(folder, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, contents);
}

/** Takes the build out of wrangler.toml, which would need Rust. */
function withoutBuild(text) {
  const [before, behind] = text.split(/^\[build\]$/m);
  if (behind === undefined) stop("wrangler.toml has no [build] any more: look at this script");
  return before + behind.slice(behind.indexOf("\n["));
}

/** Writes a package of wrangler alone, with the lock file's part of it. */
function writePackage() {
  const whole = JSON.parse(fs.readFileSync("package.json", "utf8"));
  const { scripts, devDependencies, ...rest } = whole;
  const own = {
    ...rest,
    scripts: Object.fromEntries(COMMANDS.map((name) => [name, scripts[name]])),
    devDependencies: { wrangler: devDependencies.wrangler },
    cloudflare: { bindings: DESCRIPTIONS },
  };
  write("package.json", `${JSON.stringify(own, null, 2)}\n`);
  write("package-lock.json", fs.readFileSync("package-lock.json"));
  const parameters = ["install", "--package-lock-only", "--offline", "--ignore-scripts"];
  const npm = process.env.npm_execpath;
  const [command, first] = npm ? [process.execPath, [npm]] : ["npm", []];
  const ran = spawnSync(command, [...first, ...parameters], { cwd: folder, encoding: "utf8" });
  if (ran.status !== 0) stop(`npm could not shorten the lock file: ${ran.stderr}`);
}
