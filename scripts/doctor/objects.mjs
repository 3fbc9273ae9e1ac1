// Judges what objects have told: where each lives and how far that is, which code it runs, its
// clock, and what it has stored.
import { CLOCK_LOOK_MS, CLOCK_WRONG_MS, shortVersion } from "./isolates.mjs";
import { VERDICTS, counted, duration, look, ok, wrong } from "./line.mjs";

/** Another continent is 100 to 250 ms away; newcomers wait for an object as long as that takes. */
const FAR_MS = 300;
/** Visits give up on an object after 3 s. */
const TOO_FAR_MS = 2_000;
/** The platform stores no larger value. */
const VALUE_MAX = 2_000_000;
const NEW_CODE_WITHIN = "within minutes of a deploy";

/** Tells the objects of all answers, each once. */
export function objectsOf({ examined }) {
  const found = new Map();
  for (const { objects, isolate } of examined) {
    for (const object of objects) {
      const name = `${object.class} ${object.name}`;
      if (!found.has(name)) found.set(name, { ...object, asker: isolate });
    }
  }
  return [...found.values()];
}

/** One line for each object: its place, its way, its code and its clock. */
export function objects(facts) {
  return objectsOf(facts).map((object) => lineOf(object, facts));
}

function lineOf(object, facts) {
  const what = nameOf(object, facts);
  if (object.failed) return failure(what, object.failed);
  const { place, ms, first_ms: firstMs, clock_ms: clock, version, asker } = object;
  const from = asker.data_center ?? "here";
  const where = place ? `in ${place}, ` : "";
  const began = firstMs > 2 * ms + 20 ? ` (at first ${duration(firstMs)})` : "";
  const findings = [
    distance(ms),
    code(version, asker.version),
    clockOff(Math.max(Math.abs(clock) - ms / 2, 0)),
  ].filter(Boolean);
  const way = `${where}${duration(ms)} from ${from}${began}`;
  const figure = [way, ...findings.map(({ told }) => told)].join("; ");
  const verdict = findings.reduce((worst, one) => worse(worst, one.verdict), "ok");
  const remedy = findings.map((one) => one.remedy).join(" ");
  return { what, figure, verdict, remedy };
}

function nameOf({ class: className, name }, { rooms }) {
  if (className === "Registry") return "Registry";
  const [id, place] = name.split("/");
  const room = rooms.find((one) => one.id === id)?.name ?? id;
  return place ? `${className}, ${room}, ${place}` : `${className}, ${room}`;
}

function failure(what, reason) {
  if (reason === "silent") {
    const remedy =
      "It does not answer, so newcomers get what `when_silent` says. Look at Workers & Pages > " +
      "Durable Objects > Metrics and at https://www.cloudflarestatus.com; ask again.";
    return wrong(what, "silent for 3 s", remedy);
  }
  const remedy = "Look at the Worker's log (docs/operations.md), and ask again.";
  return wrong(what, `fails: ${reason}`, remedy);
}

function distance(ms) {
  const remedy =
    "It lives far from this data center, or its isolate is overloaded. An object stays where it " +
    "was called first; LOCATION_HINT says where new ones are placed (docs/deploy.md).";
  if (ms > TOO_FAR_MS) return { told: "too slow", verdict: "wrong", remedy };
  if (ms > FAR_MS) return { told: "far or slow", verdict: "look", remedy };
}

function code(version, asker) {
  if (version === asker) return undefined;
  const remedy = `Objects take up new code ${NEW_CODE_WITHIN}: ask again in five minutes.`;
  return { told: `runs version ${shortVersion(version)}`, verdict: "look", remedy };
}

function clockOff(ms) {
  const remedy =
    "Its clock is not that of the isolate: limits hold up to 5 s of difference. Ask again, and " +
    "tell Cloudflare's support if it stays so.";
  if (ms > CLOCK_WRONG_MS) return { told: `clock ${duration(ms)} off`, verdict: "wrong", remedy };
  if (ms > CLOCK_LOOK_MS) return { told: `clock ${duration(ms)} off`, verdict: "look", remedy };
}

function worse(one, other) {
  return VERDICTS.indexOf(other) > VERDICTS.indexOf(one) ? other : one;
}

/** Whether objects find copies: it makes their starts faster. */
export function cachesOfObjects(facts) {
  const told = objectsOf(facts).filter(({ cache }) => cache);
  if (told.length === 0) return [];
  const without = told.filter(({ cache }) => cache.read !== "found");
  const what = "Cache API in objects";
  if (without.length === 0) return [ok(what, `there in ${counted(told.length, "object")}`)];
  const names = without.map((object) => nameOf(object, facts)).join("; ");
  const remedy = "They learn what they forgot from reports and rows instead: starts are slower.";
  return [look(what, `not there in ${names}`, remedy)];
}

/** What the rooms' objects have heard and stored. */
export function stored(facts) {
  const rooms = objectsOf(facts).filter(({ class: name }) => name === "GlobalAggregator");
  return rooms.filter(({ failed }) => !failed).map((object) => {
    const { data_centers: places, longest_value: longest } = object;
    const what = nameOf(object, facts).replace("GlobalAggregator", "Stored");
    const heard = places.length > 0 ? `data centers ${places.join(", ")}` : "no data center yet";
    const figure = `${heard}; largest value ${(longest / 1e6).toFixed(2)} of 2 MB`;
    const remedy = "Beyond 2 MB nothing is stored and newcomers are held: split the room by path.";
    if (longest > 0.9 * VALUE_MAX) return wrong(what, figure, remedy);
    return longest > VALUE_MAX / 2 ? look(what, figure, remedy) : ok(what, figure);
  });
}
