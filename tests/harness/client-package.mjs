/**
 * The client library as a stranger gets it: packed, and installed in an empty project without a
 * network.
 */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { ROOT } from "./worker-modules.mjs";

/**
 * Packs the library and installs it in a new folder.
 *
 * @param {string[]} neighbours packages of this checkout that the project has besides
 * @returns {{ folder: string, packed: string[], run: Function, remove: () => void }} where it is,
 *   which files are in the package, and how a program runs there
 */
export function installedClient(neighbours = []) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "waiting-room-client-"));
  const npm = (cwd, ...parameters) => output(cwd, "npm", [...parameters, "--no-audit"]);
  const pack = ["pack", path.join(ROOT, "client"), "--pack-destination", folder, "--json"];
  // The prepack step writes its own lines before the report.
  const [report] = JSON.parse(/^\[\n[^]*/m.exec(npm(ROOT, ...pack))[0]);
  fs.writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
  const more = neighbours.map((name) => path.join(ROOT, "node_modules", name));
  npm(folder, "install", "--offline", `./${report.filename}`, ...more);
  return {
    folder,
    packed: report.files.map((file) => file.path).sort(),
    run: (program, ...parameters) => output(folder, program, parameters),
    remove: () => fs.rmSync(folder, { recursive: true, force: true }),
  };
}

function output(cwd, program, parameters) {
  const { status, stdout, stderr, error } = spawnSync(program, parameters, {
    cwd,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${program} ${parameters}: ${error ?? stdout + stderr}`);
  return stdout;
}
