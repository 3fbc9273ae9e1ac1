/**
 * `--owner`: how long an owner of 1,000 rooms waits for what each screen of the cockpit asks for,
 * one of the rooms with a history of 30 days.
 */

import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

import { OWNER, ROOMS } from "../tests/harness/api.mjs";
import { startCluster } from "../tests/harness/cluster.mjs";
import { room } from "../tests/harness/rooms.mjs";
import { median } from "../tests/harness/statistics.mjs";
import { Visitor } from "../tests/harness/visitor.mjs";

const COUNT = 1_000;
const DAYS = 30;
/** How often each is asked for. */
const TIMES = 9;
const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
/** The spans of stored rows, in minutes (`room-core/src/machines/history.rs`). */
const SPANS = [1, 15, 60];
/** In which a minute of visits gets a row. */
const ROW_MINUTES = 8;
const API = "/_waiting-room/client/v4";

/** Fills a deployment, asks for everything, and returns a table of medians. */
export async function ownersTable() {
  const limits = { total_active_users: 500 };
  const rooms = Array.from({ length: COUNT }, (_, at) => room({ name: `room-${at}`, ...limits }));
  const [busy] = rooms;
  const cluster = await startCluster({ rooms });
  try {
    await visitedFor(cluster, busy, ROW_MINUTES);
    await cluster.whileHalted(fillHistory);
    const rows = [];
    for (const [name, request] of screens(busy, cluster.clock.now())) {
      rows.push([name, ...(await timed(cluster, request))]);
    }
    const head = ["screen", "first, ms", "median, ms", "KB"];
    const table = [head, head.map(() => "---"), ...rows];
    return table.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  } finally {
    await cluster.stop();
  }
}

/** What the cockpit and a scraper ask for. */
function screens(busy, now) {
  const day = (days) => new Date(now - days * DAY_MINUTES * MINUTE_MS).toISOString();
  const until = day(0);
  const of = `${API}/${ROOMS}/${busy.id}`;
  const history = (days, format = "") => `${of}/history?from=${day(days)}&until=${until}${format}`;
  const query = `{ viewer { zones(filter: { zoneTag: "${busy.zone_id}" }) {
    waitingRoomAnalyticsAdaptiveGroups(limit: 1000, filter: {
      waitingRoomId: "${busy.id}", datetime_geq: "${day(DAYS)}", datetime_lt: "${until}" }) {
      avg { totalActiveUsers totalQueuedUsers } max { totalActiveUsers }
      dimensions { datetimeHour } } } } }`;
  return [
    ["Rooms, the first 50", { path: `${API}/${ROOMS}?per_page=50` }],
    ["Rooms, all", { path: `${API}/${ROOMS}?per_page=${COUNT}` }],
    ["one room", { path: of }],
    ["Now", { path: `${of}/status` }],
    ["History, a day", { path: history(1) }],
    ["History, 30 days", { path: history(DAYS) }],
    ["GraphQL, 30 days by the hour", { path: `${API}/graphql`, body: JSON.stringify({ query }) }],
    ["Health: audit log", { path: `${API}/waiting_rooms/audit_log?per_page=50` }],
    ["Prometheus, all rooms", { path: "/_waiting-room/metrics" }],
  ];
}

/** Asks for the same several times; returns the first time, the median, and the answer's size. */
async function timed(cluster, { path: asked, body }) {
  const times = [];
  let bytes = 0;
  for (let count = 0; count < TIMES; count += 1) {
    const startedAt = performance.now();
    const answer = await cluster.send("ams-1", {
      ...{ host: "localhost", path: asked, body, method: body ? "POST" : "GET" },
      headers: { ...OWNER, "content-type": "application/json" },
    });
    times.push(performance.now() - startedAt);
    if (answer.status !== 200) throw new Error(`${asked}: ${answer.status} ${answer.body}`);
    bytes = answer.body.length;
  }
  return [times[0].toFixed(0), median(times).toFixed(0), (bytes / 1_024).toFixed(0)];
}

/** Visitors come to a room, several a minute, so that each minute gets a row. */
async function visitedFor(cluster, { host }, minutes) {
  for (let minute = 0; minute < minutes; minute += 1) {
    for (let at = 0; at < 5; at += 1) {
      await new Visitor(cluster, { name: `${minute}-${at}`, host }).visit();
    }
    await cluster.advance(MINUTE_MS);
  }
}

/** Copies the last stored minute to each minute of 30 days, and to each quarter and hour. */
function fillHistory(folder) {
  const files = fs.readdirSync(folder, { recursive: true });
  const stored = files.filter((name) => name.endsWith(".sqlite"));
  if (!stored.some((name) => filled(path.join(folder, name)))) throw new Error("no row is stored");
}

function filled(file) {
  const database = new DatabaseSync(file);
  try {
    const tables = "SELECT name FROM sqlite_master WHERE name = 'history'";
    if (!database.prepare(tables).get()) return false;
    const newest = "SELECT start, row FROM history WHERE span = 1 ORDER BY start DESC LIMIT 1";
    const last = database.prepare(newest).get();
    if (!last) return false;
    const write = database.prepare("INSERT OR IGNORE INTO history VALUES (?, ?, ?)");
    database.exec("BEGIN");
    for (let ago = 1; ago < DAYS * DAY_MINUTES; ago += 1) {
      const start = last.start - ago;
      // A row begins with its own start.
      const row = last.row.replace(/^\d+/, start);
      for (const span of SPANS) if (start % span === 0) write.run(span, start, row);
    }
    database.exec("COMMIT");
    return true;
  } finally {
    database.close();
  }
}
