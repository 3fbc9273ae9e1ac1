/**
 * `examples/iframe` in a browser that blocks third-party cookies: the visitor in the frame keeps
 * the place by a partitioned cookie and enters; without one nobody does.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

import { browserTest, keepScreenshot } from "../harness/browser-test.mjs";
import { opensslMissing, startHttps } from "../harness/https.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const EXAMPLE = fs.readFileSync(path.join(ROOT, "examples", "iframe", "index.html"), "utf8");
const NEWS = "news.localhost";
const SESSION_MS = 60_000;
const PATIENCE_MS = 40_000;
const shop = localRoom({
  name: "shop",
  cookie_attributes: { samesite: "none", secure: "always" },
  ...FREQUENT_CHECK_INS,
});
const lax = localRoom({ name: "lax", ...FREQUENT_CHECK_INS });
const options = {
  rooms: [shop, lax],
  browser: { flags: ["--test-third-party-cookie-phaseout"], missing: opensslMissing },
};

browserTest("a visitor waits and enters inside a frame of another site", options, async (arena) => {
  const { cluster } = arena;
  await visitorInside(cluster, shop);
  const pages = { [NEWS]: embedding(shop), "other.localhost": embedding(lax) };
  const server = await startHttps(cluster, { pages });
  try {
    const context = await arena.browser.newContext({ ignoreHTTPSErrors: true });
    const news = await context.newPage();
    await news.goto(`https://${NEWS}:${server.port}/`);
    const framed = news.frameLocator("iframe");
    await framed.getByRole("heading", { name: "You are in line" }).waitFor();
    await keepScreenshot(news, "page-in-a-frame");
    await cluster.advance(SESSION_MS);
    const ours = () => server.seen.filter(({ host }) => host === shop.host);
    await until(() => ours().some(({ inside }) => inside), "the frame never entered");
    const [first, ...later] = ours();
    assert.equal(first.cookie, undefined);
    assert.ok(later.length > 0 && later.every(({ cookie }) => cookie?.startsWith("__cfwaiting")));

    // At the top the same browser is another visitor.
    const before = ours().length;
    const top = await context.newPage();
    await top.goto(`https://${shop.host}:${server.port}/`);
    assert.equal(ours()[before].cookie, undefined, "the frame's cookie is seen at the top");

    // Without the attributes the frame never gets its cookie back.
    await visitorInside(cluster, lax);
    const without = await context.newPage();
    await without.goto(`https://other.localhost:${server.port}/`);
    const theirs = () => server.seen.filter(({ host }) => host === lax.host);
    await until(() => theirs().length > 1, "the frame never came back");
    assert.ok(theirs().every(({ cookie }) => cookie === undefined));
  } finally {
    await server.stop();
  }
});

/** The example with the address of a room. */
function embedding({ host }) {
  return (port) => EXAMPLE.replace("https://shop.example/", `https://${host}:${port}/`);
}

async function until(isSo, complaint) {
  const end = Date.now() + PATIENCE_MS;
  while (!isSo()) {
    if (Date.now() > end) throw new Error(complaint);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
