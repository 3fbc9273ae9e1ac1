/**
 * Whom `npm run rooms:export` and `rooms:import` ask where no address is named: an export the
 * deployment of the folder, an import this machine alone.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";

/** A port to which `fetch` sends nothing, so that no test asks a machine. */
const NOBODY = "127.0.0.1:1";
const LOCAL = "http://localhost:1";

test("without --url an export asks the deployment, and an import this machine", (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "rooms-address-"));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, "saved.json");
  fs.writeFileSync(file, "[]");
  const said = (direction, ...more) => {
    const flags = [direction, file, "--folder", folder, ...more];
    const env = { ...process.env, PORT: "1", API_TOKEN: "any" };
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      [path.join("scripts", "rooms.mjs"), ...flags],
      { encoding: "utf8", env },
    );
    assert.equal(status, 1, stdout);
    const [, asked, hint = ""] = stdout.match(/^asks (.*?)(; .*)?$/m);
    assert.match(stderr, new RegExp(`^nothing answers at ${asked}: `));
    return { asked, hint };
  };
  assert.deepEqual(said("export"), { asked: LOCAL, hint: "" });
  assert.deepEqual(said("import"), { asked: LOCAL, hint: "" });

  fs.writeFileSync(path.join(folder, "settings.json"), JSON.stringify({ adminHost: NOBODY }));
  assert.deepEqual(said("export"), { asked: `https://${NOBODY}`, hint: "" });
  const hint = `; for your deployment add --url https://${NOBODY}`;
  assert.deepEqual(said("import"), { asked: LOCAL, hint });
  assert.deepEqual(said("export", "--url", LOCAL), { asked: LOCAL, hint: "" });
  assert.deepEqual(said("import", "--url", `https://${NOBODY}`).asked, `https://${NOBODY}`);
});
