// Judges the configuration that the Worker was deployed with. The file of `npm run deploy` alone
// knows what is logged, which routes there are, and how objects get new code.
import { hostsOf } from "../deploy/hosts.mjs";
import { counted, look, ok, wrong } from "./line.mjs";

export function configuration({ configuration: file, isLocal, isOwn, cluster, rooms }) {
  if (isOwn) return [ok("Configuration", "workerd.capnp of the folder"), ...instances(cluster)];
  if (file) return [...logs(file), ...cache(file), updates(file), routes(file, rooms)];
  if (isLocal) return [ok("Configuration", "wrangler.toml")];
  const remedy =
    "Run it where the folder of `npm run deploy` is (--folder) to check logs and routes, too.";
  return [ok("Configuration", "not known here", remedy)];
}

function instances(cluster) {
  if (!cluster) return [];
  const { bucket, wanted, running } = cluster;
  const figure = `${running} of ${wanted} here, ${bucket}`;
  if (running === wanted) return [ok("Instances of the cluster", figure)];
  const remedy = "One is started again and again: the log of `npm run serve` says why.";
  return [look("Instances of the cluster", figure, remedy)];
}

function logs({ observability: log = {} }) {
  const isOff = log.enabled !== true;
  const isQuiet = isOff || log.logs?.invocation_logs === false;
  const redacts = isOff || log.redact_query_string === true;
  return [
    isQuiet
      ? ok("Log of invocations", "off")
      : look(
          "Log of invocations",
          "on",
          "It keeps the address and headers of every visit, and costs more than all else in a " +
            "sale: `logs = { invocation_logs = false }` (wrangler.toml).",
        ),
    redacts
      ? ok("Query strings in logs", "redacted")
      : look(
          "Query strings in logs",
          "kept",
          "`redact_query_string = true` in [observability] of wrangler.toml.",
        ),
  ];
}

function cache({ cache: workersCache }) {
  if (!workersCache?.enabled) return [];
  const remedy = "It may answer before the Worker runs: take `[cache]` out of wrangler.toml.";
  return [wrong("Workers Cache", "on", remedy)];
}

function updates({ durable_objects: objects }) {
  const mode = objects?.code_update_strategy?.mode ?? "gradual";
  if (mode === "immediate") return ok("Update of objects", mode);
  const remedy = "Objects go on with old code and limits for up to five minutes after a deploy.";
  return look("Update of objects", mode, remedy);
}

function routes({ routes: all = [] }, rooms) {
  const patterns = all.map(({ pattern }) => pattern);
  const wanted = hostsOf(rooms).map((host) => `${host}/*`);
  const without = wanted.filter((pattern) => !patterns.includes(pattern));
  const figure = counted(patterns.length, "pattern");
  if (without.length === 0) return ok("Routes of the last deploy", figure);
  const remedy =
    `Not among them: ${without.join(", ")}. Add the host to production/rooms.json, and ` +
    "`npm run deploy`.";
  return look("Routes of the last deploy", figure, remedy);
}
