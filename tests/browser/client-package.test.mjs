/**
 * `examples/client` in a browser, with the packed library: a page without a build and a React
 * component wait before the running Worker, tell how far they are, and are served.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { build } from "esbuild";

import { browserTest } from "../harness/browser-test.mjs";
import { installedClient } from "../harness/client-package.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const EXAMPLES = path.join(ROOT, "examples", "client");
const SESSION_MS = 60_000;
/** Longer than any pause between two check-ins in these rooms. */
const CHECK_IN_MS = 8_000;
/** React's strict mode takes each component out once, and puts it back. */
const SHOP = `
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Basket } from "./basket.jsx";
window.shop = createRoot(document.getElementById("shop"));
window.shop.render(<StrictMode><Basket /></StrictMode>);
`;
const app = { path: "/api", json_response_enabled: true, ...FREQUENT_CHECK_INS };
const plain = localRoom({ name: "plain", ...app });
const react = localRoom({ name: "react", ...app });
const options = { rooms: [plain, react] };

browserTest("a page without a build waits and is served", options, async (arena) => {
  const { folder, remove } = installedClient();
  try {
    const library = path.join(folder, "node_modules", "waiting-room-client", "dist");
    const page = await opened(arena, plain, fs.readFileSync(path.join(EXAMPLES, "plain.html")));
    await page.route("**/waiting-room-client/*.js", (route) =>
      route.fulfill({ path: path.join(library, path.basename(route.request().url())) }),
    );
    await waitsAndEnters(arena, plain, page, () => page.goto(page.url()));
  } finally {
    remove();
  }
});

browserTest("a React component waits, and gives up when it goes", options, async (arena) => {
  const { folder, remove } = installedClient(["react", "react-dom"]);
  try {
    const script = await bundled(folder);
    const body = `<div id="shop"></div><script>${script}</script>`;
    const html = `<!doctype html><title>Shop</title>${body}`;
    const page = await opened(arena, react, html);
    const order = page.getByRole("button", { name: "Order" });
    await waitsAndEnters(arena, react, page, () => order.click());

    const other = await opened(arena, react, html);
    await other.getByRole("button", { name: "Order" }).click();
    await other.getByRole("status").filter({ hasText: "minutes" }).waitFor();
    await other.evaluate(() => window.shop.unmount());
    let checkIns = 0;
    other.on("request", () => (checkIns += 1));
    await sleep(CHECK_IN_MS);
    assert.equal(checkIns, 0, "it went on without its component");
  } finally {
    remove();
  }
});

/** A page of the room's host that no room covers. */
async function opened(arena, room, html) {
  const { page, address } = await arena.visitor({ room });
  await page.route("**/basket.html", (route) =>
    route.fulfill({ contentType: "text/html", body: html }),
  );
  await page.goto(new URL("/basket.html", address).href);
  return page;
}

async function waitsAndEnters({ cluster }, room, page, begin) {
  const before = (await arrivals(cluster)).length;
  await visitorInside(cluster, room);
  await cluster.advance(SESSION_MS / 3);
  await begin();
  const status = page.getByRole("status");
  await status.filter({ hasText: "minutes" }).waitFor();
  assert.equal((await arrivals(cluster)).length, before);
  await cluster.advance(SESSION_MS);
  await status.filter({ hasText: "You are in." }).waitFor();
  assert.equal((await arrivals(cluster)).length, before + 1);
}

async function arrivals(cluster) {
  const all = await cluster.arrivals();
  return all.filter(({ path: where }) => where === "/api/basket");
}

/** The React example as a bundler of the project would make it. */
async function bundled(folder) {
  const { outputFiles } = await build({
    stdin: { contents: SHOP, resolveDir: EXAMPLES, loader: "jsx" },
    nodePaths: [path.join(folder, "node_modules")],
    bundle: true,
    write: false,
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "warning",
  });
  return outputFiles[0].text;
}
