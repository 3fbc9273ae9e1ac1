/** The manual's examples and the cockpit make codes of invitations that all say the same. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHmac, createPublicKey, verify } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { linksOf, tableOf } from "../../cockpit/invitation_codes.js";
import { DOCUMENTS } from "../harness/documents.mjs";

const run = promisify(execFile);
const ROOM = "0123456789abcdef0123456789abcdef";
/** As the tests of `room-core/src/visit/invitation.rs` have it. */
const KEY = "fiGwREc--CjwBiyVqGkHOfyKOFXYSjfD4MUhY_3JROU";
/** The time that the examples read, and the end of codes that hold for 30 days from then on. */
const NOW_S = 1_900_000_000;
const CLAIMS = { room: ROOM, group: "members", jti: "anna-1", exp: NOW_S + 30 * 86_400 };
/** What sets the clock of an example in each language. */
const CLOCKS = {
  js: `Date.now = () => ${NOW_S}999;\n`,
  python: `import time\ntime.time = lambda: ${NOW_S}.9\n`,
  sh: `date() { printf %s ${NOW_S}; }\n`,
};
const { blocks } = DOCUMENTS.find(({ name }) => name === "docs/invitations.md");

function exampleIn(language, jti = "anna-1") {
  const found = blocks.find(({ language: of, lines }) => {
    return of === language && lines.some((line) => line.includes(jti));
  });
  return CLOCKS[language] + found.lines.join("\n");
}

function check(code, claims) {
  const [header, text, signature] = code.split(".");
  const told = [header, text].map((part) => JSON.parse(Buffer.from(part, "base64url")));
  assert.deepEqual(told, [{ alg: "HS256", typ: "JWT" }, claims]);
  const own = createHmac("sha256", KEY).update(`${header}.${text}`).digest("base64url");
  assert.equal(signature, own);
}

test("the examples in three languages make a code", async () => {
  const node = `const [ROOM, KEY] = ${JSON.stringify([ROOM, KEY])};\n${exampleIn("js")}`;
  const { stdout: link } = await run(process.execPath, ["--input-type=module", "-e", node]);
  check(link.trim().split("#invitation=")[1], { ...CLAIMS, uses: 1 });
  const python = `ROOM = "${ROOM}"\nKEY = "${KEY}"\n${exampleIn("python")}\nprint(code)`;
  check((await run("python3", ["-c", python])).stdout.trim(), { ...CLAIMS, uses: 1 });
  const shell = `${exampleIn("sh")}\nprintf %s "$code"`;
  const env = { ...process.env, ROOM, KEY };
  check((await run("sh", ["-c", shell], { env })).stdout, CLAIMS);
});

test("the examples in three languages sign by a key of the owner's", async (context) => {
  const cwd = fs.mkdtempSync(path.join(os.tmpdir(), "invitations-"));
  context.after(() => fs.rmSync(cwd, { recursive: true }));
  const makes = blocks.find(({ lines }) => lines.some((line) => line.includes("genpkey")));
  const [genpkey, toPublic] = makes.lines;
  const made = await run("sh", ["-c", `${genpkey}\n${toPublic}\nprintf %s "$PUBLIC"`], { cwd });
  const jwk = { kty: "OKP", crv: "Ed25519", x: made.stdout };
  const known = createPublicKey({ key: jwk, format: "jwk" });
  const signedBy = (code) => {
    const [header, text, signature] = code.trim().split(".");
    const told = [header, text].map((part) => JSON.parse(Buffer.from(part, "base64url")));
    assert.deepEqual(told, [{ alg: "EdDSA" }, { ...CLAIMS, jti: "boris-1" }]);
    const bytes = Buffer.from(signature, "base64url");
    assert.ok(verify(null, Buffer.from(`${header}.${text}`), known, bytes), code);
  };
  const node = `const ROOM = "${ROOM}";\n${exampleIn("js", "boris-1")}`;
  const inNode = await run(process.execPath, ["--input-type=module", "-e", node], { cwd });
  signedBy(inNode.stdout);
  const shell = `${exampleIn("sh", "boris-1")}\nprintf %s "$code"`;
  signedBy((await run("sh", ["-c", shell], { cwd, env: { ...process.env, ROOM } })).stdout);
  const python = `ROOM = "${ROOM}"\n${exampleIn("python", "boris-1")}\nprint(code)`;
  const inPython = await run("python3", ["-c", python], { cwd }).catch((error) => error);
  if (/No module named 'cryptography'/.test(inPython.stderr)) {
    context.diagnostic("Python has no cryptography here: its example is not run.");
  } else {
    signedBy(inPython.stdout);
  }
});

test("the cockpit makes links with a code each, which they keep from servers", async () => {
  const room = { id: ROOM, host: "shop.example", path: "/buy" };
  const now_ms = (CLAIMS.exp - 7_200) * 1_000 + 999;
  const make = (written) => {
    let made = 0;
    const all = { group: "members", links: "1", uses: "3", hours: "2", ...written };
    return linksOf(room, KEY, all, now_ms, () => `anna-${(made += 1)}`);
  };
  const links = await make({ links: "3" });
  for (const [at, link] of links.entries()) {
    const { pathname, search, hash } = new URL(link);
    assert.deepEqual([pathname, search], ["/buy", ""]);
    check(hash.replace("#invitation=", ""), { ...CLAIMS, jti: `anna-${at + 1}`, uses: 3 });
  }
  assert.equal(links.length, 3);
  assert.equal(tableOf(links.slice(0, 1)), `"link"\r\n"${links[0]}"\r\n`);
  const wrong = [{ uses: "0" }, { uses: "1.5" }, { hours: "0" }, { hours: "9999" }];
  for (const written of wrong) {
    await assert.rejects(make(written), /code/i, JSON.stringify(written));
  }
  for (const many of ["0", "", "2.5", "10001"]) {
    await assert.rejects(make({ links: many }), /^Error: 1 to 10,000 links/, many);
  }
});
