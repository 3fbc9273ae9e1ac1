/**
 * What happened in rooms, asked for in GraphQL as Cloudflare's documentation and clients do: the
 * same numbers as in the history, within bounds, and only for owners.
 */

import assert from "node:assert/strict";

import { buildClientSchema, getIntrospectionQuery } from "graphql";

import { OWNER, ROOMS, ask, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { ZONE, room } from "../harness/rooms.mjs";

const COMING = 120;
const LIMIT = 40;
const READ_ONLY = "the-token-for-reading";
/** Until everybody has entered: three sessions of a minute, and the slots between them. */
const ALL_ENTER_MS = 6 * 60_000;
/** Until the last of them are reported. */
const REPORTED_MS = 10_000;
/** So many of the last go on to another page: an isolate reports what is left with a request. */
const LAST = 10;
const DAY_MS = 86_400_000;

const limits = { total_active_users: LIMIT, new_users_per_minute: LIMIT, session_duration: 1 };
const sale = room({ name: "sale", ...limits });
const club = room({ name: "club", ...limits });
const options = {
  rooms: [sale, club],
  colos: { AMS: 1, NRT: 1 },
  vars: { API_TOKEN_READ: READ_ONLY },
};

/** The query of "Load testing" in Cloudflare's documentation, but for its line breaks. */
const LOAD_TEST = `query UsersQueuedOverTimeQuery(
  $zoneId: string, $filter: ZoneWaitingRoomAnalyticsAdaptiveGroupsFilter_InputObject
) {
  viewer {
    zones(filter: {zoneTag: $zoneId}) {
      timeseries: waitingRoomAnalyticsAdaptiveGroups(
        limit: 5000, filter: $filter, orderBy: [datetimeMinute_ASC]
      ) {
        avg { totalActiveUsers totalActiveUsersConfig totalQueuedUsers __typename }
        max { totalQueuedUsers totalActiveUsers totalActiveUsersConfig __typename }
        min { totalActiveUsersConfig __typename }
        dimensions { ts: datetimeMinute __typename }
        __typename
      }
      total: waitingRoomAnalyticsAdaptiveGroups(limit: 1, filter: $filter) {
        max { totalQueuedUsers totalActiveUsers __typename }
        __typename
      }
      __typename
    }
    __typename
  }
}`;
/** What a client asks that draws charts of days: with types that are not the schema's own. */
const CHARTS = `query W($zone: String!, $room: string, $from: Time!, $to: Time!) {
  viewer {
    zones(filter: { zoneTag: $zone }) {
      waitingRoomAnalyticsAdaptiveGroups(
        limit: 10000
        filter: { waitingRoomId: $room, datetime_geq: $from, datetime_leq: $to }
        orderBy: [datetimeHour_ASC]
      ) {
        avg { totalActiveUsers totalQueuedUsers newUsersPerMinute }
        sum { newUsersPerMinute sessionsRevoked turnstileChallenges infiniteQueueRequests }
        avgWeighted { timeOnOriginP50 totalTimeWaitedP90 }
        ...hours
      }
    }
  }
}
fragment hours on ZoneWaitingRoomAnalyticsAdaptiveGroups { dimensions { datetimeHour } }`;

/** Asks a question, and returns the answer with its status. */
async function asks(cluster, body, headers = OWNER, method = "POST") {
  const answer = await ask(cluster, method, "graphql", body, headers);
  return { status: answer.status, ...JSON.parse(answer.body) };
}

/** Asks a question that must be answered, of the zone of the tests. */
async function zoneOf(cluster, query, variables) {
  const { status, data, errors } = await asks(cluster, { query, variables });
  assert.deepEqual([status, errors], [200, null]);
  return data.viewer.zones[0];
}

async function entersAll(cluster, { host }, count) {
  const crowd = new Crowd(cluster, { count, host });
  await crowd.arrive();
  await crowd.wait(ALL_ENTER_MS, () => crowd.waiting.length === 0);
  await cluster.advance(REPORTED_MS / 2);
  await Promise.all(crowd.visitors.slice(-LAST).map((visitor) => visitor.visit()));
  await cluster.advance(REPORTED_MS);
}

/** The minutes of a room as the API tells them. */
async function historyOf(cluster, { id }) {
  const { result } = await call(cluster, "GET", `${ROOMS}/${id}/history`);
  return result.rows.map((row) =>
    Object.fromEntries(result.columns.map((name, at) => [name, row[at]])),
  );
}

const sum = (rows, name) => rows.reduce((total, row) => total + row[name], 0);
const most = (rows, name) => Math.max(...rows.map((row) => row[name]));
const withoutMs = (moment) => moment.replace(".000Z", "Z");

/** A day until now, by the cluster's clock. */
function lastDay(cluster) {
  const now = cluster.clock.now();
  return [now - DAY_MS, now].map((moment) => new Date(moment).toISOString());
}

clusterTest("documented queries tell what the history tells", options, async (cluster) => {
  await entersAll(cluster, sale, COMING);
  const [from, to] = lastDay(cluster);
  const rows = await historyOf(cluster, sale);
  assert.equal(sum(rows, "entered"), COMING);

  const filter = { datetime_geq: from, datetime_leq: to, waitingRoomId: sale.id };
  const told = await zoneOf(cluster, LOAD_TEST, { zoneId: ZONE, filter });
  const series = told.timeseries.map(({ dimensions, avg, max, min }) => [
    dimensions.ts,
    avg.totalActiveUsers,
    avg.totalQueuedUsers,
    max.totalActiveUsers,
    max.totalQueuedUsers,
    min.totalActiveUsersConfig,
  ]);
  const want = rows.map((row) => [
    withoutMs(row.datetime),
    row.active_mean,
    row.waiting_mean,
    row.active_max,
    row.waiting_max,
    row.active_limit_min,
  ]);
  assert.deepEqual(series, want);
  const [{ max }] = told.total;
  const highest = [most(rows, "active_max"), most(rows, "waiting_max")];
  assert.deepEqual([max.totalActiveUsers, max.totalQueuedUsers], highest);
  assert.equal(told.total.length, 1);

  const charts = await zoneOf(cluster, CHARTS, { zone: ZONE, room: sale.id, from, to });
  const hours = charts.waitingRoomAnalyticsAdaptiveGroups;
  const begins = rows.map(({ datetime }) => `${datetime.slice(0, 13)}:00:00Z`);
  assert.deepEqual(
    hours.map(({ dimensions }) => dimensions.datetimeHour),
    [...new Set(begins)],
  );
  assert.equal(hours.reduce((total, hour) => total + hour.sum.newUsersPerMinute, 0), COMING);
  const longest = Math.max(...hours.map(({ avgWeighted }) => avgWeighted.totalTimeWaitedP90));
  assert.ok(longest > 30 && longest <= most(rows, "waited_seconds_p90"), `${longest} s`);
});

clusterTest("raw rows and groups of rooms, filtered and ordered", options, async (cluster) => {
  await entersAll(cluster, sale, COMING);
  await entersAll(cluster, club, 7);
  const [from] = lastDay(cluster);
  const raw = await zoneOf(
    cluster,
    `{ viewer { zones(filter: {zoneTag: "${ZONE}"}) {
      waitingRoomAnalyticsAdaptive(
        limit: 2, orderBy: [newUsersPerMinute_DESC, datetime_ASC],
        filter: {datetime_gt: "${from}", waitingRoomId: "${sale.id}"}
      ) { datetime totalActiveUsers newUsersPerMinute newUsersPerMinutes }
      minutes: waitingRoomAnalyticsAdaptive(
        limit: 10, filter: {AND: [{datetime_gt: "${from}"}, {waitingRoomId_neq: "${sale.id}"}]}
      ) { waitingRoomId newUsersPerMinute }
    } } }`,
  );
  const rows = await historyOf(cluster, sale);
  const busiest = rows.sort((one, other) => other.entered - one.entered).slice(0, 2);
  assert.deepEqual(
    raw.waitingRoomAnalyticsAdaptive.map(({ newUsersPerMinute }) => newUsersPerMinute),
    busiest.map(({ entered }) => entered),
  );
  for (const row of raw.waitingRoomAnalyticsAdaptive) {
    assert.equal(row.newUsersPerMinutes, row.newUsersPerMinute);
  }
  assert.deepEqual([...new Set(raw.minutes.map((row) => row.waitingRoomId))], [club.id]);

  const groups = `waitingRoomAnalyticsAdaptiveGroups`;
  const both = await zoneOf(
    cluster,
    `{ viewer { zones { ${groups}(limit: 10, orderBy: [sum_newUsersPerMinute_ASC]) {
      dimensions { waitingRoomId } sum { newUsersPerMinute }
    } } } }`,
  );
  assert.deepEqual(
    both[groups].map(({ dimensions, sum: { newUsersPerMinute } }) => [
      dimensions.waitingRoomId,
      newUsersPerMinute,
    ]),
    [
      [club.id, 7],
      [sale.id, COMING],
    ],
  );
  const before = `{ viewer { zones { ${groups}(limit: 10, filter: {datetime_lt: "${from}"}) {
    max { totalActiveUsers } } } } }`;
  assert.deepEqual((await zoneOf(cluster, before))[groups], []);
});

clusterTest("clients learn the schema, and why they are refused", options, async (cluster) => {
  const reader = { authorization: `Bearer ${READ_ONLY}` };
  const { data } = await asks(cluster, { query: getIntrospectionQuery() }, reader);
  assert.ok(buildClientSchema(data).getType("ZoneWaitingRoomAnalyticsAdaptiveGroups"));

  const query = "{ viewer { zones { zoneTag } } }";
  const check = async (status, body, want, headers, method) => {
    const answer = await asks(cluster, body, headers, method);
    assert.deepEqual([answer.status, answer.data], [status, null], JSON.stringify(answer));
    const [{ message, path, extensions }] = answer.errors;
    assert.match(message, want);
    assert.ok(path === null || path[0] === "viewer", JSON.stringify(path));
    assert.ok(Math.abs(Date.parse(extensions.timestamp) - cluster.clock.now()) < DAY_MS);
  };
  await check(401, { query }, /token/i, { authorization: "Bearer no" });
  await check(401, { query: getIntrospectionQuery() }, /token/i, {});
  const nowhere = { query: `{ viewer { zones(filter: {zoneTag: "none"}) { zoneTag } } }` };
  await check(403, nowhere, /no zone "none"/);
  // Clients write the types of their variables as they like.
  const typed = `query Q($limit: Int!, $zone: ID, $all: Boolean!) {
    viewer { zones(filter: {zoneTag: $zone}, limit: $limit) { zoneTag @include(if: $all) } } }`;
  const values = { limit: 1, zone: ZONE, all: true };
  assert.deepEqual(await zoneOf(cluster, typed, values), { zoneTag: ZONE });
  await check(405, undefined, /POST/, OWNER, "GET");
  await check(400, "no JSON", /must be JSON/);
  await check(400, { query, variables: [] }, /must be JSON/);
  await check(413, { query: query.padEnd(33_000) }, /longer than 32768 bytes/);
  await check(200, { query: "{ viewer " }, /Syntax Error/);
  await check(200, { query: `{ viewer { zones { ${"zoneTag ".repeat(1_000)} } } }` }, /token/i);
  const inZone = (asked) => ({ query: `{ viewer { zones { ${asked} } } }` });
  const groups = "waitingRoomAnalyticsAdaptiveGroups";
  await check(200, inZone("secrets"), /Cannot query field "secrets"/);
  await check(200, inZone(`${groups} { sum { sessionsRevoked } }`), /limit/);
  await check(200, inZone(`${groups}(limit: 10001) { sum { sessionsRevoked } }`), /1 to 10000/);
  const old = 'limit: 1, filter: {datetime_geq: "2020-01-01T00:00:00Z"}';
  const older = /^cannot request data older than 2592000s$/;
  await check(200, inZone(`${groups}(${old}) { max { totalActiveUsers } }`), older);
  const since = 'limit: 1, filter: {datetime_geq: "yesterday"}';
  await check(200, inZone(`${groups}(${since}) { max { totalActiveUsers } }`), /no time/);
  const ranges = Array.from({ length: 20 }, (_, day) => {
    const [first, last] = [day + 1, day].map((ago) => {
      return new Date(cluster.clock.now() - ago * DAY_MS).toISOString();
    });
    const range = `filter: {datetime_geq: "${first}", datetime_lt: "${last}"}`;
    return `day${day}: ${groups}(limit: 1, ${range}) { max { totalActiveUsers } }`;
  });
  await check(200, inZone(ranges.join(" ")), /more than 30 reads/);
});
