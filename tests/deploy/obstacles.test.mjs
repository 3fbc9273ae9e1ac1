/**
 * What stands in the way of `npm run deploy`: each ends it with one sentence that says what to do,
 * and with nothing changed in the account.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { DEPLOY_FLAGS, ROTATE_FLAGS } from "../../scripts/deploy/options.mjs";
import { Deployer, FIRST } from "../harness/deployer.mjs";

/** Longer than any takes on a slow machine: a hanging command still ends the run. */
const ALL = { timeout: 600_000 };
const FLAGS = { deploy: DEPLOY_FLAGS, "rotate-keys": ROTATE_FLAGS };

describe("deploying ends", { concurrency: 2 }, () => {
  check("no token and no login", "run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN", {
    options: { vars: { CLOUDFLARE_API_TOKEN: "" } },
  });
  check("a token without a permission", "the token lacks a permission: it needs Account", {
    prepare: (account) => (account.forbidden = /\/workers\/routes$/),
  });
  check("a token that is wrong", "the token is not valid or may not see an account: it needs", {
    options: { vars: { CLOUDFLARE_API_TOKEN: "wrong" } },
  });
  check("no account", "the token is for no account", {
    prepare: (account) => (account.accounts = []),
  });
  check("no zone for the host", 'no zone has the host shop.test in "Shop"', {
    parameters: ["--host", "shop.test", "--yes"],
  });
  check("a zone that is not active", "the zone pending.example is not active yet (pending)", {
    prepare: (account) => account.addZone("pending.example", undefined, { status: "pending" }),
    parameters: ["--host", "www.pending.example"],
  });
  check("an account that is not there", 'there is no account "Other"', {
    parameters: [...FIRST, "--account", "Other"],
  });
  check("the zone in several accounts", "The zone is in several accounts", {
    prepare: (account) => account.addZone("shop.example", second(account)),
  });
  check("a route that is taken", 'shop.example/* belongs to the Worker "blog": remove it', {
    prepare: (account, zone) => account.addRoute(zone, "shop.example/*", "blog"),
  });
  check("a route that leads to no Worker", "shop.example/* belongs to no Worker: remove it", {
    prepare: (account, zone) => account.addRoute(zone, "shop.example/*"),
  });
  check("an admin host of another Worker", 'is the custom domain of the Worker "blog": choose', {
    prepare: ({ domains }) =>
      domains.push({ id: "1", hostname: "room-admin.shop.example", service: "blog" }),
  });
  check("an admin host with a DNS record", "room-admin.shop.example has a DNS record already", {
    prepare: (account, zone) => account.addDnsRecord(zone, "room-admin.shop.example"),
  });
  check("another Worker of the same name", "was not deployed from this folder: choose another", {
    prepare: ({ workers }) => workers.set("waiting-room", { versions: [], secrets: new Map() }),
  });
  check("no host and nobody to ask", "Say it with --host", { parameters: ["--yes"] });
  check("no limits and nobody to ask", "Say it with --total-active-users", {
    parameters: ["--host", "shop.example"],
  });
  check("a host that is an address", '"https://shop.example/" is no host', {
    parameters: ["--host", "https://shop.example/"],
  });
  check("a limit that is none", 'must be a whole number from 1, but is "many"', {
    parameters: ["--host", "shop.example", "--total-active-users", "many"],
  });
  check("more in a minute than inside", "must be at most --total-active-users", {
    parameters: [...FIRST, "--total-active-users", "50"],
  });
  check("a flag that is unknown", "All flags: npm run deploy -- --help", {
    parameters: ["--hots", "shop.example"],
  });
});

test("one of several accounts has the zone", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  const { account } = deployer;
  account.addZone("shop.example", second(account));
  // The zone is found and its account with it; only then the run ends, for want of the limits.
  const { said } = await deployer.deploy(["--host", "www.shop.example"]);
  assert.ok(said.includes("Account Second, zone shop.example, site www.shop.example"), said);
  assert.equal(deployer.json("settings.json").account.id, account.accounts[1].id);
});

for (const [name, key] of [["Ctrl-C", "\u0003"], ["Ctrl-D", "\u0004"]]) {
  test(`${name} at a question ends it with a sentence`, ALL, async (context) => {
    const deployer = await Deployer.start(context);
    deployer.account.addShop();
    const { code, said } = await deployer.deploy([], { answers: [["Which host", key]] });
    assert.equal(code, 1, said);
    assert.ok(said.includes("no answer, so nothing was changed"), said);
    assert.doesNotMatch(said, /^\s+at |unsettled/m);
  });
}

test("at a terminal it asks what it cannot know, and nothing twice", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  const { account } = deployer;
  const zone = account.addShop();
  account.addRoute(zone, "shop.example/*", "blog");
  const answers = [
    ["Which host", "https://shop.example"],
    ["is no host", "Shop.Example"],
    ["How many visitors may be inside", "200"],
    ["How many may enter", "201"],
    ["At most 200", "100"],
  ];
  const first = await deployer.deploy([], { answers });
  assert.ok(first.said.includes('belongs to the Worker "blog"'), first.said);
  const [{ total_active_users: total, new_users_per_minute: perMinute }] =
    deployer.json("rooms.json");
  assert.deepEqual([total, perMinute], [200, 100]);
  const again = await deployer.deploy([], { answers: [] });
  assert.ok(!again.said.includes("?"), again.said);
});

test("the login of wrangler is as good as a token", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  deployer.account.addShop();
  deployer.logIn();
  const options = { vars: { CLOUDFLARE_API_TOKEN: "" } };
  const { said } = await deployer.deploy(["--host", "shop.example"], options);
  assert.ok(said.includes("Account Shop, zone shop.example"), said);
});

test("--account chooses between several", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  const { account } = deployer;
  account.addShop();
  account.addZone("shop.example", second(account));
  const { said } = await deployer.deploy(["--host", "shop.example", "--account", "Second"]);
  assert.ok(said.includes("Account Second, zone shop.example"), said);
});

test("a host that was mistyped can be given again", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  const { account } = deployer;
  const zone = account.addShop();
  const blog = account.addRoute(zone, "shop.example/*", "blog");
  assert.equal((await deployer.deploy(FIRST)).code, 1);
  account.addRoute(zone, "www.shop.example/*", "blog");
  const { said } = await deployer.deploy(["--host", "www.shop.example", ...FIRST.slice(2)]);
  assert.ok(said.includes("the route www.shop.example/* belongs"), said);
  assert.deepEqual(deployer.json("rooms.json").map(({ host }) => host), ["www.shop.example"]);
  assert.ok(account.routes.includes(blog));
});

test("an upload that was refused has begun nothing", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  const { account } = deployer;
  account.addShop();
  account.forbidden = /^(?:PUT|POST) .*\/scripts\/waiting-room/;
  const { said } = await deployer.deploy(FIRST);
  assert.ok(said.includes("the token may not do this"), said);
  assert.deepEqual(account.changes, []);
  // So the host can be given again, and a Worker of this name is somebody else's.
  account.workers.set("waiting-room", { versions: [], secrets: new Map() });
  const again = await deployer.deploy(["--host", "www.shop.example", ...FIRST.slice(2)]);
  assert.ok(again.said.includes("was not deployed from this folder"), again.said);
  const undone = await deployer.run("deploy", ["--undo", "--yes"]);
  assert.ok(undone.said.includes("nothing to take down"), undone.said);
});

test("narrower routes and records without a proxy are told", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  const { account } = deployer;
  const zone = account.addZone("shop.example");
  account.addDnsRecord(zone, "shop.example", false);
  account.addRoute(zone, "shop.example/blog*", "blog");
  account.addRoute(zone, "other.example/*", "other");
  account.failing = /^PUT /;
  const { said } = await deployer.deploy(FIRST);
  const told = said.split("\n").filter((line) => line.startsWith("  Beware: "));
  assert.equal(told.length, 2, said);
  assert.ok(told[0].includes('shop.example/blog* leads to the Worker "blog"'), said);
  assert.ok(told[1].includes("shop.example has no proxied DNS record"), said);
});

test("without a look at DNS records it goes on and says so", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  const { account } = deployer;
  account.addShop();
  account.forbidden = /\/dns_records$/;
  account.failing = /^PUT /;
  const { said } = await deployer.deploy(FIRST);
  assert.ok(said.includes("Beware: the token may not read DNS records"), said);
  assert.ok(account.calls.some((call) => call.startsWith("PUT ")), said);
});

test("--help names every flag", ALL, async (context) => {
  const deployer = await Deployer.start(context);
  for (const [step, flags] of Object.entries(FLAGS)) {
    const { code, said } = await deployer.run(step, ["--help"]);
    assert.equal(code, 0);
    for (const [name] of flags) assert.match(said, new RegExp(`^  --${name} `, "m"));
  }
});

function check(name, sentence, { prepare = () => {}, parameters = FIRST, options } = {}) {
  test(name, ALL, async (context) => {
    const deployer = await Deployer.start(context);
    const { account } = deployer;
    prepare(account, account.addShop());
    const { code, said } = await deployer.deploy(parameters, options);
    assert.equal(code, 1, said);
    const last = said.trim().split("\n").at(-1);
    assert.ok(said.includes(sentence), `${sentence} is not in ${said}`);
    assert.ok(!/^\s+at /.test(last), said);
    assert.deepEqual(account.changes, []);
  });
}

function second(account) {
  const added = { id: "b".repeat(32), name: "Second" };
  account.accounts.push(added);
  return added;
}
