/**
 * An owner in front of the cockpit: opens it in a browser, signs in, and reads what it says.
 */

import assert from "node:assert/strict";

import { barriers } from "./accessibility.mjs";
import { SECRETS } from "./deployment.mjs";
import { fitsItsWidth } from "./every-language.mjs";

const ADMIN = { host: "localhost", path: "/_waiting-room/" };
/** What a browser writes to its console where an answer is an error on purpose. */
const REFUSED = /^Failed to load resource: the server responded with a status of 4\d\d/;
const STATUS = /waiting_rooms\/(\w+)\/status$/;
/** A page that has asked nothing for so many milliseconds goes on with nothing. */
const QUIET_MS = 200;
/** A page has an answer to every question by then: it gives up on one after 8 s. */
const QUIET_WITHIN_MS = 60_000;
/** The narrowest screen on which nothing may scroll sideways, in pixels (WCAG 1.4.10). */
const NARROWEST = 320;
const LIVE = /\/_waiting-room\/live\?rooms=(.*)$/;

/** Opens the cockpit in a browser of its own, without a token. */
export async function ownerOf(arena, context) {
  const browser = await arena.visitor({ room: ADMIN, context, name: "owner" });
  const owner = new Owner(browser);
  await owner.page.goto(browser.address);
  return owner;
}

/** Opens the cockpit and signs in, with the token that may write unless another is given. */
export async function signedIn(arena, context, token = SECRETS.API_TOKEN) {
  const owner = await ownerOf(arena, context);
  await owner.signIn(token);
  await owner.heading("Rooms").waitFor();
  return owner;
}

class Owner {
  /** The ids of the rooms whose numbers were asked for one by one, in order. */
  asked = [];
  /** The rooms of each stream of numbers that was opened, in order: lists of ids. */
  streams = [];
  /** The questions of the page that have no answer yet; a stream is not one. */
  #open = new Set();

  constructor(browser) {
    Object.assign(this, { browser, page: browser.page });
    this.page.on("request", (request) => {
      if (!LIVE.test(request.url())) this.#open.add(request);
      const [, room] = STATUS.exec(request.url()) ?? [];
      if (room) this.asked.push(room);
      const [, rooms] = LIVE.exec(request.url()) ?? [];
      if (rooms) this.streams.push(rooms.split(",").map((name) => name.split("/")[1]));
    });
    for (const ended of ["requestfinished", "requestfailed"]) {
      this.page.on(ended, (request) => this.#open.delete(request));
    }
  }

  /** Enters a token. */
  async signIn(token) {
    await this.page.getByLabel("Token").fill(token);
    await this.button("Sign in").click();
  }

  /** Goes from the table to a room's page. */
  async open(room) {
    await this.page.getByRole("link", { name: room.name, exact: true }).click();
    await this.heading(room.name).waitFor();
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: typeof name === "string" });
  }

  heading(name) {
    return this.page.getByRole("heading", { name, exact: true });
  }

  /**
   * Waits until some text is to be read on the page. A text that comes with a seldom question takes
   * a `patienceMs` of its own.
   */
  async reads(text, patienceMs) {
    await this.page.getByText(text).first().waitFor({ timeout: patienceMs });
  }

  /** Enters a room's name into the question that a dangerous button asks. */
  async answers(name) {
    await this.page.getByRole("dialog").getByRole("textbox").fill(name);
  }

  /**
   * Makes the page believe that its tab is hidden, or in front again. A hidden page asks nothing
   * more; what it has asked before is answered first.
   */
  async hides(hidden) {
    await this.page.evaluate(async (value) => {
      Object.defineProperty(document, "hidden", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
      // The page stops its timers after the next picture.
      for (let pictures = 0; pictures < 2; pictures += 1) await new Promise(requestAnimationFrame);
      await new Promise((wake) => setTimeout(wake));
    }, hidden);
    if (hidden) await this.isQuiet();
  }

  /** Waits until the page has had no question open for so many milliseconds. */
  async isQuiet(quietMs = QUIET_MS) {
    let quietSince = Date.now();
    const isSo = () => {
      if (this.#open.size > 0) quietSince = Date.now();
      return Date.now() - quietSince >= quietMs;
    };
    await this.browser.until(isSo, () => `it goes on asking: ${this.#questions}`, QUIET_WITHIN_MS);
  }

  get #questions() {
    return [...this.#open].map((request) => request.url()).join(", ");
  }

  /** Looks at the page as it is, light and dark: nothing hinders anybody, nothing sticks out. */
  async looks(name) {
    for (const colorScheme of ["light", "dark"]) {
      await this.page.emulateMedia({ colorScheme });
      await this.browser.keepScreenshot(`cockpit-${name}-${colorScheme}`, { fullPage: true });
      assert.deepEqual(await barriers(this.page), [], `${name}, ${colorScheme}`);
    }
    const screen = this.page.viewportSize();
    for (const width of [screen.width, NARROWEST]) {
      await this.page.setViewportSize({ ...screen, width });
      assert.ok(await fitsItsWidth(this.page), `${name} scrolls sideways at ${width} px`);
    }
    await this.page.setViewportSize(screen);
  }

  /** What the page complained about, but for answers that are refusals. */
  get complaints() {
    return this.browser.complaints.filter((text) => !REFUSED.test(text));
  }
}
