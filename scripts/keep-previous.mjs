// Keeps the Worker that is built now as "the version before", beside which the tests run the next
// one: `npm run keep-previous`, once for each version that is published.
import { keepAsPrevious } from "../tests/harness/previous.mjs";
import { HELP, readFlags } from "./usage.mjs";

readFlags("keep-previous", [HELP], process.argv.slice(2), { page: "tests/README.md" });
console.log(`tests/previous/worker.tar.gz: ${Math.round(keepAsPrevious() / 1024)} KB`);
