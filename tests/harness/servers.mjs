/**
 * Models of how servers read the path of a request before they look for what to serve, from their
 * documentation and known attacks. Each takes a path as it was sent and returns the path that it
 * serves, or `undefined` where it refuses.
 */

const slashes = (path) => path.replace(/\/+/g, "/");
const backslashes = (path) => path.replaceAll("\\", "/");
const withoutParameters = (path) => path.replace(/;[^/]*/g, "");
const lower = (path) => path.toLowerCase();
/** As Windows opens files: without dots and spaces at the end of a name. */
const fileNames = (path) =>
  path
    .split("/")
    .map((name) => (/^\.+$/.test(name) ? name : name.replace(/[. ]+$/, "")))
    .join("/");
const upToZero = (path) => path.split("\0")[0];
const upToLine = (path) => path.split(/[\r\n]/)[0];
/** As parsers of URLs for browsers do, here with the other control characters. */
const withoutControls = (path) =>
  [...path.replace(/\xc2[\x80-\x9f]/g, "")]
    .filter((one) => one >= " " && one !== "\x7f")
    .join("");
/** As `trim()` of most languages: white space of Unicode, here as the bytes of UTF-8. */
const BLANKS =
  "(?:[\\0-\\x20\\x7f]|\\xc2[\\x80-\\xa0]|\\xe1\\x9a\\x80|\\xe2\\x80[\\x80-\\x8b\\xa8\\xa9\\xaf]|" +
  "\\xe2\\x81\\x9f|\\xe3\\x80\\x80|\\xef\\xbb\\xbf)+";
const trimmed = (text) =>
  text.replace(new RegExp(`^${BLANKS}`), "").replace(new RegExp(`${BLANKS}$`), "");
const trimmedPath = (path) => `/${trimmed(path.slice(1))}`;
const trimmedNames = (path) => path.split("/").map(trimmed).join("/");
/** As decoders that leave out what is no UTF-8. */
const withoutBroken = (path) =>
  path.replace(
    /([\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})|[\x80-\xff]/g,
    "$1",
  );
/** As decoders that leave out a `%` that encodes nothing. */
const withoutStray = (path) => path.replace(/%(?![0-9a-f]{2})/gi, "");
/** Some letters have a plain one as their other case. */
const otherCase = (path) => path.replaceAll("\xe2\x84\xaa", "k").replaceAll("\xc5\xbf", "s");
const upToQuery = (path) => path.split(/[?#]/)[0];

/** Decodes `%2f`; what is no encoding stays as it is. Characters stand for bytes. */
const decoded = (path) =>
  path.replace(/%([0-9a-f]{2})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
/** Decodes `%u002f` too. */
const wideDecoded = (path) =>
  decoded(
    path.replace(/%u([0-9a-f]{4})/gi, (_, digits) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    ),
  );
/** Reads ASCII that takes more bytes of UTF-8 than it needs, as decoders without checks do. */
const overlong = (path) =>
  path
    .replace(/[\xc0\xc1][\x80-\xbf]/g, ([a, b]) => character(a.charCodeAt(0) & 0x1f, b))
    .replace(/\xe0[\x80\x81][\x80-\xbf]/g, ([, b, c]) => character(b.charCodeAt(0) & 0x3f, c))
    .replace(/\xf0\x80[\x80\x81][\x80-\xbf]/g, ([, , b, c]) =>
      character(b.charCodeAt(0) & 0x3f, c),
    );
const character = (high, low) => String.fromCharCode((high << 6) | (low.charCodeAt(0) & 0x3f));
/** Takes wide letters for plain ones, as conversions to an older character set do. */
const bestFit = (path) =>
  path.replace(/\xef[\xbc\xbd][\x80-\xbf]/g, ([, b, c]) => {
    const point = 0xf000 | ((b.charCodeAt(0) & 0x3f) << 6) | (c.charCodeAt(0) & 0x3f);
    return point > 0xff00 && point < 0xff5f ? String.fromCharCode(point - 0xfee0) : "?";
  });

/** Follows `.` and `..`; `undefined` if the path climbs out. */
function resolved(path) {
  const names = [];
  for (const name of path.split("/").slice(1)) {
    if (name === "..") {
      if (names.length === 0) return undefined;
      names.pop();
    } else if (name !== ".") names.push(name);
  }
  return `/${names.join("/")}`;
}

/** As parsers of whole URLs do: what follows two separators is a host. */
function withoutHost(path) {
  try {
    return new URL(path, "http://a").pathname;
  } catch {
    return undefined;
  }
}
/** As Python's `urlsplit` and PHP's `parse_url` do: just two slashes, and `;` is of the path. */
const afterHost = (path) => path.replace(/^\/\/[^/]*/, "") || "/";
/** A gateway that resolves what follows the slash against its base. */
const withoutFirstSlash = (path) => withoutHost(path.slice(1));
/** A gateway that cuts off its own name and resolves what follows against another server's base. */
function restAtBase(path) {
  try {
    return new URL(path.replace(/^\/[^/]*\//, ""), "http://a/base/").pathname;
  } catch {
    return undefined;
  }
}
/** ASP.NET takes out a session that is not in a cookie. */
const withoutSessions = (path) => path.replace(/\/\((?:[a-z]\([^)]*\))+\)(?=\/|$)/gi, "");

/** Refuses what a pattern finds. */
const refusing = (pattern) => (path) => (pattern.test(path) ? undefined : path);

/** The steps of each server, in their order. */
export const SERVERS = {
  "as it was sent": [],
  nginx: [decoded, refusing(/\0/), slashes, resolved],
  "nginx without merge_slashes": [decoded, refusing(/\0/), resolved],
  "Apache httpd": [refusing(/%2f|%00/i), decoded, slashes, resolved],
  "Apache httpd, encoded slashes allowed": [decoded, refusing(/\0/), slashes, resolved],
  IIS: [wideDecoded, bestFit, backslashes, slashes, resolved, fileNames, lower],
  "IIS of old": [wideDecoded, overlong, decoded, backslashes, slashes, resolved, fileNames, lower],
  Tomcat: [withoutParameters, refusing(/%2f|%5c|\\/i), decoded, slashes, resolved],
  "Tomcat of old": [decoded, overlong, withoutParameters, backslashes, slashes, resolved],
  Jetty: [withoutParameters, resolved, decoded, slashes, resolved],
  "Spring behind nginx": [decoded, resolved, withoutParameters, decoded, slashes, resolved],
  Express: [resolvedUrl, decoded, lower],
  "Express behind nginx": [decoded, slashes, resolved, decoded, lower],
  "Node with new URL(url, base)": [withoutHost, decoded],
  "Node with new URL(url, base) behind a decoder": [decoded, withoutHost],
  "Node with new URL(url, base) behind Tomcat": [withoutParameters, decoded, withoutHost],
  "Python's urlsplit": [afterHost, decoded, slashes, resolved],
  "Python's urlsplit behind a server that resolves dots": [decoded, resolved, afterHost, slashes],
  "gateway that resolves the path against its base": [withoutFirstSlash, decoded],
  "gateway that cuts off its name and resolves the rest": [restAtBase, decoded],
  "gateway of that kind behind a decoder": [decoded, restAtBase],
  "ASP.NET with sessions in the path": [decoded, withoutSessions, slashes, resolved, lower],
  "Go net/http": [decoded, slashes, resolved],
  "Ruby behind three decoders": [decoded, decoded, decoded, slashes, resolved],
  "C program that reads to a zero": [decoded, upToZero, slashes, resolved],
  "PHP that parses the path again": [decoded, upToQuery, slashes, resolved],
  "framework that trims the path": [decoded, trimmedPath, slashes, resolved],
  "framework that trims each name": [decoded, trimmedNames, slashes, resolved],
  "parser of URLs behind a decoder": [decoded, withoutControls, slashes, resolved],
  "reader of lines": [decoded, upToLine, slashes, resolved],
  "decoder that leaves out what is no UTF-8": [decoded, withoutBroken, slashes, resolved],
  "decoder that leaves out a stray %": [withoutStray, decoded, slashes, resolved],
  "names in the other case": [decoded, slashes, resolved, otherCase, lower],
  "Windows files behind nginx": [decoded, slashes, resolved, backslashes, fileNames, lower],
};

/** As the URL standard of browsers and Node reads a path. */
function resolvedUrl(path) {
  return new URL(`http://a${path.replaceAll("\\", "/")}`).pathname;
}

/** Names the servers that serve a path as `page` or something below it. */
export function reachedBy(path, page) {
  const target = path.split("?")[0];
  return Object.entries(SERVERS)
    .filter(([, steps]) => {
      const read = (served, step) => (served === undefined ? undefined : step(served));
      const served = steps.reduce(read, target);
      return served !== undefined && `${served}/`.startsWith(`${page}/`);
    })
    .map(([name]) => name);
}
