/**
 * The dashboard and the alert rules in docs/: they parse, and ask for nothing that is not told.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { test } from "node:test";

import { metrics } from "../../src/metrics.js";

const DASHBOARD = "docs/grafana-dashboard.json";
const ALERTS = "docs/prometheus-alerts.yml";
const ROOM = {
  id: "r",
  zone_id: "z",
  name: "shop",
  host: 'a"b\\c',
  maintenance: "off",
  suspended: false,
  queue_all: false,
  total_active_users: 9,
  new_users_per_minute: 5,
};
const STATUS = {
  status: "queueing",
  event_id: "",
  estimated_queued_users: 2,
  estimated_total_active_users: 9,
  max_estimated_time_minutes: 3,
};

const answer = () => ({ status: 200, body: JSON.stringify({ result: STATUS }) });

/**
 * The text of the metrics of so many rooms with these fields, and the paths that were asked for it.
 */
async function told(count, answers = answer, fields = {}) {
  const rooms = Array.from({ length: count }, (_, at) => ({ ...ROOM, ...fields, id: `r${at}` }));
  const list = { result: rooms, result_info: { total_count: count } };
  const asked = [];
  const ask = async (url) => {
    const { pathname } = new URL(url);
    asked.push(pathname);
    return pathname.endsWith("/status")
      ? answers(pathname)
      : { status: 200, body: JSON.stringify(list) };
  };
  const { body } = await metrics("https://admin.example/_waiting-room/metrics", ask);
  return { body, asked };
}

test("dashboard and alerts ask for what is told", async () => {
  const { body } = await told(1);
  const names = new Set([...body.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
  const { panels } = JSON.parse(fs.readFileSync(DASHBOARD, "utf8"));
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const text of [JSON.stringify(panels), fs.readFileSync(ALERTS, "utf8")]) {
    const used = [...text.matchAll(/waiting_room_\w+/g)].map(([name]) => name);
    assert.ok(used.length > 4);
    for (const name of used) assert.ok(names.has(name), `${name} is not told`);
  }
});

test("the dashboard offers suspended and silent rooms too", async () => {
  const { templating } = JSON.parse(fs.readFileSync(DASHBOARD, "utf8"));
  const { query } = templating.list.find(({ name }) => name === "room").query;
  const [, metric] = query.match(/^label_values\((\w+), room\)$/);
  const line = new RegExp(`^${metric}\\{room="shop"`, "m");
  assert.match((await told(1, answer, { suspended: true })).body, line);
  assert.match((await told(1, () => Promise.reject(new Error("silent")))).body, line);
});

test("an alert of its own warns of a line from which nobody enters", async () => {
  const held = { ...STATUS, held_by: "queue_all", total_active_users: 4, new_users_per_minute: 3 };
  const { body } = await told(1, () => ({ status: 200, body: JSON.stringify({ result: held }) }));
  assert.match(body, /^waiting_room_entry_paused\{.*\} 1$/m);
  assert.doesNotMatch(body, /^waiting_room_told_wait_seconds\{/m);
  assert.match(body, /^waiting_room_limit_active_users\{.*\} 4$/m);
  const alerts = fs.readFileSync(ALERTS, "utf8").split("- alert: ");
  const ofLine = alerts.find((text) => text.includes("waiting_room_entry_paused == 1"));
  assert.match(ofLine, /waiting_room_queued_users > 0/);
  // Limits are those in force, so an event of its own is no exception.
  const ofLimit = alerts.find((text) => text.startsWith("WaitingRoomOverLimit"));
  assert.doesNotMatch(ofLimit, /event_active/);
  // A room over its limit whose line is empty does not say that it is queueing.
  assert.doesNotMatch(ofLimit, /queueing/);
});

test("the end of a pause is told also where an event holds everybody", async () => {
  const held = { ...STATUS, held_by: "event", held_until: "2030-12-01T20:00:00Z" };
  const { body } = await told(1, () => ({ status: 200, body: JSON.stringify({ result: held }) }));
  const end_s = Date.parse(held.held_until) / 1_000;
  const name = "waiting_room_entry_resumes_timestamp_seconds";
  assert.match(body, new RegExp(`^${name}\\{.*\\} ${end_s}$`, "m"));
  for (const of of [name, "waiting_room_entry_paused"]) {
    assert.match(body, new RegExp(`^# HELP ${of} .*\\ban event that holds everybody`, "m"));
  }
});

test("the last hour is told where it is asked for, at one more call of each room", async () => {
  const columns = ["entered", "told_errors_measured", "told_error_percent_p50"];
  const rows = [
    [5, 3, 10],
    [7, 1, 30],
    [1, 0, null],
  ];
  const asked = [];
  const ask = async (url) => {
    const { pathname } = new URL(url);
    asked.push(pathname.split("/").at(-1));
    if (pathname.endsWith("/status")) return answer();
    const list = { result: [ROOM], result_info: { total_count: 1 } };
    const told = pathname.endsWith("/history") ? { result: { columns, rows } } : list;
    return { status: 200, body: JSON.stringify(told) };
  };
  const { body } = await metrics("https://admin.example/_waiting-room/metrics?last_hour", ask);
  const value = (name) => {
    const line = body.split("\n").find((one) => one.startsWith(`waiting_room_last_hour_${name}{`));
    return line.split(" ").at(-1);
  };
  assert.deepEqual([value("entered"), value("told_error_percent")], ["13", "15"]);
  assert.deepEqual(asked, ["waiting_rooms", "status", "history"]);
});

test("names are escaped, and silent rooms have no old numbers", async () => {
  const { body } = await told(1);
  assert.ok(body.includes('host="a\\"b\\\\c"'), body);
  const silent = (await told(2, () => Promise.reject(new Error("silent")))).body;
  assert.match(silent, /^waiting_room_up\{.*room_id="r1".*\} 0$/m);
  assert.doesNotMatch(silent, /^waiting_room_active_users\{/m);
});

test("beyond 500 rooms nobody is asked", async () => {
  const { body, asked } = await told(520);
  assert.equal(asked.length, 501);
  assert.match(body, /^waiting_room_rooms 520$/m);
  assert.match(body, /^waiting_room_rooms_told 500$/m);
});

// Few machines have it, CI's has not: there it is no test, instead of one that is skipped.
const promtool = spawnSync("promtool", ["--version"]);
const testWithPromtool = promtool.error ? () => {} : test;
testWithPromtool("promtool takes the alerts and the text", async () => {
  const rules = spawnSync("promtool", ["check", "rules", ALERTS], { encoding: "utf8" });
  assert.equal(rules.status, 0, rules.stderr);
  const { body: input } = await told(2);
  const text = spawnSync("promtool", ["check", "metrics"], { input, encoding: "utf8" });
  assert.equal(text.status, 0, text.stderr + text.stdout);
});
