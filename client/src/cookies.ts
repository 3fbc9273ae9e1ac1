// Cookies for apps outside the browser, whose fetch keeps none: those rules of RFC 6265 that a room
// and a shop need. Cookies are kept in memory, each for its host alone or for those below it too.

/** One cookie. */
interface Kept {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  /** The domain at and below which it is sent; "" for its host alone. */
  readonly domain: string;
  readonly secure: boolean;
  /** When the cookie expires, in milliseconds since the epoch; `Infinity` for never. */
  readonly until: number;
}

/** The cookies of one user, in memory. Use one jar per user. */
export class CookieJar {
  readonly #now: () => number;
  readonly #byHost = new Map<string, Map<string, Kept>>();

  /** Makes an empty jar; `now` gives the time in milliseconds since the epoch. */
  constructor(now: () => number = () => Date.now()) {
    this.#now = now;
  }

  /** Writes the `Cookie` header for a request to `url`; "" if there is nothing to send. */
  header(url: string | URL): string {
    const { hostname, pathname, protocol } = new URL(url);
    const kept = [hostname, ...domainsOf(hostname)].flatMap((host) => [
      ...(this.#byHost.get(host)?.values() ?? []),
    ]);
    return kept
      .filter(({ until, path, secure }) => {
        const isSafe = !secure || protocol === "https:" || hostname === "localhost";
        return until > this.#now() && isSafe && isBelow(pathname, path);
      })
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
  }

  /**
   * Keeps the cookies that an answer from `url` sets: for the host of `url`, or with an attribute
   * `Domain` for that domain and all below it. One that does not have the host is ignored.
   */
  keep(url: string | URL, headers: Headers): void {
    const { hostname } = new URL(url);
    for (const line of headers.getSetCookie()) {
      const cookie = this.#read(line);
      if (!cookie) continue;
      const domain = cookie.domain && `.${cookie.domain}`;
      if (domain && !domainsOf(hostname).includes(domain)) continue;
      const host = domain || hostname;
      const ofHost = this.#byHost.get(host) ?? new Map<string, Kept>();
      this.#byHost.set(host, ofHost);
      const key = `${cookie.name};${cookie.path}`;
      if (cookie.until > this.#now()) ofHost.set(key, cookie);
      else ofHost.delete(key);
    }
  }

  #read(line: string): Kept | undefined {
    const [pair = "", ...rest] = line.split(";").map((part) => part.trim());
    const at = pair.indexOf("=");
    if (at < 1) return undefined;
    const attributes = new Map(
      rest.map((part) => {
        const [name = "", ...value] = part.split("=");
        return [name.toLowerCase(), value.join("=")];
      }),
    );
    const maxAge = attributes.get("max-age");
    const expires = attributes.get("expires");
    let until = Infinity;
    if (expires !== undefined && !Number.isNaN(Date.parse(expires))) until = Date.parse(expires);
    const hasAge = maxAge !== undefined && /^-?\d+$/.test(maxAge);
    if (hasAge) until = this.#now() + Number(maxAge) * 1_000;
    const path = attributes.get("path") ?? "/";
    return {
      name: pair.slice(0, at),
      value: pair.slice(at + 1),
      path: path.startsWith("/") ? path : "/",
      domain: (attributes.get("domain") ?? "").replace(/^\./, "").toLowerCase(),
      secure: attributes.has("secure"),
      until,
    };
  }
}

/** The domains that a host is in, such as ".shop.example"; none of a single name. */
function domainsOf(hostname: string): string[] {
  const names = hostname.split(".");
  return names.slice(0, -1).map((_, at) => `.${names.slice(at).join(".")}`);
}

function isBelow(pathname: string, path: string): boolean {
  const folder = path.endsWith("/") ? path : `${path}/`;
  return pathname === path || pathname.startsWith(folder);
}
