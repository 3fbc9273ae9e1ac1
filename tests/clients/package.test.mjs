/**
 * The client library as a package: what is in it, and that it installs, runs and has types in an
 * empty project without a network.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import zlib from "node:zlib";

import { installedClient } from "../harness/client-package.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const TSC = path.join(ROOT, "node_modules", "typescript", "bin", "tsc");
const PARTS = ["answer", "calls", "cookies", "index", "react", "session", "stream", "surroundings"];
/** Waits for its turn before a room that is made up, and prints what it hears. */
const PLAIN = `
import { waitingRoomFetch } from "waiting-room-client";
const facts = { inWaitingRoom: true, waitTimeKnown: false, refreshIntervalSeconds: 0.01 };
const answers = [Response.json({ cfWaitingRoom: facts }), Response.json("the site's")];
const fetch = async () => answers.shift();
const onProgress = ({ state }) => console.log(state);
const answer = await waitingRoomFetch({ fetch, onProgress })("https://shop.example/");
console.log(await answer.json());
`;
const TYPED = `
import { waitingRoomFetch, type Progress } from "waiting-room-client";
import { useWaitingRoomFetch } from "waiting-room-client/react";
import type { Session } from "waiting-room-client/session";
export const seconds = ({ secondsLeft }: Session): number => secondsLeft;
export const tell = ({ position }: Progress): number | undefined => position;
export const ask: typeof fetch = waitingRoomFetch({ onProgress: tell });
export function useMinutes(): number | undefined {
  const [, progress] = useWaitingRoomFetch();
  return progress?.estimateMinutes;
}
`;

test("the package holds the library, its types, what it says of itself and the licence", (t) => {
  const { packed, remove } = installedClient();
  t.after(remove);
  const parts = PARTS.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]);
  assert.deepEqual(packed, ["LICENSE", "README.md", ...parts, "package.json"]);
});

test("it is as small as its documents say", (t) => {
  const { folder, remove } = installedClient();
  t.after(remove);
  const dist = path.join(folder, "node_modules", "waiting-room-client", "dist");
  const check = (names, document, said) => {
    const files = names.map((name) => fs.readFileSync(path.join(dist, `${name}.js`)));
    const { length } = zlib.gzipSync(Buffer.concat(files), { level: 9 });
    const [, kilobytes] = said.exec(fs.readFileSync(path.join(ROOT, document), "utf8"));
    // Programs that compress differ by some bytes.
    const isSo = Math.abs(Number(kilobytes) - length / 1_000) < 0.1;
    assert.ok(isSo, `${document} says ${kilobytes} KB, and it is ${length} bytes`);
  };
  check(PARTS, "client/README.md", /(\d+\.\d) KB after gzip/);
  check(["session"], "docs/pages.md", /session\.js` \((\d+\.\d) KB after gzip/);
});

test("it runs and has types in an empty project, and the hook beside React", (t) => {
  const { folder, run, remove } = installedClient(["react"]);
  t.after(remove);
  fs.writeFileSync(path.join(folder, "plain.js"), PLAIN);
  assert.equal(run("node", "plain.js"), "waiting\nturn\nthe site's\n");
  const name = 'import("waiting-room-client/react").then((all) => console.log(Object.keys(all)))';
  assert.equal(run("node", "--eval", name).trim(), "[ 'useWaitingRoomFetch' ]");
  fs.writeFileSync(path.join(folder, "typed.ts"), TYPED);
  const strict = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2023"];
  run("node", TSC, ...strict, "--lib", "es2023,dom,dom.iterable", "typed.ts");
});
