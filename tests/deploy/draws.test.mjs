/**
 * `npm run deploy` while a draw is on: it exchanges no version unless the owner wants that.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { drawsOn } from "../../scripts/deploy/draws.mjs";
import { Deployer, FIRST } from "../harness/deployer.mjs";
import { drawnEvent } from "../harness/draw.mjs";

/** Longer than any takes on a slow machine: a hanging command still ends the run. */
const ALL = { timeout: 600_000 };

test("a draw is on from its prequeue to the end of its event", () => {
  const sale = {
    name: "sale",
    shuffle_at_event_start: true,
    suspended: false,
    prequeue_start_time: "2026-06-01T09:00:00Z",
    event_start_time: "2026-06-01T10:00:00Z",
    event_end_time: "2026-06-01T12:00:00Z",
  };
  const check = (changes, time, want) => {
    const rooms = [{ name: "shop", events: [{ ...sale, ...changes }] }, { name: "other" }];
    assert.deepEqual(drawsOn(rooms, Date.parse(`2026-06-01T${time}Z`)), want, time);
  };
  check({}, "08:59:59", []);
  check({}, "09:00:00", ["sale of shop"]);
  check({}, "11:59:59", ["sale of shop"]);
  check({}, "12:00:00", []);
  check({ suspended: true }, "10:00:00", []);
  check({ shuffle_at_event_start: false }, "10:00:00", []);
  check({ prequeue_start_time: null }, "09:59:59", []);
  check({ prequeue_start_time: null }, "10:00:00", ["sale of shop"]);
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
  const denied = await deployer.deploy([], { answers: [["Deploy all the same?", "n"]] });
  assert.equal(denied.code, 1, denied.said);
  assert.equal(versions(), first);
  const agreed = await deployer.deploy(["--even-in-draw"]);
  assert.equal(agreed.code, 0, agreed.said);
  assert.equal(versions(), first + 1);
});
