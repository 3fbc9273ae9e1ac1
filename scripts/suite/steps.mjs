// The steps of the suite: what each runs, in which lane and tier, and what it needs before.

/** The lane of what compiles Rust for other steps, and of the short checks. */
const RUST = "rust";
/** The lane of what compiles into folders of its own, beside the first one. */
const APART = "apart";
/** The lane of the tests for Node that use a processor: as many files at once as there are. */
const NODE = "node";
/**
 * The lane of the tests in browsers, and of the bare machine. They mostly wait for real time, and
 * while they do not, Chromium takes the processors before everybody else.
 */
const BROWSER = "browser";
/** The lane of what times the machine: it begins when the others are over. */
export const ALONE = "alone";

/** `npm test` runs these. */
const CHANGE = "change";
/** `npm test -- --gates` runs these besides. */
const GATES = "gates";
/** Only `npm run nightly` runs these. */
const NIGHTLY = "nightly";

/**
 * All steps in their order. The `commands` of a step run one after the other, even if one fails; a
 * step with a `folder` runs the files of tests for Node in it, with its `environment`. A step
 * begins when the one that it `needs` is over. Steps of one lane begin in their order, those of
 * other lanes at the same time.
 */
export const STEPS = [
  { name: "format", tier: CHANGE, lane: RUST, commands: [words("cargo fmt --all --check")] },
  // First of what compiles: most tests wait for it.
  { name: "build", tier: CHANGE, lane: RUST, commands: [words("node scripts/build.mjs --debug")] },
  // Removes the build and makes it anew: before all that reads it, and while nothing compiles.
  { name: "wrangler", tier: CHANGE, lane: RUST, folder: "tests/wrangler", needs: "build" },
  {
    name: "lints",
    tier: CHANGE,
    lane: RUST,
    commands: [
      words("node node_modules/oxlint/bin/oxlint"),
      // No other step reads the fuzzer's own list of libraries.
      words("cargo tree --manifest-path fuzz/Cargo.toml --locked --depth 0"),
      words("cargo clippy --workspace --all-targets --all-features --locked -- -D warnings"),
    ],
  },
  {
    name: "documentation",
    tier: CHANGE,
    lane: RUST,
    commands: [words("cargo doc --workspace --no-deps --document-private-items --locked")],
    environment: { RUSTDOCFLAGS: "-D warnings" },
  },
  {
    name: "native",
    tier: CHANGE,
    lane: RUST,
    commands: [
      words("cargo test --workspace --exclude xtask --locked --no-fail-fast"),
      // In the folder where it is compiled already, to build the Worker.
      words("cargo test --package xtask --target-dir target/builder --locked --no-fail-fast"),
    ],
  },
  { name: "tidy", tier: CHANGE, lane: NODE, folder: "tests/tidy" },
  { name: "scripts", tier: CHANGE, lane: NODE, folder: "tests/scripts" },
  { name: "golden", tier: CHANGE, lane: NODE, folder: "tests/golden" },
  { name: "languages", tier: CHANGE, lane: NODE, folder: "tests/languages", needs: "wrangler" },
  { name: "workerd", tier: CHANGE, lane: NODE, folder: "tests/workerd", needs: "wrangler" },
  { name: "deploy", tier: CHANGE, lane: NODE, folder: "tests/deploy", needs: "wrangler" },
  { name: "own", tier: CHANGE, lane: NODE, folder: "tests/own", needs: "wrangler" },
  { name: "attacks", tier: CHANGE, lane: NODE, folder: "tests/attacks", needs: "wrangler" },
  { name: "faults", tier: CHANGE, lane: NODE, folder: "tests/attacks/faults", needs: "wrangler" },
  { name: "library", tier: CHANGE, lane: NODE, folder: "client/test", needs: "wrangler" },
  { name: "clients", tier: CHANGE, lane: NODE, folder: "tests/clients", needs: "wrangler" },
  { name: "browser", tier: CHANGE, lane: BROWSER, folder: "tests/browser", needs: "wrangler" },
  // The same stories with the platform's Cache API, and on the platform of an owner's machine.
  {
    name: "platform-cache",
    tier: NIGHTLY,
    lane: NODE,
    folder: "tests/workerd",
    environment: { TEST_CACHE: "platform" },
    needs: "wrangler",
  },
  {
    name: "own-platform",
    tier: NIGHTLY,
    lane: NODE,
    folder: "tests/workerd",
    environment: { TEST_PLATFORM: "own" },
    needs: "wrangler",
  },
  // Minutes of many isolates and visitors: their laws are held by the core's own tests as well.
  { name: "stories", tier: NIGHTLY, lane: NODE, folder: "tests/stories", needs: "wrangler" },
  // Thousands of visitors, beside what the simulator says of them.
  { name: "simulated", tier: NIGHTLY, lane: NODE, folder: "tests/simulated", needs: "wrangler" },
  // A cluster in real time: eight stories of four minutes, at once.
  { name: "cluster", tier: NIGHTLY, lane: ALONE, folder: "tests/stories/own", needs: "wrangler" },
  // Builds all from nothing, as CI does in its fresh clone.
  { name: "bare", tier: NIGHTLY, lane: BROWSER, folder: "tests/bare", needs: "wrangler" },
  // Installs the tools of a release folder from nothing: mostly the network's time.
  { name: "released", tier: GATES, lane: BROWSER, folder: "tests/released", needs: "wrangler" },
  // Begins with the tests, so that nothing is left to compile when these are over.
  { name: "rehearsal", tier: GATES, lane: APART, folder: "tests/rehearsal", needs: "wrangler" },
  { name: "bench", tier: GATES, lane: ALONE, commands: [words("node bench/main.mjs --gate")] },
];

/** The steps that a run of everything takes. */
export function stepsOf({ gates }) {
  return STEPS.filter(({ tier }) => tier === CHANGE || (gates && tier === GATES));
}

/** A step with what it needs before, in their order; `undefined` if there is none of this name. */
export function stepsFor(name) {
  return STEPS.some((step) => step.name === name) ? withNeeded([name]) : undefined;
}

/** The steps of these names and all that they need, in their order. */
export function withNeeded(names) {
  const wanted = new Set(names);
  for (const step of [...STEPS].reverse()) {
    if (wanted.has(step.name) && step.needs) wanted.add(step.needs);
  }
  return STEPS.filter(({ name }) => wanted.has(name));
}

/**
 * How many files run at once in each lane whose steps begin together, with `processors`. One more
 * than these for Node: a file waits now and then for a process that starts.
 */
export function placesOf(processors) {
  return { [NODE]: processors + 1, [BROWSER]: processors };
}

function words(text) {
  return text.split(" ");
}
