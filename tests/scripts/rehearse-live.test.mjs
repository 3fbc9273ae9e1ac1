/**
 * `npm run rehearse -- --live` at a site of the test: how it ends when the site answers no more or
 * its owner wants it, and what it says of a room that it could not remove.
 */

import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import http from "node:http";
import { after, test } from "node:test";

import { besideText } from "../../scripts/rehearse/answer.mjs";
import { leftText, roomFor } from "../../scripts/rehearse/live-room.mjs";
import { ENDED_BY_OWNER, playLive } from "../../scripts/rehearse/live.mjs";
import { endingOf } from "../../scripts/rehearse/signals.mjs";
import { Silence } from "../../scripts/rehearse/silence.mjs";

const PLAN = {
  room: { total_active_users: 5, new_users_per_minute: 5 },
  on_site: { minutes: 1 },
  giving_up: { at_once_percent: 0, after_minutes: null },
};
const WAIT = JSON.stringify({ cfWaitingRoom: { inWaitingRoom: true, refreshIntervalSeconds: 5 } });
const GONE = Object.assign(new Error("There is no such waiting room."), { status: 404 });

/** What the site does with the next visit: "wait", "enter" or "silent". */
let next;
const server = http.createServer((request, response) => {
  if (request.url === "/_waiting-room/health") return response.end("{}");
  const does = next();
  if (does === "silent") return request.socket.destroy();
  return response.end(does === "wait" ? WAIT : "{}");
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const site = `http://127.0.0.1:${server.address().port}/`;
after(() => {
  server.close();
  server.closeAllConnections();
});

/** An API with one room, which fails to remove another as `failures` say, one after the other. */
function apiWith(failures = []) {
  const [asked, made] = [[], {}];
  const api = async (method, what, body) => {
    asked.push(method);
    if (method === "GET") return [{ host: "127.0.0.1", zone_id: "z" }];
    if (method === "POST") return Object.assign(made, body, { id: "r" });
    const failure = failures.shift();
    if (failure) throw failure;
  };
  const addressOf = (what) => `https://admin.example/${what}`;
  return Object.assign(api, { addressOf, asked, made });
}

/** Plays one visitor, whose time passes while it sleeps. */
async function played(api, does, { opensAtS = 0, ending = new AbortController() } = {}) {
  let nowMs = 0;
  let visits = 0;
  next = () => {
    visits += 1;
    return does(visits, ending);
  };
  const measured = await playLive({
    plan: PLAN,
    perMinute: [1],
    opensAtS,
    site,
    api,
    signal: ending.signal,
    onProgress: () => {},
    now: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
  });
  return { measured, tookMs: nowMs };
}

test("the room of a plan asks no visitor for a click", async () => {
  const api = apiWith();
  const room = { ...PLAN.room, confirm_turn_minutes: 3 };
  await roomFor({ api, site, plan: { room }, opensAtS: 0 });
  assert.equal(api.made.total_active_users, 5);
  assert.ok(!("confirm_turn_minutes" in api.made));
});

test("a site that dies ends it after a minute, with figures and the name of the room", async () => {
  const api = apiWith([1, 2, 3].map((number) => new Error(`no answer ${number}`)));
  const { measured, tookMs } = await played(api, (visits) => (visits < 3 ? "wait" : "silent"));
  const { visitors, ended_early: why, left_room: left } = measured;
  assert.equal(why, "nothing has answered for a minute");
  assert.ok(tookMs < 4 * 60_000, `${tookMs}`);
  const { arrived, queued, entered, gave_up: gaveUp, waiting } = visitors;
  assert.deepEqual([arrived, queued, entered, gaveUp, waiting], [1, 1, 0, 0, 1]);
  assert.equal(api.asked.filter((method) => method === "DELETE").length, 3);
  const text = leftText(left);
  assert.match(text, /^the room rehearsal_\w+ could not be removed, .*\/waiting-.*: no answer 3/);
  assert.match(text, / https:\/\/admin\.example\/zones\/z\/waiting_rooms\/r$/);
  const beside = besideText({ ...measured, visitors: { ...visitors, queued: 0 } }, measured);
  assert.match(beside, /^still waiting +1 +1$/m);
  assert.match(beside, /^half waited over +0 s +none enters$/m);
});

test("a shorter silence is waited for, and a visitor who comes later is served", async () => {
  const { measured } = await played(apiWith(), (visits) => {
    if (visits === 1) return "wait";
    return visits < 12 ? "silent" : "enter";
  });
  const { ended_early: why, left_room: left, visitors, errors } = measured;
  assert.deepEqual([why, left, visitors.entered, errors], [undefined, undefined, 1, 10]);
});

test("whoever waits when its owner ends it has not given up", async () => {
  const api = apiWith();
  const { measured } = await played(api, (visits, ending) => {
    if (visits === 3) ending.abort();
    return "wait";
  });
  assert.equal(measured.ended_early, ENDED_BY_OWNER);
  const { gave_up: gaveUp, waiting } = measured.visitors;
  assert.deepEqual([gaveUp, waiting, measured.left_room], [0, 1, undefined]);
  assert.equal(api.asked.at(-1), "DELETE");
});

test("the room is removed again and again until it is gone", async () => {
  const enter = () => "enter";
  for (const failures of [[new Error("late")], [new Error("late"), GONE, GONE]]) {
    const { measured } = await played(apiWith([...failures]), enter);
    assert.deepEqual([measured.left_room, measured.visitors.entered], [undefined, 1]);
  }
});

test("doors that cannot be opened end it with the figures", async () => {
  const api = apiWith([1, 2, 3].map(() => new Error("no answer")));
  const { measured } = await played(api, () => "wait", { opensAtS: 30 });
  assert.equal(measured.ended_early, "its room could not be opened: no answer");
  assert.deepEqual([measured.visitors.gave_up, measured.left_room], [0, undefined]);
});

test("an error before the first visitor names a room that is left", async () => {
  const api = apiWith([1, 2, 3].map(() => new Error("no answer")));
  const closed = http.createServer();
  await new Promise((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const nobody = `http://127.0.0.1:${closed.address().port}/`;
  await new Promise((resolve) => closed.close(resolve));
  const options = { plan: PLAN, perMinute: [1], opensAtS: 0, site: nobody, api };
  await assert.rejects(
    playLive({ ...options, signal: AbortSignal.abort(), sleep: async () => {} }),
    /nothing answers at http:.*\n.*the room rehearsal_\w+ could not be removed/,
  );
});

test("a silence is counted from the last answer of anybody", () => {
  const silence = new Silence();
  silence.answered(10_000);
  // This one asked before others got their answers.
  assert.ok(!silence.failed(0, 60_000));
  assert.ok(!silence.failed(60_000, 69_999));
  assert.ok(silence.failed(60_000, 70_000));
  silence.answered(71_000);
  assert.ok(!silence.failed(65_000, 72_000));
});

test("Ctrl-C, an end by the system and a closed terminal end it, text to nobody does not", () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    const [stdout, stderr] = [new EventEmitter(), new EventEmitter()];
    const process = Object.assign(new EventEmitter(), { stdout, stderr });
    const ending = endingOf(process);
    assert.ok(!ending.aborted);
    assert.ok(process.emit(signal) && ending.aborted, signal);
    if (signal !== "SIGHUP") continue;
    for (const one of [stdout, stderr]) one.emit("error", new Error("EIO"));
  }
});
