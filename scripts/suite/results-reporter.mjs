// A reporter of Node's test runner: one line of JSON for each test, for the suite to count.

/** The last line: without it the process ended before its tests did. */
export const END = "end";

/** Writes `{ name, outcome }` for each test that ended, and at last that all have. */
export default async function* results(events) {
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    // What has tests is no test itself; but it can fail without them, in a hook.
    if (type === "test:pass" && data.details?.type === "suite") continue;
    const skipped = data.skip !== undefined || data.todo !== undefined;
    const outcome = type === "test:fail" ? "failed" : skipped ? "skipped" : "passed";
    yield `${JSON.stringify({ name: data.name, outcome })}\n`;
  }
  yield `${END}\n`;
}
