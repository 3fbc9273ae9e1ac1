// `npm run doctor -- https://<admin host>`: asks a running Worker what it measures of itself, and
// says of each figure whether it is well and what to do. Without an address it asks `npm start`.
// It ends with 1 if something is wrong. Needs nothing but Node. See docs/doctor.md.
import path from "node:path";

import { askHost } from "./ask-host.mjs";
import { Admin, Hindrance } from "./doctor/admin.mjs";
import { measured } from "./doctor/measure.mjs";
import { doctorOptions } from "./doctor/options.mjs";
import { table } from "./doctor/table.mjs";
import { judged } from "./doctor/verdicts.mjs";
import { checkNode } from "./node-version.mjs";
import { stop } from "./stop.mjs";

checkNode();
process.chdir(path.join(import.meta.dirname, ".."));
const options = doctorOptions(process.argv.slice(2));
// Hosts of this machine need no name server.
const liveAddress = options.liveAddress ?? (options.isLocal ? options.address.origin : undefined);
const ask = (url, how) => askHost(url, { ...how, liveAddress });
const facts = await measured({ admin: new Admin(options, ask), ask, options }).catch((error) => {
  if (error instanceof Hindrance) stop(error.message);
  throw error;
});
const lines = judged(facts);
if (options.json) console.log(JSON.stringify({ address: facts.address, lines, facts }, null, 2));
else {
  const { columns, isTTY } = process.stdout;
  console.log(`\n  The doctor asked ${facts.address}`);
  console.log(table(lines, { columns, colours: isTTY && !process.env.NO_COLOR }));
}
process.exitCode = lines.some(({ verdict }) => verdict === "wrong") ? 1 : 0;
