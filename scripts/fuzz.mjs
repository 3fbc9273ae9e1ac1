// Fuzzes what reads the texts of visitors and owners, guided by coverage (libFuzzer, pinned Rust):
// `node scripts/fuzz.mjs [--seconds <for each target>] [target]...`. Each target begins with
// its corpus in fuzz/corpus and adds what it finds to target/fuzz/corpus. Prints executions.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { stop } from "./stop.mjs";

const TARGETS = fs.readdirSync("fuzz/src/bin").map((name) => path.parse(name).name);
const DEFAULT_SECONDS = 5;
/** The longest input in bytes: beyond, an input is only more of the same. */
const INPUT_BYTES_MAX = 4_096;
const TRIPLE = "x86_64-unknown-linux-gnu";
const BUILD = path.resolve("target", "fuzz");
/** What makes the compiler count where an execution comes along; the stable one can, too. */
const COVERAGE = [
  "--cfg fuzzing",
  "-Cpasses=sancov-module",
  ...["level=4", "inline-8bit-counters", "pc-table", "trace-compares"].map(
    (option) => `-Cllvm-args=-sanitizer-coverage-${option}`,
  ),
].join(" ");

const { seconds, chosen } = parameters(process.argv.slice(2));
const compilers = [process.env.CXX, "c++", "g++", "clang++"].filter(Boolean);
if (!compilers.some((name) => spawnSync(name, ["--version"]).status === 0)) {
  console.log(`not fuzzed: libFuzzer needs a C++ compiler (tried ${compilers.join(", ")})`);
  process.exit(0);
}
build();
let total = 0;
const failed = [];
for (const target of chosen) {
  const { executions, isFine } = run(target);
  total += executions;
  if (!isFine) failed.push(target);
  console.log(`${target.padEnd(9)} ${isFine ? "ok    " : "FAILED"} ${executions} executions`);
}
console.log(`${total} executions in all`);
process.exit(failed.length === 0 ? 0 : 1);

function parameters(all) {
  const hasSeconds = all[0] === "--seconds";
  const given = Number(hasSeconds ? all[1] : DEFAULT_SECONDS);
  const names = hasSeconds ? all.slice(2) : all;
  if (!(given > 0) || names.some((name) => !TARGETS.includes(name))) {
    stop(`usage: node scripts/fuzz.mjs [--seconds <number>] [${TARGETS.join("|")}]...`);
  }
  return { seconds: given, chosen: names.length > 0 ? names : TARGETS };
}

function build() {
  const where = ["--manifest-path", "fuzz/Cargo.toml", "--target-dir", BUILD];
  const what = ["build", "--release", "--locked", "--target", TRIPLE, ...where];
  const env = { ...process.env, RUSTFLAGS: COVERAGE };
  const { status } = spawnSync("cargo", what, { stdio: "inherit", env });
  if (status !== 0) stop("cargo could not build the fuzz targets: its message stands above");
}

/** Runs one target; what makes it fail is kept in target/fuzz/found. */
function run(target) {
  const found = path.join(BUILD, "found", `${target}-`);
  const corpus = path.join(BUILD, "corpus", target);
  for (const folder of [path.dirname(found), corpus]) fs.mkdirSync(folder, { recursive: true });
  const options = [
    `-max_total_time=${seconds}`,
    `-max_len=${INPUT_BYTES_MAX}`,
    `-artifact_prefix=${found}`,
    "-timeout=10",
    "-print_final_stats=1",
    "-verbosity=0",
  ];
  const program = path.join(BUILD, TRIPLE, "release", target);
  const folders = [corpus, path.join("fuzz", "corpus", target)];
  const done = spawnSync(program, [...options, ...folders], { encoding: "utf8" });
  const said = done.stdout + done.stderr;
  const executions = Number(/number_of_executed_units: (\d+)/.exec(said)?.[1] ?? 0);
  const isFine = done.status === 0 && executions > 0;
  if (!isFine) console.log(said.split("\n").slice(-40).join("\n"));
  return { executions, isFine };
}
