/** Every command lists its flags, and says where that list is for what it does not know. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

const ROOT = path.join(import.meta.dirname, "..", "..");
const { scripts } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
const STARTED = /^node scripts\/(?:run\.mjs ([\w-]+)|(\S+\.mjs)(?: (\w+))?)$/;
/** A wrong word ends a command with 1, unless that says what the command has found. */
const MISUSED = { "back-door": 2 };

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
    assert.ok(fs.existsSync(path.join(ROOT, `${page}.md`)), page);
    assert.match(stdout, /\n {2}--help +Show this\.\n$/);
  });

  test(`npm run ${command} refuses a flag that it does not know`, async () => {
    const { status, stdout, stderr } = await ran(command, "--unknown");
    assert.deepEqual([status, stdout], [MISUSED[command] ?? 1, ""], stderr);
    assert.match(stderr, new RegExp(`'--unknown'.* All flags: npm run ${command} -- --help\n`));
  });
}

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
