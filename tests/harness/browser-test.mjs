/**
 * Tests that look at a cluster through real browsers. Each visitor is a browser context of its own.
 * What it saw is read from its navigations, which works for pages without script as well.
 */

import fs from "node:fs";
import path from "node:path";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { chromiumMissing, launchChromium } from "./chromium.mjs";
import { clockMissing } from "./clock.mjs";
import { clusterTest } from "./cluster-test.mjs";
import { ROOT } from "./worker-modules.mjs";

const ARTIFACTS = path.join(ROOT, "tests", "artifacts");
/**
 * How long a visitor waits for anything, in milliseconds: far longer than the longest refresh of
 * these tests, on a slow machine too.
 */
const PATIENCE_MS = 40_000;
const POLL_MS = 20;
/**
 * What Chromium answers now and then, mostly to the first question after it has begun: asked again
 * it takes the same picture.
 */
const REFUSED_ONCE = /Unable to capture screenshot/;

/** The screen of a phone, for playwright's `newContext`. */
export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
/** The screen of a desktop, for playwright's `newContext`. */
export const DESKTOP = { viewport: { width: 1200, height: 800 } };

/** The browsers of the tests of this process, by what they were started with. */
const browsers = new Map();

/**
 * Declares a test with a cluster of its own, in a Chromium that the tests of a file share: to start
 * one takes as long as a short test. It says SKIPPED where either is missing.
 *
 * @param {string} name
 * @param {object} options of `startCluster`; and `browser`, with more `flags` for Chromium, those
 *   of playwright's to go `without`, variables of its environment (`env`), and what else may be
 *   `missing`
 * @param {(arena: Arena) => Promise<void>} body
 */
export function browserTest(name, options, body) {
  const { browser: ofBrowser = {}, ...ofCluster } = options;
  const { flags, without, env, missing: more = () => undefined } = ofBrowser;
  const missing = () => chromiumMissing() ?? clockMissing() ?? more();
  const play = async (cluster) => {
    const browser = await sharedChromium(flags, without, env);
    try {
      await body(new Arena(cluster, browser));
    } finally {
      await forgetRoutes(browser);
      // The next test finds no cookie, no copy and no connection of this one.
      await Promise.all(browser.contexts().map((context) => context.close()));
    }
  };
  // Browsers have clocks of their own, which go on.
  clusterTest(name, { stopped: false, ...ofCluster }, play, missing);
}

/** Gives the browser of tests before with the same parameters, or a new one if there is none. */
async function sharedChromium(...parameters) {
  const key = JSON.stringify(parameters);
  if (!browsers.get(key)?.isConnected()) browsers.set(key, await launchChromium(...parameters));
  return browsers.get(key);
}

after(() => Promise.all([...browsers.values()].map((browser) => browser.close())));

/** Takes all routes away. An answer of a test may be under way at its end: that is no failure. */
async function forgetRoutes(browser) {
  const pages = browser.contexts().flatMap((context) => context.pages());
  await Promise.allSettled(pages.map((page) => page.unrouteAll({ behavior: "ignoreErrors" })));
}

/** A cluster and the browsers in front of it. */
export class Arena {
  constructor(cluster, browser) {
    this.cluster = cluster;
    this.browser = browser;
  }

  /**
   * Makes a new browser that has not opened anything yet. Its owner wants no motion, unless
   * `context` says otherwise: a page that moves is painted anew sixty times a second.
   *
   * @param {object} options
   * @param {object} options.room the room it will visit
   * @param {string} [options.name] told to the origin
   * @param {string} [options.colo] the data center nearby
   * @param {object} [options.context] of playwright's `newContext`
   */
  async visitor({ room, name = "browser", colo = this.cluster.isolates[0].colo, context }) {
    const near = { "x-visitor": name, "mf-cf-blob": JSON.stringify({ colo }) };
    const extraHTTPHeaders = { ...near, ...context?.extraHTTPHeaders };
    const asked = { reducedMotion: "reduce", ...context, extraHTTPHeaders };
    const opened = await this.browser.newContext(asked);
    const page = await opened.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const address = this.cluster.address(this.cluster.isolateNear(colo), room);
    return new BrowserVisitor({ name, page, address, clock: this.cluster.clock });
  }
}

/** One person with one browser. */
class BrowserVisitor {
  /**
   * The pages so far, each from when it was complete: [{ at, method, inside }], with `at` in
   * milliseconds by the cluster's clock.
   */
  views = [];
  /** The status of each answer to a check-in that the page made without being loaded again. */
  checkIns = [];
  /** What the page complained about: script errors, refused resources. */
  complaints = [];

  constructor({ name, page, address, clock }) {
    Object.assign(this, { name, page, address });
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.complaints.push(message.text());
    });
    let coming;
    page.on("response", (response) => {
      const request = response.request();
      if (request.isNavigationRequest()) coming = response;
      if (request.headers()["waiting-room-check-in"]) this.checkIns.push(response.status());
    });
    page.on("load", () => {
      const inside = coming?.headers()["x-origin"] !== undefined;
      this.views.push({ at: clock.now(), method: coming?.request().method(), inside });
    });
  }

  /** Opens the room, as if its address had been typed. */
  async come() {
    const before = this.views.length;
    await this.page.goto(this.address).catch((error) => {
      // If the page reloads itself in the same moment, that takes the place of this navigation.
      if (!/net::ERR_ABORTED|interrupted by another navigation/.test(error.message)) throw error;
    });
    await this.until(() => this.views.length > before, "the page was never complete");
  }

  /** Sends a form from a page of the same site that was open before the wait began. */
  async submitForm(path) {
    const form = new URL("page-with-a-form", this.address).href;
    // Without a picture of its own the browser would ask the full room for one.
    const icon = '<link rel="icon" href="data:,">';
    const body = `${icon}<form method="post" action="${path}"><button>Order</button></form>`;
    const fill = (route) => route.fulfill({ contentType: "text/html", body });
    await this.page.route(form, fill, { times: 1 });
    await this.page.goto(form);
    await this.until(() => this.views.length > 0, "the form was never complete");
    this.views.length = 0;
    await this.page.getByRole("button").click();
    await this.until(() => this.views.length > 0, "the form was not answered");
  }

  /** Closes the browser: the visitor leaves. */
  async leave() {
    await this.page.context().close();
  }

  /** True if the last page came from the origin. */
  get inside() {
    return this.views.at(-1).inside;
  }

  /** Waits until the page shows the origin by itself; returns when, by the cluster's clock. */
  async enters() {
    await this.until(() => this.inside, "the visitor never entered");
    return this.views.find(({ inside }) => inside).at;
  }

  /** Waits until the page has checked in or was loaded again by itself, `times` times from now. */
  async refreshes(times = 1) {
    const count = () => this.views.length + this.checkIns.length;
    const wanted = count() + times;
    await this.until(() => count() >= wanted, "the page did not come back");
  }

  /**
   * Waits until `isSo()` is true, or its promise; fails with `complaint`, a text or what makes
   * one, if that takes longer than `patienceMs`.
   */
  async until(isSo, complaint, patienceMs = PATIENCE_MS) {
    const end = Date.now() + patienceMs;
    const told = typeof complaint === "string" ? () => complaint : complaint;
    while (!(await isSo())) {
      if (Date.now() > end) throw new Error(`${this.name}: ${told()}, it saw ${this.story()}`);
      await sleep(POLL_MS);
    }
  }

  /** Tells what the visitor saw, and after how many seconds, for readers of a failed test. */
  story() {
    const told = this.views.map(({ at, method, inside }) => {
      const seconds = ((at - this.views[0].at) / 1_000).toFixed(1);
      return `${seconds} ${method} ${inside ? "origin" : "queue"}`;
    });
    return told.join(", ");
  }

  /** Returns all text that can be read on the page. */
  text() {
    return this.page.locator("body").innerText();
  }

  /** Returns the title without the white space around it, as a browser shows it. */
  async title() {
    return (await this.page.locator("title").textContent()).trim();
  }

  /** Keeps a picture of what the browser shows now, for people to look at. */
  async keepScreenshot(name, options = {}) {
    await keepScreenshot(this.page, name, options);
  }
}

/**
 * Keeps a picture of what a page shows now in `tests/artifacts`, for people to look at. It decides
 * no test, so a refusal that does not last fails none.
 */
export async function keepScreenshot(page, name, options = {}) {
  fs.mkdirSync(ARTIFACTS, { recursive: true });
  const take = () => page.screenshot({ path: path.join(ARTIFACTS, `${name}.png`), ...options });
  await take().catch((refusal) => {
    if (!REFUSED_ONCE.test(refusal.message)) throw refusal;
    return take();
  });
}
