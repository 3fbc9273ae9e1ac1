/**
 * Objects may run the code of before for 300 s after a deployment, and data centers get the new
 * code at different moments. Meanwhile the limits hold, the line moves and nobody loses the place;
 * a rollback is the same the other way round.
 */

import assert from "node:assert/strict";

import { ROOMS, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { PLACES, lineRoom, playLine } from "../harness/line.mjs";
import { previousEntry } from "../harness/previous.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";

const colos = { AMS: 1, NRT: 1 };
const before = { entry: previousEntry() };
/** The round of the story, of 12 s each, in which the objects get the code of the isolates. */
const ROUND_OF_300_S = 25;
/** So many later visitors may enter first: every place may come free in a restart. */
const overtaking = PLACES - 1;

/** Lets everything run the new code from a round on. */
const updateIn = (round, overrides) => (cluster) =>
  playLine(cluster, {
    overtaking,
    disturb: async (now) => {
      if (now === round) await cluster.restart({ overrides });
    },
  });

clusterTest(
  "objects of the version before serve new isolates for 300 s",
  { rooms: [lineRoom], colos, overrides: { hub: before } },
  updateIn(ROUND_OF_300_S, {}),
);

clusterTest(
  "isolates of the version before ask new objects",
  { rooms: [lineRoom], colos, overrides: { "ams-1": before } },
  updateIn(ROUND_OF_300_S, {}),
);

const everywhere = { hub: before, "ams-1": before, "nrt-1": before };
clusterTest(
  "what the version before stored is taken over",
  { rooms: [lineRoom], colos, overrides: everywhere },
  updateIn(4, {}),
);

clusterTest(
  "a rollback in the middle of the line",
  { rooms: [lineRoom], colos },
  updateIn(4, everywhere),
);

const MINUTE_MS = 60_000;
const stored = room({ name: "stored", total_active_users: 1 });

clusterTest(
  "a rollback reads the rooms, events and rules that this version has stored",
  { rooms: [stored], colos },
  async (cluster) => {
    const at = `${ROOMS}/${stored.id}`;
    const text = (ms) => new Date(cluster.clock.now() + ms).toISOString();
    const times = { event_start_time: text(30 * MINUTE_MS), event_end_time: text(60 * MINUTE_MS) };
    await call(cluster, "PATCH", at, { description: "changed by the API" });
    await call(cluster, "POST", `${at}/events`, { name: "sale", ...times });
    const rule = { action: "bypass_waiting_room", expression: 'http.request.uri.path eq "/free"' };
    await call(cluster, "POST", `${at}/rules`, rule);
    await call(cluster, "PATCH", `${ROOMS}/settings`, { search_engine_crawler_bypass: true });
    await call(cluster, "POST", "accounts/any/rules/lists", { name: "staff", kind: "ip" });
    await call(cluster, "POST", `${ROOMS}/preview`, { custom_html: "<p>{{waitTime}}" });
    await call(cluster, "POST", `${at}/webhooks`, { url: "https://hooks.example/" });

    await cluster.restart({ overrides: everywhere });

    assert.equal((await call(cluster, "GET", at)).result.description, "changed by the API");
    assert.equal((await call(cluster, "GET", `${at}/events`)).result.length, 1);
    assert.equal((await call(cluster, "GET", `${at}/rules`)).result.length, 1);
    const visitors = [1, 2].map((name) => new Visitor(cluster, { name, host: stored.host }));
    for (const visitor of visitors) await visitor.visit();
    assert.deepEqual(visitors.map(({ seen }) => seen), ["origin", "queue"]);

    const back = Object.fromEntries(Object.keys(everywhere).map((name) => [name, {}]));
    await cluster.restart({ overrides: back });
    const { result: webhooks } = await call(cluster, "GET", `${at}/webhooks`);
    assert.equal(webhooks.length, 1, "what the version before does not read comes back");
  },
);
