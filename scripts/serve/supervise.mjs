// The process that keeps the socket of a served folder: runs workerd, tries it from outside, says
// where everything is, and ends with the command that started it.
import { Kept } from "../deploy/kept.mjs";
import { stop } from "../stop.mjs";
import { addressOf, adminHostOf, checkFromOutside, warnings } from "./check.mjs";
import { examinePair } from "./certificate.mjs";
import { noteWorkerds } from "./claim.mjs";
import { watchClock } from "./clock.mjs";
import { watchDisk } from "./disk.mjs";
import { Instances } from "./instances.mjs";

const [folder, patience, limits] = process.argv.slice(2);
const kept = new Kept(folder);
const { settings, secrets } = kept;
const instances = new Instances(kept, (pids) => noteWorkerds(kept, pids));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, end);
// A terminal that is closed ends it; a service is told so to take up a new certificate.
process.on("SIGHUP", process.stdin.isTTY ? end : follow);
// The command was killed.
process.on("disconnect", end);

await instances.start().catch((error) => stop(error.message));
watchClock(startAgain);
const problem = await checkFromOutside(settings, secrets.API_TOKEN, Number(patience));
if (problem) {
  await instances.end();
  stop(`it was started, and ended since it does not work: ${problem}`);
}
const [made] = kept.rooms();
for (const warning of await warnings(settings, secrets.API_TOKEN, made, JSON.parse(limits))) {
  console.log(`  Beware: ${warning}`);
}
farewell();
watchDisk(kept.folder);

/** Lets other workerds follow, unless they could not serve: then nothing happens. */
function follow() {
  const { problem, warning } = settings.tls ? examinePair(settings.tls) : {};
  if (problem) return console.error(`${problem}: the old one stays in use`);
  if (warning) console.error(`Beware: ${warning}`);
  instances.follow();
}

/** Lets other workerds follow where what these have in memory lies ahead of the clock. */
function startAgain(setBackMs) {
  const seconds = Math.round(setBackMs / 1_000);
  console.error(`The clock was set back by ${seconds} s: workerd is started again to go by it.`);
  instances.follow();
}

async function end() {
  await instances.end();
  process.exit(0);
}

function farewell() {
  const { host, origin, trustedProxies } = settings;
  const { protocol, origin: address, port } = new URL(addressOf(settings));
  const cockpit = `${protocol}//${adminHostOf(settings)}${port && `:${port}`}/_waiting-room`;
  const whose = trustedProxies ? `of ${trustedProxies}` : "of nobody (--trusted-proxies)";
  console.log(`
  The room is live at ${address}, in front of ${origin}.

  Visitors:     by the host ${host}; a proxy in front keeps it (docs/own-machines.md)
  The cockpit:  ${cockpit}/
                with API_TOKEN (${kept.file("secrets.json")}): watch the room, and steer it
  Health:       ${cockpit}/health
  Who they are: told by headers ${whose}

  Everything is kept in ${kept.folder}; a copy: npm run serve -- --backup <path>
  Ctrl-C ends it, and nobody loses a place.
`);
}
