/**
 * `npm run deploy` while a draw is on: it exchanges no version unless the owner wants that.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import { test } from "node:test";

import { agreeInDraw } from "../../scripts/deploy/draws.mjs";
import { Deployer, FIRST } from "../harness/deployer.mjs";
import { drawnEvent } from "../harness/draw.mjs";

/** Longer than any takes on a slow machine: a hanging command still ends the run. */
const ALL = { timeout: 600_000 };
const sale = {
  name: "sale",
  shuffle_at_event_start: true,
  suspended: false,
  modified_on: "2026-05-01T10:00:00Z",
  prequeue_start_time: "2026-06-01T09:00:00Z",
  event_start_time: "2026-06-01T10:00:00Z",
  event_end_time: "2026-06-01T12:00:00Z",
};
const shop = { name: "shop", id: "5".repeat(32), zone_id: "2".repeat(32), events: [sale] };
const FILE = "waiting_rooms/file?from=0";
const STATUS = `zones/${shop.zone_id}/waiting_rooms/${shop.id}/status`;

/** Starts what answers as the API of a deployment does, or does not, with what `answers` has. */
async function startApi(context) {
  const api = { answers: {} };
  const server = http.createServer(({ url }, response) => {
    const { status = 200, result } = api.answers[url.replace(/^.*\/client\/v4\//, "")] ?? {};
    if (status === 0) return response.destroy();
    response.writeHead(status).end(JSON.stringify({ success: status === 200, result }));
  });
  context.after(() => server.close());
  await new Promise((begun) => server.listen(0, "127.0.0.1", begun));
  api.address = `http://127.0.0.1:${server.address().port}`;
  return api;
}

/** What an owner is asked who deploys now, in a folder with this state. */
async function asked(api, state = { deployed: {} }) {
  const kept = { state, settings: { adminHost: "room-admin.shop.example" }, secrets: {} };
  let question = "";
  const questions = { agrees: async (text) => (question = text) !== "" };
  await agreeInDraw(kept, { "live-address": api.address }, questions);
  return question;
}

const part = (rooms) => ({ version: 1, lists: [], zones: [], rooms, next: null });

test("a draw is on from before its prequeue until nobody waits", async (context) => {
  const api = await startApi(context);
  context.mock.timers.enable({ apis: ["Date"] });
  const check = async (changes, time, isOn, waiting) => {
    const rooms = [{ ...shop, events: [{ ...sale, ...changes }] }, { name: "other" }];
    const status = { result: { estimated_queued_users: waiting } };
    api.answers = { [FILE]: { result: part(rooms) }, [STATUS]: status };
    context.mock.timers.setTime(Date.parse(`2026-06-${time}Z`));
    const wanted = isOn ? /^A draw is on \(sale of shop\)\./ : /^$/;
    assert.match(await asked(api), wanted, time);
  };
  await check({}, "01T08:49:59", false);
  await check({}, "01T08:50:00", true);
  await check({}, "01T11:59:59", true);
  await check({}, "01T12:00:00", true, 1);
  await check({}, "01T12:00:00", false, 0);
  await check({}, "01T23:59:59", true, 1);
  await check({}, "02T00:00:00", false, 1);
  await check({ suspended: true }, "01T10:00:00", false);
  const inSale = { suspended: true, modified_on: "2026-06-01T10:30:00Z" };
  await check(inSale, "01T10:30:00", true, 1);
  await check(inSale, "01T10:30:00", false, 0);
  await check(inSale, "02T00:00:00", false, 1);
  await check({ shuffle_at_event_start: false }, "01T10:00:00", false);
  await check({ prequeue_start_time: null }, "01T09:49:59", false);
  await check({ prequeue_start_time: null }, "01T09:50:00", true);
});

test("who cannot learn whether a draw is on is asked as in one", async (context) => {
  const api = await startApi(context);
  const unknown = /^Nobody knows whether a draw is on \(.+\)\. .*Deploy all the same\?$/;
  for (const status of [0, 403, 500]) {
    api.answers = { [FILE]: { status } };
    assert.match(await asked(api), unknown, String(status));
    assert.equal(await asked(api, {}), "", "a first deployment");
  }
  context.mock.timers.enable({ apis: ["Date"], now: Date.parse(sale.event_end_time) });
  for (const status of [404, 500]) {
    api.answers = { [FILE]: { result: part([shop]) }, [STATUS]: { status } };
    assert.match(await asked(api), unknown, "nobody knows whether somebody waits");
  }
});

test("an older release is asked, too, and replaced if it cannot tell", async (context) => {
  const api = await startApi(context);
  context.mock.timers.enable({ apis: ["Date"], now: Date.parse(sale.event_start_time) });
  api.answers = { [FILE]: { result: [shop] } };
  assert.match(await asked(api), /^A draw is on/, "all rooms as a list");
  api.answers = { [FILE]: { status: 404 } };
  assert.equal(await asked(api), "");
});

test("in a draw a version is exchanged only with a flag or an answer", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  deployer.account.addShop();
  assert.equal((await deployer.deploy(FIRST)).code, 0);
  const [{ id }] = await deployer.managed("GET", "");
  await deployer.managed("POST", `/${id}/events`, drawnEvent({ id: undefined }));
  const versions = () => deployer.account.workers.get("waiting-room").versions.length;
  const first = versions();
  const same = await deployer.deploy(["--yes"]);
  assert.ok(same.said.includes("nothing was uploaded"), same.said);
  const more = ["--new-users-per-minute", "150"];
  const refused = await deployer.deploy(["--yes", ...more]);
  assert.equal(refused.code, 1, refused.said);
  assert.match(refused.said, /A draw is on \(sale of [^)]+\).*add --even-in-draw/s);
  const secrets = deployer.json("secrets.json");
  const keep = (changes) =>
    fs.writeFileSync(deployer.file("secrets.json"), JSON.stringify({ ...secrets, ...changes }));
  keep({ API_TOKEN: "n".repeat(64) });
  const unknown = await deployer.deploy(["--yes"]);
  assert.equal(unknown.code, 1, unknown.said);
  assert.match(unknown.said, /Nobody knows whether a draw is on \(.* 403\).*add --even-in-draw/s);
  keep({});
  const denied = await deployer.deploy([], { answers: [["Deploy all the same?", "n"]] });
  assert.equal(denied.code, 1, denied.said);
  assert.equal(versions(), first);
  const agreed = await deployer.deploy(["--even-in-draw"]);
  assert.equal(agreed.code, 0, agreed.said);
  assert.equal(versions(), first + 1);
});
