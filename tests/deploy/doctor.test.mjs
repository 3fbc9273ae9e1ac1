/**
 * `npm run doctor` against what `npm run deploy` has deployed to a stand-in for Cloudflare: it has
 * the token from the folder of the deployment, and finds what somebody has broken since.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Deployer, FIRST } from "../harness/deployer.mjs";

/** Longer than any takes on a slow machine: a hanging command still ends the run. */
const ALL = { timeout: 600_000 };
const ADDRESS = "https://room-admin.shop.example";

test("the doctor of a deployment", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  deployer.account.addShop();
  const { code, said } = await deployer.deploy(FIRST);
  assert.equal(code, 0, said);
  await context.test("all is well after a deployment", () => isWell(deployer));
  await context.test("it tells machines the same", () => tellsMachines(deployer));
  await context.test("a route that was removed is wrong", () => findsTheRoute(deployer));
  await context.test("a wrong token is told from none", () => tellsTokens(deployer));
});

async function examine(deployer, parameters = [], options = {}) {
  const where = [ADDRESS, "--live-address", deployer.edge.address, "--requests", "4"];
  return deployer.run("doctor", [...where, ...parameters], options);
}

async function isWell(deployer) {
  const { code, said } = await examine(deployer);
  assert.equal(code, 0, said);
  assert.ok(said.includes(`The doctor asked ${ADDRESS}`), said);
  assert.match(said, /(?:All is well|Nothing wrong; \d+ to look at)\.\n/);
  for (const line of [
    /ok +Version of isolates +00000000\n/,
    // A loaded machine is slow.
    /(?:ok|LOOK) +Registry /,
    /(?:ok|LOOK) +GlobalAggregator, shop-example /,
    /ok +ZONES +shop\.example\n/,
    /ok +ADMIN_HOSTS +room-admin\.shop\.example\n/,
    /ok +Route shop\.example\/ +leads to room shop-example\n/,
    /ok +Log of invocations +off\n/,
    /ok +Query strings in logs +redacted\n/,
    /ok +Update of objects +immediate\n/,
    /ok +Routes of the last deploy +2 patterns\n/,
  ]) {
    assert.match(said, line);
  }
  for (const secret of Object.values(deployer.json("secrets.json"))) {
    assert.ok(!said.includes(secret), "a secret was printed");
  }
}

async function tellsMachines(deployer) {
  const { code, said } = await examine(deployer, ["--json", "--plan", "free"]);
  assert.equal(code, 0, said);
  const { address, lines, facts } = JSON.parse(said);
  assert.equal(address, ADDRESS);
  assert.ok(lines.length > 20 && lines.every(({ what, verdict }) => what && verdict));
  assert.equal(facts.samples.length, 4);
  assert.equal(facts.quota, 100_000);
  for (const secret of Object.values(deployer.json("secrets.json"))) {
    assert.ok(!said.includes(secret), "a secret was printed");
  }
}

async function findsTheRoute(deployer) {
  const { account } = deployer;
  const { routes } = account;
  account.routes = [];
  const { code, said } = await examine(deployer);
  account.routes = routes;
  assert.equal(code, 1, said);
  assert.match(said, /WRONG +Route shop\.example\/ +200, not of the room\n/);
  assert.match(said, /1 line wrong, \d+ to look at\.\n/);
}

async function tellsTokens(deployer) {
  const wrong = await examine(deployer, [], { vars: { API_TOKEN: "guessed" } });
  assert.equal(wrong.code, 1);
  assert.ok(wrong.said.includes("the token is not that of this Worker"), wrong.said);
  assert.doesNotMatch(wrong.said, /^ +at /m);
  const elsewhere = ["https://shop.example", "--live-address", deployer.edge.address];
  const none = await deployer.run("doctor", elsewhere);
  assert.equal(none.code, 1);
  assert.ok(none.said.includes("and not as a waiting room"), none.said);
}
