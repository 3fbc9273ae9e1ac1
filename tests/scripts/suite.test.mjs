// What the suite counts of a file of tests: in a process of its own, whatever ends it.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";

import { runTestFile } from "../../scripts/suite/node-tests.mjs";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "waiting-room-suite-"));
after(() => fs.rmSync(folder, { recursive: true }));
// Node would tell these files that they belong to a run of this one.
delete process.env.NODE_TEST_CONTEXT;

const FINE = 'test("fine", () => {});';

/** Runs a file with this text. */
async function run(text) {
  const file = path.join(folder, "some.test.mjs");
  fs.writeFileSync(file, `import { after, describe, test } from "node:test";\n${text}\n`);
  const { results, code, output } = await runTestFile(file, { SUITE: `${process.pid}` });
  return { code, output, told: results.map(({ name, outcome }) => `${name} ${outcome}`).join() };
}

test("a file of tests is one process, with the variables of its step", async () => {
  const child = "assert.equal(process.env.SUITE, String(process.ppid))";
  const { code, told } = await run(
    `import assert from "node:assert/strict";\ntest("child", () => ${child});`,
  );
  assert.deepEqual([code, told], [0, "child passed"]);
});

test("each test of a file is told, and one that fails fails the file", async () => {
  const fails = 'test("fails", () => { throw new Error("why"); });';
  const { code, told, output } = await run(`${FINE}\n${fails}\ntest.skip("skipped", () => {});`);
  assert.deepEqual([code, told], [1, "fine passed,fails failed,skipped skipped"]);
  assert.match(output, /failing tests:[^]*why/);
});

test("a file that throws outside its tests has failed, whenever it does", async () => {
  const late = 'throw new Error("late");';
  const inTime = [late, `await Promise.resolve();\n${late}`, `setTimeout(() => { ${late} });`];
  for (const end of [...inTime, `after(() => { ${late} });`]) {
    const { code, told, output } = await run(`${FINE}\n${end}`);
    assert.ok(code !== 0 || told.endsWith(" failed"), end);
    assert.match(output, /late/, end);
  }
});

test("a file that ends itself, or has no tests, tells of none", async () => {
  for (const text of ['test("fine", () => process.exit(0));', ""]) {
    assert.equal((await run(text)).told, "", text);
  }
});

test("a file that ends itself after some of its tests has failed", async () => {
  const ends = 'test("ends", () => process.exit(0));';
  const { code, told, output } = await run(`${FINE}\n${ends}\ntest("never", () => {});`);
  assert.deepEqual([code, told.includes("never")], [1, false]);
  assert.match(output, /The process ended before its tests did/);
});

test("a group of tests is told if it fails, also without a test that does", async () => {
  const hook = 'after(() => { throw new Error("why"); });';
  const { told } = await run(`describe("group", () => { ${hook} ${FINE} });`);
  assert.equal(told, "fine passed,group failed");
  assert.equal((await run(`describe("group", () => { ${FINE} });`)).told, "fine passed");
});
