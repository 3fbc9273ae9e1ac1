// A reporter of Node's test runner: one line of JSON for each test, for the suite to count.

/** Writes `{ name, outcome, message }` for each test that ended. */
export default async function* results(events) {
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    // A file that has tests is no test itself.
    if (data.details?.type === "suite") continue;
    const skipped = data.skip !== undefined || data.todo !== undefined;
    const outcome = type === "test:fail" ? "failed" : skipped ? "skipped" : "passed";
    yield `${JSON.stringify({ name: data.name, outcome })}\n`;
  }
}
