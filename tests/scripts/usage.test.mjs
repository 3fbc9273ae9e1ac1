/** Every command lists its flags, and says where that list is for what it does not know. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { DOCUMENTS } from "../harness/documents.mjs";

const ROOT = path.join(import.meta.dirname, "..", "..");
const { scripts } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
const STARTED = /^node scripts\/(?:run\.mjs ([\w-]+)|(\S+\.mjs)(?: (\w+))?)$/;
/** A wrong word ends a command with 1, unless that says what the command has found. */
const MISUSED = { "back-door": 2 };
const documents = DOCUMENTS.map(({ text }) => text).join("\n");

/** Runs what package.json has for a command, without the tools that it may install before. */
function ran(command, ...parameters) {
  const [, step, file = `${step}.mjs`, first = []] = STARTED.exec(scripts[command]);
  const words = [path.join("scripts", file), first, parameters].flat();
  return new Promise((resolve) => {
    execFile(process.execPath, words, { cwd: ROOT }, (error, stdout, stderr) =>
      resolve({ status: error?.code ?? 0, stdout, stderr }),
    );
  });
}

for (const command of Object.keys(scripts)) {
  test(`npm run ${command} tells its flags`, async () => {
    const { status, stdout, stderr } = await ran(command, "--help");
    assert.deepEqual([status, stderr], [0, ""]);
    const first = new RegExp(`^npm run ${command} -- .*\\[flags\\]; (\\S+)[.]md tells more\n`);
    const [, page] = first.exec(stdout) ?? assert.fail(stdout);
    const told = fs.readFileSync(path.join(ROOT, `${page}.md`), "utf8");
    assert.match(told, new RegExp(`npm (?:run )?${command}(?![\\w:-])`), `${page} is about others`);
    assert.match(stdout, /\n {2}--help +Show this\.\n$/);
    const flags = stdout.match(/^ {2}--[\w-]+/gm).map((flag) => flag.trim());
    const isNamed = (flag) => new RegExp(`(?<![\\w-])${flag}(?![\\w-])`).test(documents);
    const ours = flags.filter((flag) => flag !== "--help");
    assert.deepEqual(ours.filter((flag) => !isNamed(flag)), [], "no page names them");
  });

  test(`npm run ${command} refuses a flag that it does not know`, async () => {
    const { status, stdout, stderr } = await ran(command, "--unknown");
    assert.deepEqual([status, stdout], [MISUSED[command] ?? 1, ""], stderr);
    assert.match(stderr, new RegExp(`'--unknown'.* All flags: npm run ${command} -- --help\n`));
  });
}

for (const [command, parameters, sentence] of [
  ["profile", ["--visits", "many"], '--visits must be a whole number from 1, but is "many"'],
  ["profile", ["--visit", "none"], '--visit must be one of pass-through-again, .*, but is "none"'],
  ["object-cpu", ["--scenario", "none"], '--scenario must be one of steady, .*, but is "none"'],
  ["visitors", ["abc"], 'how many must be a whole number from 1 to 500, but is "abc"'],
  ["visitors", ["2", "x"], 'minutes must be above 0, but is "x"'],
  ["test", ["--since", "none"], '--since must be a commit, branch or tag .*, but is "none"'],
  ["test", ["--only", "none"], '--only must be one of format, .*, but is "none"'],
  ["nightly", ["--only", "none"], '--only must be one of tests, .*, but is "none"'],
  ["rehearse", ["none.json"], "there is no file /.*/none.json; a plan to begin with is \\S+.json"],
  [
    "rehearse",
    ["--limit", "2", "--preset", "none"],
    '--preset must be one of flash-sale, .*, but is "none"',
  ],
]) {
  test(`npm run ${command} -- ${parameters.join(" ")} says what would do`, async () => {
    const { status, stdout, stderr } = await ran(command, ...parameters);
    assert.deepEqual([status, stdout], [1, ""], stderr);
    assert.match(stderr, new RegExp(`^\\n {2}${sentence}\\n\\n$`));
  });
}

test("words that are no flags have their line in the help", async () => {
  const wordsOf = async (command) => {
    const { stdout } = await ran(command, "--help");
    return stdout.match(/^ {2}\[.*$/gm).join("\n");
  };
  const both = /^ {2}\[how many\] .*Default: 20\.\n {2}\[minutes\] .*Default: 15\.$/;
  assert.match(await wordsOf("visitors"), both);
  const [taken, made] = [await wordsOf("rooms:import"), await wordsOf("rooms:export")];
  for (const text of [taken, made]) assert.match(text, /^ {2}\[file\] .*Default: rooms\.json[.,]/);
  assert.notEqual(taken, made);
});

test("too many words, and -h", async () => {
  const { status, stderr } = await ran("verify", "one", "another");
  assert.equal(status, 1);
  assert.match(stderr, /too many words for npm run verify -- <file \| address .*> \[flags\]\n/);
  const { stdout } = await ran("verify", "-h");
  assert.match(stdout, /^npm run verify -- /);
});

test("npm run verify without a log asks for one", async () => {
  const { status, stderr } = await ran("verify");
  assert.equal(status, 1);
  assert.match(stderr, /which log\? npm run verify -- /);
});
