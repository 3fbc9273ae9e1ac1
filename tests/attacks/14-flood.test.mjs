/**
 * Threat 14, a flood of visitors without cookies: 20,000 newcomers at full speed on one room cost
 * the other rooms nothing that stays, cost the objects no call each, and do not pile up in memory.
 *
 * An isolate answers one request after the other, so whoever comes while others are answered waits
 * for those; the platform starts more isolates then. What is measured here is what the flood leaves
 * behind: what the other room's visitors cost between its waves, in processor time, which is the
 * same on a busy machine.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { inParallel } from "../harness/crowd.mjs";
import { startCluster } from "../harness/cluster.mjs";
import { RARE_CHECK_INS, room } from "../harness/rooms.mjs";
import { median } from "../harness/statistics.mjs";
import { look, visitorInside } from "../harness/visitor.mjs";
import { cpuNs, residentBytes, workerdPid } from "../harness/workerd-process.mjs";

const NEWCOMERS = 20_000;
const WAVE = 100;
const WAVES = NEWCOMERS / WAVE;
/** As many as tell whether memory grows from flood to flood. */
const WAVES_AGAIN = WAVES / 4;
const IN_FLIGHT = 50;
const LIMIT = 200;
/** Visits of the other room that are measured between two waves. */
const MEASURED = 3;
/** How much more a visit of the other room may cost, at its median, than with nobody about. */
const DEARER_MAX = 2;
/** How much larger the process may be after a third flood than after the second. */
const GROWTH_MAX = 1.25;
/** Longer than whoever came once and never again is remembered anywhere. */
const FORGOTTEN_MS = 600_000;
/** Calls a second of each isolate to the aggregator, whatever comes: reports and its sync. */
const CALLS_PER_S = 4.5;
/** Calls for each visitor who enters: the question to the counter, asked again, and its refill. */
const CALLS_PER_ADMISSION = 3;

const sale = room({ name: "sale", total_active_users: LIMIT, ...RARE_CHECK_INS });
const shop = room({ name: "shop", total_active_users: 10, session_duration: 30 });
const options = { rooms: [sale, shop], colos: { AMS: 1 } };
const title = "row 14: 20,000 newcomers on one room leave the others as fast as they were";
/** What no thread of workerd uses in a visit that is not counted: nothing was measured. */
const NOTHING_NS = 1_000;

clusterTest(title, options, async (cluster) => {
  const pid = workerdPid();
  // In a process of its own, at the same time: a machine is not always as fast.
  const idle = await startCluster(options);
  try {
    const guests = [
      { visitor: await visitorInside(cluster, shop), pid },
      { visitor: await visitorInside(idle, shop), pid: workerdPid() },
    ];
    const first = await flood(cluster, guests);

    const [here, elsewhere] = first.costsNs.map(median);
    assert.ok(elsewhere > NOTHING_NS, `a visit costs ${elsewhere} ns`);
    const dearer = here / elsewhere;
    const told = `visits of the other room cost ${dearer.toFixed(2)} times as much`;
    assert.ok(dearer <= DEARER_MAX, told);
    assert.ok(first.entered > 0 && first.entered <= LIMIT * (1 + first.minutes), told);
    const promised = CALLS_PER_S * 60 * first.minutes + CALLS_PER_ADMISSION * first.entered;
    assert.ok(first.calls <= promised, `${first.calls} calls, ${promised} are promised`);
    console.log(
      `flood: ${told}, ${first.calls} calls of ${Math.round(promised)} promised, ` +
        `${first.entered} of ${NEWCOMERS} entered`,
    );

    // The first and the second bring the process to its size.
    const bytes = [];
    while (bytes.length < 2) {
      await cluster.advance(FORGOTTEN_MS);
      await flood(cluster, guests, WAVES_AGAIN);
      bytes.push(residentBytes(pid));
    }
    const growth = bytes[1] / bytes[0];
    console.log(`flood: after a third one the process is ${growth.toFixed(2)} times as large`);
    // NaN where the machine does not tell.
    assert.ok(!(growth > GROWTH_MAX), `a third flood made it ${growth.toFixed(2)} times as large`);
  } finally {
    await idle.stop();
  }
});

/** Sends all waves, and between them measures the visits of each of these guests. */
async function flood(cluster, guests, waves = WAVES) {
  const [before, began] = [await cluster.allCalls(sale), cluster.clock.now()];
  const costsNs = guests.map(() => []);
  let entered = 0;
  for (let wave = 0; wave < waves; wave += 1) {
    const names = Array.from({ length: WAVE }, (_, at) => `newcomer-${wave}-${at}`);
    await inParallel(names, IN_FLIGHT, async (name) => {
      const headers = { "x-visitor": name, accept: "text/html" };
      const { kind } = await look(cluster, "ams-1", { host: sale.host, path: "/", headers });
      assert.notEqual(kind, "else", `${name} saw neither the site nor the queue`);
      entered += Number(kind === "origin");
    });
    for (const [at, guest] of guests.entries()) costsNs[at].push(await costOf(guest));
  }
  const minutes = (cluster.clock.now() - began) / 60_000;
  return { costsNs, entered, minutes, calls: (await cluster.allCalls(sale)) - before };
}

/** What some visits of somebody inside cost: the processor time of workerd, in nanoseconds. */
async function costOf({ visitor, pid }) {
  const before = cpuNs(pid);
  for (let at = 0; at < MEASURED; at += 1) {
    const { kind } = await visitor.visit({ isolate: "ams-1" });
    assert.equal(kind, "origin", "somebody inside lost the place");
  }
  return cpuNs(pid) - before;
}
