/** Which files of tests `npm test -- --since` chooses for a change: by what they import. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { testFiles } from "../../scripts/suite/node-tests.mjs";
import { stepsTouchedBy, touches } from "../../scripts/suite/since.mjs";
import { STEPS } from "../../scripts/suite/steps.mjs";

const FILES = STEPS.flatMap(({ folder }) => (folder ? testFiles(folder) : []));
function commandsOf(changed, wanted) {
  const { commands } = stepsTouchedBy(changed).find(({ name }) => name === wanted);
  return commands.map((words) => words.join(" "));
}
const chosen = (changed) => FILES.filter((file) => touches(file, [changed]));

test("a changed file of tests is chosen, and no other", () => {
  const file = "tests/scripts/since.test.mjs";
  assert.deepEqual(chosen(file), [file]);
});

test("a change of the harness chooses those that import it, directly or through others", () => {
  const files = chosen("tests/harness/rest.mjs");
  assert.ok(files.includes("tests/workerd/order.test.mjs"));
  assert.ok(!files.includes("tests/tidy/spelling.test.mjs"));
});

test("a file of the core: its own tests and those that name its folder", () => {
  const [native] = commandsOf(["room-core/src/queue/line.rs"], "native");
  assert.match(native, /--package room-core .*--lib --test laws --test model$/);
  const [pages] = commandsOf(["room-core/src/page/template.rs"], "native");
  assert.match(pages, /--lib --test parsers --test templates$/);
  const [own] = commandsOf(["room-core/tests/laws/escrow.rs"], "native");
  assert.match(own, /--lib --test laws$/);
  for (const wide of ["room-core/Cargo.toml", "room-core/src/lib.rs"]) {
    assert.doesNotMatch(commandsOf([wide], "native")[0], /--lib/, wide);
  }
});

test("the builder is tested where it is compiled, and alone if nothing else has changed", () => {
  const commands = (...changed) =>
    stepsTouchedBy(changed)
      .find(({ name }) => name === "native")
      .commands.map((words) => words.join(" "));
  const builder = "xtask/src/main.rs";
  assert.match(commands(builder).join(), /^cargo test --package xtask --target-dir \S+ [^,]*$/);
  const [core, other] = commands(builder, "room-core/src/queue/line.rs");
  assert.match(core, /^cargo test --package room-core --locked/);
  assert.match(other, /--package xtask/);
});

test("a screen of the cockpit: its tests in a browser, with the cockpit alone built anew", () => {
  const check = (file, want) => {
    const steps = stepsTouchedBy([file]);
    const { files } = steps.find(({ name }) => name === "browser");
    const names = files.map((one) => one.replace("tests/browser/", "").replace(".test.mjs", ""));
    assert.deepEqual(want ?? names, names, file);
    assert.ok(names.length > 0 && names.every((name) => name.startsWith("cockpit")), file);
    assert.ok(steps.some(({ name }) => name === "build"), file);
  };
  check("cockpit/history.jsx", ["cockpit-history"]);
  check("cockpit/history_chart.jsx", ["cockpit-history"]);
  check("cockpit/health.jsx", ["cockpit-health"]);
  check("cockpit/parts.jsx");
});
