/**
 * One tab among others in a real window: it can be hidden, frozen and woken. Pages that playwright
 * drives are never hidden, so this one is driven by Chromium's own protocol.
 */

import { setTimeout as sleep } from "node:timers/promises";

/** How long something is waited for, in milliseconds, and how often it is looked at. */
const PATIENCE_MS = 40_000;
const POLL_MS = 50;

/**
 * Opens an empty tab in a window of its own.
 *
 * @param {object} browser of playwright
 * @param {{ headers?: object, script?: string }} options headers that all its requests have, and a
 *   script that runs before those of its pages
 */
export async function openTab(browser, { headers = {}, script = "" }) {
  const driver = await browser.newBrowserCDPSession();
  const { browserContextId } = await driver.send("Target.createBrowserContext");
  const opened = await driver.send("Target.createTarget", { url: "about:blank", browserContextId });
  const { targetId } = opened;
  const attached = await driver.send("Target.attachToTarget", { targetId, flatten: false });
  const tab = new Tab(driver, { browserContextId, targetId, sessionId: attached.sessionId });
  await tab.send("Network.enable");
  await tab.send("Network.setExtraHTTPHeaders", { headers });
  await tab.send("Page.enable");
  await tab.send("Page.addScriptToEvaluateOnNewDocument", { source: script });
  return tab;
}

class Tab {
  /** When each answer to a check-in came, in milliseconds by this machine, and its status. */
  checkIns = [];
  /** The same of each page. */
  pages = [];
  #driver;
  #ids;
  #last = 0;
  #replies = new Map();
  #isCheckIn = new Map();

  constructor(driver, ids) {
    this.#driver = driver;
    this.#ids = ids;
    driver.on("Target.receivedMessageFromTarget", ({ sessionId, message }) => {
      if (sessionId === ids.sessionId) this.#heard(JSON.parse(message));
    });
  }

  /** Sends a command of the protocol to the page; returns its result. */
  async send(method, params = {}) {
    const id = (this.#last += 1);
    const { promise, resolve, reject } = Promise.withResolvers();
    this.#replies.set(id, { resolve, reject });
    const message = JSON.stringify({ id, method, params });
    const { sessionId } = this.#ids;
    const sent = this.#driver.send("Target.sendMessageToTarget", { sessionId, message });
    const [reply] = await Promise.all([promise, sent]);
    return reply;
  }

  /** Opens an address. */
  async go(url) {
    await this.send("Page.navigate", { url });
  }

  /** Goes to another tab of the window. */
  async hide() {
    const { browserContextId } = this.#ids;
    const other = { url: "about:blank", browserContextId };
    const { targetId } = await this.#driver.send("Target.createTarget", other);
    await this.#driver.send("Target.activateTarget", { targetId });
    await this.until(async () => (await this.tells("document.visibilityState")) === "hidden");
  }

  /** Stops all that the page does, as a phone does that sleeps. */
  async freeze() {
    await this.send("Page.setWebLifecycleState", { state: "frozen" });
  }

  /** The device wakes, and the tab is looked at. */
  async wake() {
    await this.send("Page.setWebLifecycleState", { state: "active" });
    await this.#driver.send("Target.activateTarget", { targetId: this.#ids.targetId });
  }

  /** Returns what an expression tells in the page. */
  async tells(expression) {
    const { result } = await this.send("Runtime.evaluate", { expression });
    return result.value;
  }

  /** Waits until `isSo` returns true. */
  async until(isSo) {
    const end = Date.now() + PATIENCE_MS;
    while (!(await isSo())) {
      if (Date.now() > end) throw new Error(`it never was so: ${isSo}`);
      await sleep(POLL_MS);
    }
  }

  #heard({ id, result, error, method, params }) {
    if (id !== undefined) {
      const { resolve, reject } = this.#replies.get(id);
      this.#replies.delete(id);
      if (error) reject(new Error(error.message));
      else resolve(result);
    } else if (method === "Network.requestWillBeSent") {
      const names = Object.keys(params.request.headers).map((name) => name.toLowerCase());
      this.#isCheckIn.set(params.requestId, names.includes("waiting-room-check-in"));
    } else if (method === "Network.responseReceived") {
      const { response, requestId, type } = params;
      const seen = { at: Date.now(), status: response.status };
      if (this.#isCheckIn.get(requestId)) this.checkIns.push(seen);
      else if (type === "Document") this.pages.push(seen);
    }
  }
}
