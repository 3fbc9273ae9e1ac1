/**
 * How the commands of the documents are tried: those for a started product are run against one,
 * some run anywhere, and for all others another test runs the same.
 */

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { createHash, createHmac, randomBytes } from "node:crypto";
import { promisify } from "node:util";

import { shellBlocks, shellCommands } from "./documents.mjs";
import { ownKeys } from "./invitation.mjs";

/** What documents write for the product that `npm start` starts. */
const STARTED_AT = "http://localhost:8787";
const COMMAND_LIMIT_MS = 60_000;
/** An answer of an error ends the shell, and each answer has a line of its own. */
const CURL = 'curl() { command curl --silent --show-error --fail-with-body "$@" || exit 1; echo; }';

const BARE = "tests/bare/first-commands.test.mjs";
const DEPLOY = "tests/deploy/deploy.test.mjs";
const BACK_DOOR = "tests/attacks/01-back-door.test.mjs";

/** Commands that no test runs as they stand: why, and the test that runs the same. */
export const ELSEWHERE = [
  {
    command: "SECRET=whsec_... TO=ops@shop.example node examples/alerts-by-email/relay.mjs",
    why: "it needs the secret of a webhook",
    test: [
      "tests/scripts/mail-relay.test.mjs",
      "a genuine message becomes one e-mail, and nothing else does",
    ],
  },
  ...["b64()", claimsOf("anna-1"), 'text="$(printf', 'code="$text.$(printf'].map((command) =>
    lineOf(command, "the examples in three languages make a code"),
  ),
  ...[
    "openssl genpkey",
    "PUBLIC=$(openssl",
    claimsOf("boris-1"),
    "printf '%s.%s'",
    'code="$(cat',
  ].map((command) =>
    lineOf(command, "the examples in three languages sign by a key of the owner's"),
  ),
  {
    command: "npm start",
    why: "it installs and builds all there is",
    test: [BARE, "npm start leads to a served queue page"],
  },
  {
    command: "npx wrangler login",
    why: "it opens a browser at an account",
    test: ["tests/deploy/obstacles.test.mjs", "the login of wrangler is as good as a token"],
  },
  {
    command: "npm run deploy",
    why: "it needs an account",
    test: [DEPLOY, "from nothing to a live room, once more, and back"],
  },
  {
    command: "npm run serve",
    why: "it serves until it is ended",
    test: [
      "tests/own/again.test.mjs",
      "by each signal it ends well, and started again it goes on",
    ],
  },
  {
    command: "npm run rehearse",
    why: "it builds the simulator, and simulates for a while",
    test: [
      "tests/rehearsal/rehearse.test.mjs",
      "the example is rehearsed: an answer in words, a report, figures",
    ],
  },
  {
    command: "npm run verify",
    why: "it needs the log of a sale",
    test: ["tests/workerd/transparency-log.test.mjs", "npm run verify says what is wrong"],
  },
  {
    command: "npm run rotate-keys",
    why: "it needs an account, and waits for ten minutes",
    test: [
      "tests/deploy/rotate-keys.test.mjs",
      "two steps, an interruption, and the old key dropped",
    ],
  },
  {
    command: "npm run doctor",
    why: "it asks a deployed Worker",
    test: ["tests/deploy/doctor.test.mjs", "the doctor of a deployment"],
  },
  {
    command: "npm run rooms:export",
    why: "it asks a deployed Worker",
    test: ["tests/workerd/rooms-file.test.mjs", "rooms go into a file and come back from it"],
  },
  {
    command: "npm run back-door",
    why: "it asks an origin of the reader",
    test: [BACK_DOOR, "row 1: the command finds an open back door, and a shut one"],
  },
  {
    command: "npm run bench -- --bill",
    why: "it measures for more than a minute",
    test: ["tests/scripts/bill.test.mjs", "a month is 30 days of what was measured"],
  },
  {
    command: "cargo run --profile simulator -p room-sim -- compare",
    why: "it simulates for minutes",
    test: ["room-sim/tests/world.rs", "the_same_seed_is_the_same_story"],
  },
  {
    command: "cargo run --profile simulator -p room-sim -- swarm",
    why: "it simulates for a quarter of an hour",
    test: ["room-sim/tests/swarm.rs", "no_story_breaks_a_law"],
  },
  {
    command: "npm pack ./client",
    why: "it leaves a file where it runs",
    test: [
      "tests/clients/package.test.mjs",
      "it runs and has types in an empty project, and the hook beside React",
    ],
  },
  {
    command: "MODEL_ROOM=renewals",
    why: "it searches for minutes",
    test: ["room-core/tests/model/main.rs", "no_order_of_events_breaks_a_law"],
  },
];

/** A line of an example of invitations, which a test runs whole. */
function lineOf(command, title) {
  const test = ["tests/scripts/invitations.test.mjs", title];
  return { command, why: "it is a line of an example, which runs as a whole", test };
}

/** The beginning of a line that writes the claims of a code with this id. */
function claimsOf(id) {
  const whose = '\\"room\\":\\"$ROOM\\",\\"group\\":\\"members\\"';
  return `claims="{${whose},\\"jti\\":\\"${id}\\",\\"exp\\":$((`;
}

const STEPS = "scripts/suite/steps.mjs";
const NIGHTLY = "scripts/nightly.mjs";

/**
 * Where the other commands run that documents name in their sentences: a file, and what of it.
 * Those without a file run by hand alone.
 */
export const NAMED = {
  "npm test": [".ci/run", "npm test"],
  "npm run bench": [STEPS, "bench/main.mjs --gate"],
  "node bench/log.mjs": ["tests/workerd/transparency-log.test.mjs", '"bench", "log.mjs"'],
  "npm run build": [STEPS, "scripts/build.mjs"],
  "npm run soak": [NIGHTLY, "scripts/soak.mjs"],
  "npm run mutants": [NIGHTLY, "scripts/mutants.mjs --shard"],
  "npm run visitors": ["tests/clients/documents.test.mjs", "visitors come, enter and leave"],
  "npm run release": ["tests/deploy/release.test.mjs", "it deploys where there is no Rust"],
  "npm run rooms:import": [
    "tests/workerd/rooms-file.test.mjs",
    "rooms go into a file and come back from it",
  ],
  "node scripts/attacks.mjs": [
    "tests/tidy/attacks.test.mjs",
    "docs/security.md has the table of rows and tests",
  ],
  "node scripts/fuzz.mjs": ["scripts/nightly.mjs", "scripts/fuzz.mjs"],
  "node scripts/sdk-tests.mjs": [NIGHTLY, "scripts/sdk-tests.mjs"],
  "node scripts/attack-mutants.mjs": [
    "tests/tidy/attacks.test.mjs",
    "every switch finds what it switches off, and each row has one",
  ],
  "node examples/origin-lock/check.mjs": [BACK_DOOR, "examples/origin-lock/check.mjs"],
  "cargo doc": [STEPS, "cargo doc"],
  "cargo test": [STEPS, "cargo test --workspace"],
  "cargo run -p xtask -- mutants": [
    "xtask/src/mutants.rs",
    "every_mutant_still_finds_what_it_breaks",
  ],
  // It changes the account of the reader.
  "npx wrangler secret delete": undefined,
  // These write pictures and figures of the documents, and the version before for its tests.
  "node scripts/page-states.mjs": undefined,
  "npm run screenshots": undefined,
  "npm run object-cpu": undefined,
  "npm run profile": undefined,
  "node scripts/figures.mjs": undefined,
  // It takes a night.
  "npm run nightly": undefined,
  "npm run keep-previous": undefined,
};

/** Whether a command is for a product that runs on this machine: `curl`, or a variable for it. */
export function isForProduct(text) {
  return /^curl |^[A-Z]+=\S+$/.test(text);
}

/** Whether a command verifies a draw, which needs nothing but a shell. */
export function isVerification(text) {
  return text.startsWith("printf %s ");
}

/**
 * Runs all commands for a started product as one shell would, in the order of the documents, and
 * checks that each call of the API succeeds. Returns the answers.
 */
export async function runAgainstProduct(address) {
  const texts = shellCommands().map(({ text }) => text).filter(isForProduct);
  const known = `PUBLIC=${ownKeys().x}`;
  const script = [CURL, known, ...texts].join("\n").replaceAll(STARTED_AT, address);
  const shell = promisify(execFile)("bash", ["-eu", "-c", script], { timeout: COMMAND_LIMIT_MS });
  const { stdout } = await shell.catch(({ stdout: told, stderr }) =>
    assert.fail(`a command of the documents failed:\n${told}${stderr}`),
  );
  const answers = stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(answers.length, texts.filter((text) => text.startsWith("curl ")).length);
  for (const answer of answers) assert.equal(answer.success, true, JSON.stringify(answer));
  return answers;
}

/** What this machine lacks to verify a draw; `undefined` if it can. */
export function verificationMissing() {
  const isMissing = (name) => spawnSync("sh", ["-c", `command -v ${name}`]).status !== 0;
  const missing = ["xxd", "openssl", "sha256sum"].filter(isMissing);
  return missing.length > 0 ? `${missing.join(", ")} missing` : undefined;
}

/** Verifies a made-up draw with the commands of the documents. */
export function verifyDraw() {
  const block = shellBlocks().find(({ lines }) => lines.some(isVerification));
  const [key, lot] = [randomBytes(32), randomBytes(16)];
  const env = { ...process.env, KEY: key.toString("hex"), LOT: lot.toString("hex") };
  const { stdout, stderr } = spawnSync("sh", ["-eu", "-c", block.lines.join("\n")], {
    encoding: "utf8",
    env,
  });
  const [commitment, drawn] = stdout.split("\n");
  const rank = createHmac("sha256", key).update(lot).digest("hex").slice(0, 16);
  assert.ok(commitment?.startsWith(createHash("sha256").update(key).digest("hex")), stderr);
  assert.ok(drawn?.split("= ")[1]?.startsWith(rank), `${drawn} does not begin with ${rank}`);
}
