/**
 * A rehearsal against a running Worker: its visitors wait about as long as it was simulated, its
 * room is removed again, and no site of somebody else is taken.
 */

import assert from "node:assert/strict";

import { buildRehearsal } from "../../scripts/rehearsal.mjs";
import { besideText } from "../../scripts/rehearse/answer.mjs";
import { apiOf } from "../../scripts/rehearse/api.mjs";
import { playLive } from "../../scripts/rehearse/live.mjs";
import { isBuilt, play } from "../../scripts/rehearse/player.mjs";
import { apiAddress } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { room } from "../harness/rooms.mjs";

/**
 * How far what was measured may be from what was simulated, as parts of it. Measured:
 * 1 to 8 % of the median, 1 to 5 % of the wait of 95 of 100 (two runs), 1 to 7 % of the calls.
 */
const APART = { median: 0.15, p95: 0.2, calls: 0.15 };
/** Half of the time between an isolate's reports: in longer steps several become one. */
const STEP_MS = 125;
/** A host that Node finds on each machine. */
const shop = room({ name: "shop", host: "localhost" });
const options = { rooms: [shop], build: "debug", stopped: false };
/** Rooms of 20 to 400: places, admissions a minute, session, visitors, minutes on the site. */
const ROOMS = [
  [20, 20, 1, 120, 0.5],
  [40, 20, 1, 160, 1],
  [60, 60, 1, 300, 0.5],
  [150, 100, 2, 500, 1],
  [400, 200, 1, 1_200, 1],
];

function planOf([total_active_users, new_users_per_minute, session_duration, visitors, minutes]) {
  return {
    room: { total_active_users, new_users_per_minute, session_duration },
    visitors,
    arrivals: { per_minute: [3, 2, 1] },
    on_site: { minutes, page_every_seconds: 20 },
    giving_up: { at_once_percent: 0, after_minutes: null },
    data_centers: 1,
    isolates: 1,
  };
}

/** Time that passes by the clock of the cluster, which is moved while somebody sleeps. */
function timeOf(cluster) {
  const sleepers = [];
  const now = () => cluster.clock.now();
  const sleep = (ms) => new Promise((wake) => sleepers.push({ at: now() + ms, wake }));
  const pass = async (isOver) => {
    while (!isOver()) {
      await cluster.advance(STEP_MS);
      const due = sleepers.filter(({ at }) => at <= now());
      for (const one of due) sleepers.splice(sleepers.indexOf(one), 1)[0].wake();
      await new Promise((next) => setTimeout(next, due.length > 0 ? 5 : 0));
    }
  };
  return { now, sleep, pass };
}

for (const figures of ROOMS) {
  const [places] = figures;
  clusterTest(`${places} places: visitors wait as simulated`, options, async (cluster) => {
    await compared(cluster, planOf(figures));
  });
}

async function compared(cluster, plan) {
  process.env.API_TOKEN = SECRETS.API_TOKEN;
  if (!isBuilt()) await buildRehearsal();
  const [outcome] = await play([plan]);
  const { now, sleep, pass } = timeOf(cluster);
  const site = cluster.address(cluster.isolates[0].name, { host: shop.host, path: "/" });
  const api = apiOf(apiAddress(cluster));
  const ending = new AbortController();
  const live = {
    plan,
    perMinute: outcome.minutes.map(({ arrived }) => arrived),
    opensAtS: 0,
    site,
    api,
    signal: ending.signal,
    now,
    sleep,
    onProgress: () => {},
  };
  let isOver = false;
  const playing = playLive(live).finally(() => {
    isOver = true;
  });
  await pass(() => isOver);
  const measured = await playing;
  const calls = await cluster.allCalls();
  console.log(besideText(outcome, measured));
  assert.equal(measured.errors, 0);
  assert.equal(measured.visitors.entered, outcome.visitors.arrived);
  assert.ok(measured.most_inside <= plan.room.total_active_users);
  for (const figure of ["median", "p95"]) {
    const [one, other] = [outcome, measured].map(({ queued_wait_s }) => queued_wait_s[figure]);
    assert.ok(Math.abs(one - other) <= APART[figure] * one, `${figure}: ${one} and ${other}`);
  }
  const apart = Math.abs(calls - outcome.cost.calls) / calls;
  console.log(`calls of objects: ${outcome.cost.calls} simulated, ${calls} counted`);
  assert.ok(apart <= APART.calls, `${apart}`);
  const rooms = await api("GET", "waiting_rooms/file");
  assert.deepEqual(
    rooms.map(({ name }) => name),
    ["shop"],
  );
  await assert.rejects(
    playLive({ ...live, site: "http://somebody-else.example/" }),
    /no room of this Worker covers somebody-else\.example/,
  );
}
