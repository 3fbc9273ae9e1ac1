// The element `<waiting-room-session>` for pages of a site behind a waiting room with
// `session_endpoint`: it says how long the visitor's session lasts, warns before it ends, and lets
// the visitor leave early. One file without imports, so that a site can serve it as it is.

/** What the room tells of the session. */
export interface Session {
  /** True while the visitor is inside. */
  readonly inside: boolean;
  /** Seconds until the session ends, unless a visit renews it. */
  readonly secondsLeft: number;
  /** True if every visit renews the session. */
  readonly renews: boolean;
}

/** What the element says in `LANGUAGE`; each text can be given as an attribute `text-…`. */
const TEXTS = {
  left: "Your session ends in {time}.",
  warning: "Your session ends in {time}. Do you want to stay?",
  question: "Do you want to leave? Your place goes to the next visitor.",
  stay: "Stay",
  close: "Close",
  leave: "Leave",
  gone: "You have left. Thank you for making room.",
  over: "Your session is over.",
} as const;
type Text = keyof typeof TEXTS;
const LANGUAGE = "en";

const PATH = "/_waiting-room/session";
/** How long before the end the visitor is warned, in minutes: long enough to react (WCAG 2.2.1). */
const WARN_MINUTES = 2;
/** The longest timer, in milliseconds: a sleeping device and other tabs change what is left. */
const PAUSE_MS_MAX = 60_000;
/** The pause after an answer that says nothing, in milliseconds. */
const RETRY_MS = 30_000;
/** How far two pages may be apart in what they take for the end of one session, in milliseconds. */
const SAME_END_MS = 10_000;

/** Asks the room for the session; `undefined` where no room answers. */
async function ask(address: string, method: "GET" | "POST"): Promise<Session | undefined> {
  try {
    const response = await fetch(address, { method, cache: "no-store", redirect: "error" });
    if (!response.ok) return undefined;
    const told = (await response.json()) as Partial<Session>;
    return typeof told.inside === "boolean" ? (told as Session) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns how many seconds this session had when the tab's first page looked at it. The tab keeps
 * that below the session's address, with its end: one that was renewed has another end.
 */
function secondsAtFirst(address: string, secondsLeft: number): number {
  const endsAt = Date.now() + secondsLeft * 1_000;
  try {
    const kept = JSON.parse(sessionStorage.getItem(address) ?? "{}") as Record<string, number>;
    const { seconds, end } = kept;
    if (seconds && end && Math.abs(end - endsAt) < SAME_END_MS) return seconds;
    sessionStorage.setItem(address, JSON.stringify({ seconds: secondsLeft, end: endsAt }));
  } catch {
    // The site's policy or the visitor allows no storage.
  }
  return secondsLeft;
}

/** Rounds to the minute, below two minutes to steps of ten seconds, in this language. */
function timeOf(seconds: number, language: string): string {
  const [value, unit] =
    seconds >= 120
      ? [Math.floor(seconds / 60), "minute"]
      : [Math.max(10, Math.floor(seconds / 10) * 10), "second"];
  const style = { style: "unit", unit, unitDisplay: "long" } as const;
  try {
    return new Intl.NumberFormat(language, style).format(value);
  } catch {
    // The page's `lang` is no language.
    return new Intl.NumberFormat(undefined, style).format(value);
  }
}

/** The element. Its parts are ordinary children, for the site's own style sheet. */
export class WaitingRoomSession extends HTMLElement {
  readonly #left = document.createElement("p");
  readonly #news = document.createElement("p");
  readonly #leave = document.createElement("button");
  // Two, so that a screen reader tells of the one that takes the other's place.
  readonly #warning = document.createElement("dialog");
  readonly #question = document.createElement("dialog");
  readonly #warningText = document.createElement("p");
  #endsAt = 0;
  #warnSeconds = 0;
  #renews = false;
  #wasWarned = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #wake = () => document.visibilityState === "visible" && void this.#look();

  connectedCallback(): void {
    // Changes each minute, so it is read when asked for and not announced.
    this.#left.setAttribute("role", "timer");
    this.#news.setAttribute("role", "status");
    this.#leave.type = "button";
    this.#say(this.#leave, "leave");
    this.#leave.onclick = () => this.#confirm();
    this.#leave.hidden = true;
    const dialogs = [this.#warning, this.#question];
    for (const dialog of dialogs) dialog.setAttribute("role", "alertdialog");
    this.replaceChildren(this.#left, this.#leave, this.#news, ...dialogs);
    document.addEventListener("visibilitychange", this.#wake);
    void this.#look();
  }

  disconnectedCallback(): void {
    clearTimeout(this.#timer);
    document.removeEventListener("visibilitychange", this.#wake);
  }

  /** Asks how long the session lasts, and shows it until it is time to ask again. */
  async #look(): Promise<void> {
    clearTimeout(this.#timer);
    const session = await ask(this.#address, "GET");
    if (!this.isConnected) return;
    if (!session && this.#endsAt > 0) return this.#isUnanswered();
    if (!session) return this.#later(RETRY_MS, () => void this.#look());
    if (!session.inside) return this.#end(this.#endsAt > 0 ? "over" : undefined);
    // A short session does not begin with a warning.
    this.#warnSeconds ||= Math.min(
      this.#warnAttribute * 60,
      secondsAtFirst(this.#address, session.secondsLeft) / 2,
    );
    this.#endsAt = Date.now() + session.secondsLeft * 1_000;
    this.#renews = session.renews;
    this.#show();
  }

  /** Goes on by what was known, since the session ends with a network and without. */
  #isUnanswered(): void {
    if (Date.now() >= this.#endsAt) return this.#end("over");
    this.#show(RETRY_MS);
  }

  #show(pauseMsMax = PAUSE_MS_MAX): void {
    const seconds = Math.max(0, (this.#endsAt - Date.now()) / 1_000);
    this.#say(this.#left, "left", seconds);
    this.#news.textContent = "";
    this.#leave.hidden = false;
    if (seconds > this.#warnSeconds) {
      // Another page may have renewed the session.
      this.#warning.close();
      this.#wasWarned = false;
    } else {
      this.#say(this.#warningText, "warning", seconds);
      if (!this.#wasWarned) this.#warn();
      this.#wasWarned = true;
    }
    const untilWarning = seconds - this.#warnSeconds;
    const untilChange = untilWarning > 0 ? untilWarning : Math.min(seconds, 10);
    this.#later(Math.min(untilChange * 1_000 + 500, pauseMsMax), () => void this.#look());
  }

  #warn(): void {
    this.#question.close();
    const close = this.#button(this.#warning, this.#renews ? "stay" : "close", () => {
      if (this.#renews) void this.#stay();
    });
    this.#open(this.#warning, this.#warningText, close);
  }

  #confirm(): void {
    const text = document.createElement("p");
    this.#say(text, "question");
    this.#open(this.#question, text, this.#button(this.#question, "stay"));
  }

  /**
   * Opens a dialog: the browser keeps the focus in it, and Escape closes it. Its name stays as it
   * is, since the focus is in it when its text changes.
   */
  #open(dialog: HTMLDialogElement, text: HTMLElement, first: HTMLButtonElement): void {
    dialog.setAttribute("aria-label", text.textContent);
    Object.assign(dialog, { lang: text.lang, dir: text.dir });
    const leave = this.#button(dialog, "leave", () => void this.#goes());
    dialog.replaceChildren(text, first, " ", leave);
    dialog.showModal();
  }

  /** Returns a button that closes its dialog, and then acts. */
  #button(dialog: HTMLDialogElement, name: Text, act?: () => void): HTMLButtonElement {
    const button = document.createElement("button");
    button.type = "button";
    this.#say(button, name);
    button.onclick = () => {
      dialog.close();
      act?.();
    };
    return button;
  }

  /** Renews the session by a visit of the page that is open. */
  async #stay(): Promise<void> {
    await fetch(location.href, { method: "HEAD", cache: "no-store" }).catch(() => undefined);
    await this.#look();
  }

  async #goes(): Promise<void> {
    const session = await ask(this.#address, "POST");
    if (!session || session.inside) return this.#look();
    this.#end("gone");
    this.dispatchEvent(new CustomEvent("waiting-room-left", { bubbles: true }));
    const to = this.getAttribute("leave-to");
    if (to) location.assign(to);
  }

  #end(text?: Text): void {
    clearTimeout(this.#timer);
    this.#warning.close();
    this.#question.close();
    // The visitor may get in again, for longer or shorter.
    this.#warnSeconds = 0;
    this.#wasWarned = false;
    this.#leave.hidden = true;
    this.#left.textContent = "";
    if (text) this.#say(this.#news, text);
  }

  #later(ms: number, act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, ms);
  }

  /** Lets a part of the page say a text, and tell the language that the text is in. */
  #say(part: HTMLElement, name: Text, seconds = 0): void {
    const own = this.getAttribute(`text-${name}`);
    const ofPage = this.closest("[lang]")?.getAttribute("lang") ?? "";
    const lang = own === null ? LANGUAGE : ofPage;
    const time = timeOf(seconds, lang || navigator.language);
    const textContent = (own ?? TEXTS[name]).replace("{time}", time);
    const dir = own === null ? "ltr" : getComputedStyle(this).direction;
    Object.assign(part, { textContent, lang, dir });
  }

  /** Below the path of the room, which the attribute `path` names; the cookie goes there alone. */
  get #address(): string {
    return `${(this.getAttribute("path") ?? "").replace(/\/$/, "")}${PATH}`;
  }

  get #warnAttribute(): number {
    return Number(this.getAttribute("warn-minutes")) || WARN_MINUTES;
  }
}

customElements.define("waiting-room-session", WaitingRoomSession);
