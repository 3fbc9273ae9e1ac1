/** Commands that say how they are used instead of failing: on a wish, and for what is unknown. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";

const SCRIPTS = path.join(import.meta.dirname, "..", "..", "scripts");

function ran(name, ...parameters) {
  const script = path.join(SCRIPTS, `${name}.mjs`);
  return spawnSync(process.execPath, [script, ...parameters], { encoding: "utf8" });
}

for (const name of ["verify", "release"]) {
  test(`npm run ${name} tells its usage`, () => {
    const usage = new RegExp(`^usage: npm run ${name} -- `);
    for (const flag of ["--help", "-h"]) {
      const { status, stdout, stderr } = ran(name, flag);
      assert.deepEqual([status, stderr], [0, ""], flag);
      assert.match(stdout, usage);
    }
    for (const parameters of [["--unknown"], ["one", "another"]]) {
      const { status, stdout, stderr } = ran(name, ...parameters);
      assert.deepEqual([status, stdout], [1, ""], parameters.join(" "));
      assert.match(stderr, usage);
    }
  });
}

test("npm run verify without a log tells its usage", () => {
  const { status, stderr } = ran("verify");
  assert.equal(status, 1);
  assert.match(stderr, /usage: npm run verify -- /);
});
