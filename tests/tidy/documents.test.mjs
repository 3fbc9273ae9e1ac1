/**
 * Checks that documents lead somewhere: links, anchors, commands and files that they name are
 * there, and every command of a shell block is run by some test. And that they are complete.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import {
  ELSEWHERE,
  NAMED,
  isForProduct,
  isVerification,
} from "../harness/documented-commands.mjs";
import { DOCUMENTS, PAGES, anchor, read, shellCommands } from "../harness/documents.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const README_LINES_MAX = 199;
const OPENING = /^After reading this page you (?:can|know) /;
/** Addresses of this machine, and of the examples of RFC 5737. */
const HERE = /^http:\/\/(?:[\w-]+\.)*(?:localhost|127\.0\.0\.1|203\.0\.113\.\d+)(?::\d+)?(?:\/|$)/;
const TRACKING = /[?&](?:utm_\w+|gclid|fbclid|mc_\w+|ref|cf_target_id)=/;
/** What commands write, so that no checkout has it. */
const WRITTEN = /^(?:production|own-machine|build|client\/dist)(?:\/|$)/;
const WRITTEN_FILES = [
  "rehearsal.html",
  "running.json",
  "secrets.json",
  "settings.json",
  "state.json",
  "wrangler.json",
];
const FILE = /^[\w.-]+\.(?:rs|mjs|js|ts|py|md|toml|json|html|svg|png|webp)$/;
const IN_A_FOLDER = /^[\w.-]+(?:\/[\w.-]+)+\/?$/;
/** "`NAME`, `file`" and "`NAME` in `file`"; a path before the name belongs to the language. */
const NAME_AND_FILE = /`(?:\w+::)*(\w{3,})(?:\(\))?`(?:,| in)\s`([\w./-]+\.(?:rs|mjs|js|jsx))`/g;
/** A command with its variables; the settings before it are no part of its name. */
const COMMAND = /^(?:[A-Z_]+=\S+ )*(?=(?:npm|node|npx|cargo) )/;
/** Which folders define the flags of a command. */
const FLAGS_OF_NPM = ["scripts", "bench"];

const files = filesOfTheCheckout();
const names = new Set(files.map((file) => path.basename(file)));
const scripts = JSON.parse(text("package.json")).scripts;
const spans = DOCUMENTS.flatMap(({ name, spans: all }) => all.map((span) => ({ name, span })));

test("every link leads to a file, and every anchor to a heading there", () => {
  const documents = new Map(DOCUMENTS.map((document) => [document.name, document]));
  const links = DOCUMENTS.flatMap(({ name, links: all }) => all.map((link) => [name, link]));
  const relative = links.filter(([, link]) => !/^https?:/.test(link));
  const isDead = ([name, link]) => {
    const [to, place] = link.split("#");
    const file = to ? path.posix.join(path.posix.dirname(name), to) : name;
    if (!fs.existsSync(path.join(ROOT, file))) return true;
    if (place === undefined) return false;
    const document = documents.get(file) ?? read(file);
    return !document.headings.map(anchor).includes(place);
  };
  assert.ok(relative.length > 100, `only ${relative.length} links`);
  assert.deepEqual(relative.filter(isDead), []);
});

test("addresses elsewhere are those of pages alone", () => {
  const addresses = DOCUMENTS.flatMap((document) => document.addresses);
  const isWrong = (address) =>
    (!address.startsWith("https://") && !HERE.test(address)) || TRACKING.test(address);
  assert.ok(addresses.length > 30, `only ${addresses.length} addresses`);
  assert.deepEqual(addresses.filter(isWrong), []);
});

test("files and folders in code spans are there", () => {
  const folders = new Set(files.map((file) => file.split("/")[0]));
  const isMissing = ({ span }) => {
    if (WRITTEN.test(span) || WRITTEN_FILES.includes(span)) return false;
    if (FILE.test(span)) return !names.has(span);
    if (!IN_A_FOLDER.test(span) || !folders.has(span.split("/")[0])) return false;
    return !fs.existsSync(path.join(ROOT, span)) && !isAnyFile(span);
  };
  assert.ok(spans.length > 1_000, `only ${spans.length} code spans`);
  assert.deepEqual(spans.filter(isMissing), []);
});

test("a name before a file in code spans stands in that file", () => {
  const pairs = DOCUMENTS.flatMap(({ name, text: all }) =>
    [...all.matchAll(NAME_AND_FILE)].map(([, word, file]) => ({ name, word, file })),
  );
  const isElsewhere = ({ word, file }) => {
    const meant = files.filter((one) => one === file || one.endsWith(`/${file}`));
    return !meant.some((one) => new RegExp(`\\b${word}\\b`).test(text(one)));
  };
  assert.ok(pairs.length > 40, `only ${pairs.length} pairs`);
  assert.deepEqual(pairs.filter(isElsewhere), []);
});

test("commands that are named exist, with their flags", () => {
  const blocks = shellCommands().map(({ block, text: span }) => ({ name: block.name, span }));
  const commands = [...spans, ...blocks].filter(({ span }) => COMMAND.test(span));
  assert.ok(commands.length > 60, `only ${commands.length} commands`);
  const wrong = commands.map(({ name, span }) => ({ name, span, why: whatIsWrong(span) }));
  assert.deepEqual(wrong.filter(({ why }) => why), []);
});

test("every command of a shell block is run by a test", () => {
  const commands = shellCommands();
  const unneeded = new Set(ELSEWHERE);
  const isRun = ({ text: command }) => {
    if (isForProduct(command) || isVerification(command)) return true;
    const found = ELSEWHERE.find((one) => ` ${command} `.startsWith(` ${one.command} `));
    unneeded.delete(found);
    return found !== undefined;
  };
  assert.ok(commands.length > 15, `only ${commands.length} commands`);
  assert.deepEqual(commands.filter((command) => !isRun(command)).map((one) => one.text), []);
  assert.deepEqual([...unneeded], []);
  for (const { command, test: [file, title] } of ELSEWHERE) {
    assert.ok(text(file).includes(title), `${command}: ${file} has no test "${title}"`);
  }
});

test("every command of a sentence is run by a test, or it is said why by none", () => {
  const tried = ELSEWHERE.map(({ command }) => command);
  const unneeded = new Set(Object.keys(NAMED));
  const isRun = (span) => {
    const begins = (command) => ` ${span.replace(COMMAND, "")} `.startsWith(` ${command} `);
    const named = Object.keys(NAMED).find(begins);
    unneeded.delete(named);
    return named !== undefined || tried.some(begins);
  };
  const commands = spans.map(({ span }) => span).filter((span) => COMMAND.test(span));
  assert.deepEqual(commands.filter((command) => !isRun(command)), []);
  assert.deepEqual([...unneeded], []);
  for (const [command, [file, part] = []] of Object.entries(NAMED)) {
    assert.ok(!file || text(file).includes(part), `${command}: ${file} has no ${part}`);
  }
});

test("a block of commands says that it is one", () => {
  const unmarked = DOCUMENTS.flatMap(({ blocks }) => blocks).filter(
    ({ language, lines }) =>
      language !== "sh" && /^(?:\$ )?(?:npm|npx|node|cargo|curl|git) /.test(lines[0]),
  );
  assert.deepEqual(unmarked, []);
});

test("each page opens with what its reader can do then, and README leads to it", () => {
  const readme = DOCUMENTS.find(({ name }) => name === "README.md");
  const lines = readme.text.trimEnd().split("\n").length;
  assert.ok(lines <= README_LINES_MAX, `README has ${lines} lines`);
  const pages = DOCUMENTS.filter(({ name }) => PAGES.includes(name));
  const without = pages.filter((page) => !OPENING.test(page.text.split("\n\n")[1] ?? ""));
  assert.deepEqual(without.map(({ name }) => name), []);
  assert.deepEqual(PAGES.filter((name) => !readme.links.includes(name)), []);
});

test("each field and variable has its place in the manual", () => {
  const { schemas } = JSON.parse(text("src/openapi.json.txt")).components;
  const missing = (all, page) => {
    const told = new Set(spans.filter(({ name }) => name === page).map(({ span }) => span));
    return all.filter((one) => !told.has(one));
  };
  const fields = ({ properties }) =>
    Object.keys(properties).filter((field) => !properties[field].readOnly);
  assert.deepEqual(missing(fields(schemas.Room), "docs/rooms.md"), []);
  assert.deepEqual(missing(fields(schemas.Event), "docs/events.md"), []);
  assert.deepEqual(missing(Object.keys(schemas.Status.properties), "docs/api.md"), []);
  const code = `${text("room-core/src/management/variables.rs")}${text("src/management.rs")}`;
  const inCode = [...code.matchAll(/(?:text|bound|get)\("([A-Z_]+)"/g)].map(([, name]) => name);
  const inFile = [...text("wrangler.toml").matchAll(/^([A-Z_]+) = /gm)].map(([, name]) => name);
  const variables = [...new Set([...inCode, ...inFile])];
  assert.ok(variables.length > 12, `only ${variables}`);
  assert.deepEqual(missing(variables, "docs/operations.md"), []);
});

test("the sections of the cockpit's page stand in the order of a room's tabs", () => {
  const tabs = [...text("cockpit/room_tabs.jsx").matchAll(/\["\/\w+", "(\w+)"\]/g)];
  const titles = tabs.map(([, title]) => title);
  const { headings } = read("docs/cockpit.md");
  assert.ok(titles.length > 5, `only ${titles}`);
  assert.deepEqual(headings.filter((heading) => titles.includes(heading)), titles);
});

test("dead links, missing files and unknown commands are found", () => {
  const { links, headings, spans: found } = read("README.md", "# A [b](c.html): `d`!\n`e\nf`\n");
  assert.deepEqual([links, headings.map(anchor), found], [["c.html"], ["a-b-d"], ["d", "e f"]]);
  assert.equal(anchor("A room's numbers"), "a-rooms-numbers");
  const check = (command, why) => assert.equal(whatIsWrong(command), why, command);
  check("npm run deploy -- --yes", undefined);
  check("npm run deploi", "no npm script");
  check("npm run deploy -- --yess", "no flag --yess");
  check("npm test -- --only nothing", "no step nothing");
  check("node scripts/nothing.mjs", "no file scripts/nothing.mjs");
  check("cargo test -p nothing", "no package nothing");
  check("cargo test -p room-core --test nothing", "no test nothing");
});

/** What is wrong with a command, as far as names tell; `undefined` for nothing. */
function whatIsWrong(command) {
  const [program, ...words] = command.replace(COMMAND, "").split(/\s+/);
  if (program === "node") return files.includes(words[0]) ? undefined : `no file ${words[0]}`;
  if (program === "npm") return wrongWithNpm(words);
  return program === "cargo" ? wrongWithCargo(words) : undefined;
}

function wrongWithNpm(words) {
  const script = words[0] === "run" ? words[1] : words[0];
  if (!scripts[script] && !["ci", "pack"].includes(script)) return "no npm script";
  const step = behind(words, "--only");
  const steps = text("scripts/suite/steps.mjs");
  if (step && !steps.includes(`name: "${step}"`)) return `no step ${step}`;
  return unknownFlag(words, FLAGS_OF_NPM);
}

function wrongWithCargo(words) {
  const named = behind(words, "-p") ?? behind(words, "--package");
  if (named && !files.includes(`${named}/Cargo.toml`)) return `no package ${named}`;
  const target = behind(words, "--test");
  const places = [`${named}/tests/${target}.rs`, `${named}/tests/${target}/main.rs`];
  if (target && !places.some((place) => files.includes(place))) return `no test ${target}`;
  if (words[0] !== "run" || !words.includes("--")) return undefined;
  return unknownFlag(words.slice(words.indexOf("--") + 1), [`${named}/src`]);
}

/** The word behind a flag; `undefined` where the flag is missing. */
function behind(words, flag) {
  return words.includes(flag) ? words[words.indexOf(flag) + 1] : undefined;
}

/** Says which flag among these words none of the files in `folders` knows. */
function unknownFlag(words, folders) {
  const isThere = (file) => folders.some((folder) => file.startsWith(`${folder}/`));
  const code = files.filter(isThere).map(text).join("\n");
  const unknown = words
    .filter((word) => /^--[a-z]/.test(word))
    .map((word) => word.split("=")[0].slice(2))
    .find((flag) => !new RegExp(`"(?:--)?${flag}"|--${flag}\\b|\\b${flag}: \\{`).test(code));
  return unknown && `no flag --${unknown}`;
}

/** Whether a path without its ending, such as `tests/workerd/restart`, means a file. */
function isAnyFile(span) {
  return files.some((file) => file.startsWith(`${span}.`));
}

function text(name) {
  return fs.readFileSync(path.join(ROOT, name), "utf8");
}

function filesOfTheCheckout() {
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { stdout } = spawnSync("git", list, { cwd: ROOT, encoding: "utf8" });
  return stdout.split("\0").filter((file) => file && fs.existsSync(path.join(ROOT, file)));
}
