// Judges what isolates have measured: whether they serve, which code they run, how long a start
// takes, their clocks, and the Cache API.
import { counted, duration, look, median, ok, wrong } from "./line.mjs";

/** A start that takes longer is felt: the platform allows an isolate a second to begin. */
const START_LOOK_MS = 1_000;
/** Rooms keep their limits with clocks that differ by so much (docs/simulation.md). */
export const CLOCK_WRONG_MS = 5_000;
export const CLOCK_LOOK_MS = 1_000;
/** Younger isolates began for this very request, as far as a clock shows that stands still. */
const COLD_AGE_MS = 50;

export function health({ health: { status, refusal, reason, notes = [] } }) {
  const lines = [];
  const refused = refusal || (status === "last_good" && reason);
  if (refused) {
    const figure = "are served by the last good deployment; this one is refused";
    lines.push(wrong("Visitors", figure, `${refused}. Mend it, and \`npm run deploy\`.`));
  } else if (reason) {
    const remedy = `${reason}. Mend it, and \`npm run deploy\`.`;
    lines.push(wrong("Visitors", "nobody is served", remedy));
  } else lines.push(ok("Visitors", "are served"));
  for (const note of notes) lines.push(look("Variables", "one is wrong", note));
  return lines;
}

export function versions({ samples, isLocal }) {
  const ids = [...new Set(samples.map(({ isolate }) => isolate.version))];
  const names = ids.map(shortVersion).join(", ");
  if (ids.length > 1) {
    return [
      look(
        "Version of isolates",
        names,
        "Two versions answer: a deploy or a change of secrets is under way. Ask again in five " +
          "minutes.",
      ),
    ];
  }
  if (ids[0] === null && !isLocal) {
    const remedy = "Deploy with the wrangler.toml of this version: it tells ([version_metadata]).";
    return [look("Version of isolates", "not told", remedy)];
  }
  return [ok("Version of isolates", names)];
}

/** Versions are long; their beginning tells them apart. */
export function shortVersion(version) {
  return version === null ? "not told" : version.slice(0, 8);
}

export function isolates({ samples }) {
  const places = new Map();
  for (const { isolate } of samples) {
    const place = isolate.data_center ?? "this machine";
    places.set(place, (places.get(place) ?? new Set()).add(isolate.id));
  }
  const told = [...places].map(([place, ids]) => `${ids.size} in ${place}`).join(", ");
  const figure = `${told}, by ${counted(samples.length, "request")}`;
  return [ok("Isolates met", figure, "Others are not met from here: ask from elsewhere, too.")];
}

/** Where Smart Placement moves the Worker, the data center is not the visitor's any more. */
export function placement({ samples }) {
  const moved = samples.filter(({ placement: header }) => header.startsWith("remote"));
  if (moved.length === 0) return [];
  const figure = `on: ${counted(moved.length, "answer")} came from afar`;
  const remedy =
    "Each data center counts its own visitors: switch Smart Placement off (Settings, Placement; " +
    "no `[placement]` in wrangler.toml).";
  return [wrong("Smart Placement", figure, remedy)];
}

/** What a start takes is only seen from outside: within an isolate the clock stands still. */
export function starts({ samples }) {
  const tripOf = ({ sentAt, receivedAt }) => receivedAt - sentAt;
  const isFirst = ({ served, examined }) => served === 0 && examined === 1;
  const isCold = ({ isolate }) => isolate.age_ms < COLD_AGE_MS && isFirst(isolate);
  const cold = samples.filter(isCold).map(tripOf);
  const warm = samples.filter((sample) => !isCold(sample)).map(tripOf);
  const where = "`wrangler deploy` prints what Cloudflare measures of each upload.";
  if (cold.length === 0 || warm.length === 0) {
    const figure = warm.length > 0 ? `none; a warm answer ${duration(median(warm))}` : "all cold";
    return [ok("Start of an isolate", figure, where)];
  }
  const more = Math.max(median(cold) - median(warm), 0);
  const figure = `${duration(more)} more than a warm answer (${duration(median(warm))})`;
  if (more <= START_LOOK_MS) return [ok("Start of an isolate", figure, where)];
  const remedy = `Fewer rooms and smaller pages of your own start faster. ${where}`;
  return [look("Start of an isolate", figure, remedy)];
}

export function clocks({ samples }) {
  const offsets = samples.map(({ sentAt, receivedAt, arrived_at: there, answered_at: left }) => {
    const uncertain = (receivedAt - sentAt) / 2;
    const off = (there + left) / 2 - (sentAt + receivedAt) / 2;
    return { off: Math.max(Math.abs(off) - uncertain, 0), signed: off };
  });
  const worst = offsets.reduce((one, other) => (one.off > other.off ? one : other));
  const stands = samples.every(({ isolate }) => isolate.clock_stands);
  const moves = stands ? "stands still between waits" : "runs while code runs";
  const direction = worst.signed > 0 ? "ahead of" : "behind";
  const distance = worst.off < CLOCK_LOOK_MS ? "as" : `${duration(worst.off)} ${direction}`;
  const figure = `${moves}; ${distance} this machine's`;
  if (worst.off < CLOCK_LOOK_MS) return [ok("Clock of isolates", figure)];
  const remedy =
    "Cloudflare's clocks are rarely wrong: set this machine's, and ask again. Rooms keep their " +
    "limits with clocks up to 5 s apart.";
  return [look("Clock of isolates", figure, remedy)];
}

const WITHOUT_CACHE =
  "Without it each isolate asks the registry itself, once in 4 s, and starts are slower; limits " +
  "and places hold. Is the Worker behind Cloudflare Access? There is no Cache API there.";

/** One line for each host in whose name copies are kept. */
export function caches({ samples, examined }) {
  const all = [...samples, ...examined].flatMap(({ caches: told, isolate }) =>
    told.map((cache) => ({ ...cache, isolate: isolate.id })),
  );
  return [...new Set(all.map(({ host }) => host))].map((host) => {
    const own = all.filter((cache) => cache.host === host);
    return cacheOf(`Cache API, ${host}`, own);
  });
}

function cacheOf(what, trials) {
  const silent = trials.filter(({ read }) => read === "silent").length;
  const lost = trials.filter(({ read }) => read === "missing").length;
  const asked = `of ${counted(trials.length, "trial")}`;
  if (silent > 0) {
    const remedy = `It hung or failed; nobody waits for it meanwhile. ${WITHOUT_CACHE}`;
    return look(what, `${silent} ${asked} unanswered`, remedy);
  }
  if (lost === trials.length) return look(what, `not there: 0 ${asked} found`, WITHOUT_CACHE);
  if (lost > 0) return look(what, `${lost} ${asked} lost`, `It forgets at once. ${WITHOUT_CACHE}`);
  const shared = trials.filter(({ earlier, isolate }) => earlier && earlier !== isolate).length;
  const ms = duration(median(trials.map((trial) => trial.ms)));
  const between = shared > 0 ? `, ${shared} from another isolate` : "";
  return ok(what, `there, ${ms} to write and read${between}`);
}
