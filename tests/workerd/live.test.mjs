/**
 * The stream of a room's numbers for owners: a line each second while somebody reads and nothing
 * after that, for tokens alone, for a minute at most, and few of them.
 */

import assert from "node:assert/strict";

import { OWNER, ROOMS, call, liveLines } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd, inParallel } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";

const shop = room({ name: "shop", total_active_users: 3, new_users_per_minute: 3 });
const quiet = room({ name: "quiet", total_active_users: 3, new_users_per_minute: 3 });
const options = { rooms: [shop, quiet], colos: { AMS: 1 }, vars: { API_TOKEN_READ: "reads" } };
const PATH = "/_waiting-room/live?rooms=";
const LIFE_MS = 60_000;
const STREAMS_MAX = 20;
const WATCHED_MS = 20_000;
const SLOW_MS = 1_800;
/** The room counts those who wait within so many steps of half a second. */
const COUNTED_STEPS = 60;
/** By then the platform has told the Worker that a reader has gone. */
const GONE_MS = 15_000;

const both = [shop, quiet].map(nameOf).join(",");

clusterTest("each second a line has what is new", options, async (cluster) => {
  const stream = await listen(cluster, both);
  assert.equal(stream.status, 200);
  assert.equal(stream.headers["content-type"], "application/x-ndjson");
  assert.match(stream.headers["cache-control"], /no-store/);
  await cluster.advance(3_000);
  const [first, second] = liveLines(stream);
  assert.deepEqual(Object.keys(first.told).sort(), [shop.id, quiet.id].sort());
  assert.deepEqual([second.told, second.late], [{}, {}], "what is as it was is told again");
  const crowd = new Crowd(cluster, { count: 5, host: shop.host });
  await crowd.arrive();
  // The object knows of it when the API tells it, and a step later the stream does.
  const isKnown = async () => (await status(cluster, shop)).estimated_queued_users === 2;
  for (let steps = 0; !(await isKnown()); steps += 1) {
    assert.ok(steps < COUNTED_STEPS, "the object never counts them");
    await crowd.wait(500);
  }
  await cluster.advance(2_000);
  const told = liveLines(stream).filter((line) => line.told[shop.id]).at(-1).told;
  const counted = ({ estimated_queued_users: waiting, estimated_total_active_users: inside }) =>
    [inside, waiting];
  assert.deepEqual(counted(told[shop.id]), [3, 2]);
  assert.equal(told[quiet.id], undefined, "of a room without news nothing is told");
  stream.close();
});

clusterTest("a stream is one call a second of each room's object", options, async (cluster) => {
  await status(cluster, quiet);
  const calls = () => cluster.calls("GlobalAggregator", quiet);
  const awakeMs = async () => (await cluster.door()).awakeMs[`GlobalAggregator ${quiet.id}`];
  const [callsBefore, awakeBefore] = [await calls(), await awakeMs()];
  const stream = await listen(cluster, nameOf(quiet));
  await cluster.advance(WATCHED_MS);
  const [made, awake] = [(await calls()) - callsBefore, (await awakeMs()) - awakeBefore];
  const seconds = WATCHED_MS / 1_000;
  assert.ok(made >= seconds / 2 && made <= seconds + 2, `${made} calls in ${seconds} s`);
  assert.ok(awake < WATCHED_MS / 2, `awake for ${awake} ms`);

  // Nobody reads: nothing is asked, and nothing is awake.
  stream.close();
  await cluster.advance(GONE_MS);
  const [callsAfter, awakeAfter] = [await calls(), await awakeMs()];
  await cluster.advance(WATCHED_MS);
  assert.deepEqual([await calls(), await awakeMs()], [callsAfter, awakeAfter]);
});

clusterTest("a stream is for tokens on owners' hosts", options, async (cluster) => {
  const answer = async (headers, host = "localhost", rooms = both) => {
    const stream = await listen(cluster, rooms, headers, host);
    stream.close();
    return stream.status;
  };
  const reads = { authorization: "Bearer reads" };
  assert.deepEqual([await answer({}), await answer(reads), await answer(OWNER)], [403, 200, 200]);
  assert.equal(await answer({ authorization: "Bearer guessed" }), 403);
  assert.equal(await answer({}, "localhost", "nonsense"), 403, "without a token nothing is told");
  for (const rooms of ["", "nonsense", `${both},`, `${nameOf(shop)}/../rules`]) {
    assert.equal(await answer(OWNER, "localhost", rooms), 400, rooms);
  }
  const visitor = await listen(cluster, both, OWNER, shop.host);
  assert.notEqual(visitor.headers["content-type"], "application/x-ndjson");
  visitor.close();
});

clusterTest("a stream ends, so that another token counts", options, async (cluster) => {
  const stream = await listen(cluster, both);
  await cluster.advance(LIFE_MS / 2);
  assert.ok(!stream.ended);
  await cluster.advance(LIFE_MS);
  assert.ok(stream.ended, "a stream has no end");
  await cluster.restart({ vars: { API_TOKEN: "another" } });
  assert.equal((await listen(cluster, both)).status, 403);
});

clusterTest("streams are few, and those that are gone make room", options, async (cluster) => {
  const streams = [];
  await inParallel([...Array(STREAMS_MAX).keys()], 5, async () => {
    streams.push(await listen(cluster, nameOf(shop)));
  });
  assert.deepEqual(new Set(streams.map(({ status: one }) => one)), new Set([200]));
  assert.equal((await listen(cluster, both)).status, 503);
  streams.forEach((stream) => stream.close());
  await cluster.advance(GONE_MS);
  const after = await listen(cluster, both);
  assert.equal(after.status, 200);
  after.close();
});

clusterTest("an object that is silent is late, the others are not", options, async (cluster) => {
  const stream = await listen(cluster, both);
  await cluster.advance(2_000);
  await cluster.breakCalls({ className: "GlobalAggregator", object: quiet.id, fail: "before" });
  await cluster.advance(10_000);
  const { late } = liveLines(stream).at(-1);
  assert.deepEqual(Object.keys(late), [quiet.id]);
  await cluster.breakCalls();
  await cluster.advance(10_000);
  assert.deepEqual(liveLines(stream).at(-1).late, {});
  stream.close();
});

clusterTest("an object that is slow is not asked twice at once", options, async (cluster) => {
  const stream = await listen(cluster, nameOf(quiet));
  await cluster.advance(2_000);
  const slow = { className: "GlobalAggregator", object: quiet.id, delayMs: SLOW_MS };
  await cluster.breakCalls(slow);
  const [calls, lines] = [await cluster.calls("GlobalAggregator", quiet), liveLines(stream).length];
  await cluster.advance(WATCHED_MS);
  const made = (await cluster.calls("GlobalAggregator", quiet)) - calls;
  assert.ok(made <= WATCHED_MS / SLOW_MS + 1, `${made} calls`);
  const news = liveLines(stream).slice(lines).filter(({ late }) => late[quiet.id] === undefined);
  assert.ok(news.length >= made / 2, `${news.length} of ${made} answers were told`);
  stream.close();
});

function nameOf({ zone_id: zone, id }) {
  return `${zone}/${id}`;
}

async function status(cluster, of) {
  return (await call(cluster, "GET", `${ROOMS}/${of.id}/status`)).result;
}

function listen(cluster, rooms, headers = OWNER, host = "localhost") {
  return cluster.listen("ams-1", { host, path: PATH + rooms, headers });
}
