// Reads the verdicts of the wasm: `room-core/src/visit/verdict.rs` writes and describes them, and
// tests/golden/verdicts.json pins every form for both.

/** What stands between the head and the body of a page. */
const HEAD_END = "\n\n";
/** What stands before the first cookie in a head. */
const COOKIE_BEGIN = "\nset-cookie: ";
const NO_COOKIES = [];
/** How many heads are remembered: rooms, languages and intervals make some dozens. */
const HEADS_MAX = 128;
/** The heads that were read last, by their text. */
const heads = new Map();
/** The most frequent verdict, decoded once: the request goes to the origin as it came. */
const PASS = {
  kind: "forward",
  after: false,
  url: null,
  cookies: null,
  setCookie: null,
  session: null,
  heedsCommands: false,
};

/**
 * Decodes a verdict: its `kind`, whether `after` must be called, and what belongs to the kind.
 *
 * @param {string} text
 */
export function decode(text) {
  if (text === "P") return PASS;
  const letter = text[0] ?? "F";
  const after = letter >= "a";
  switch (letter.toUpperCase()) {
    case "P":
    case "C":
    case "S":
    case "O":
    case "U":
    case "T":
      return forward(text, after);
    case "G":
      return respond("respond", text, after);
    case "W":
      return respond("stream", text, after);
    case "D":
      return respond("describe", text, after);
    case "E":
      return respond("examine", text, after);
    case "L":
      return log(text, after);
    case "B":
      return { kind: "read-body", after: false, atMostBytes: Number(text.slice(1)) };
    case "M":
      return { kind: "manage", after: false };
    case "H":
      return { kind: "handle", after: false };
    default:
      return { kind: "undecided", after };
  }
}

/**
 * Decodes what an open event stream tells next: the events, whether it goes on, and whether
 * `after` must be called.
 *
 * @param {string} text
 */
export function decodeStreamStep(text) {
  const letter = text[0];
  return { events: text.slice(1), goesOn: letter === "W" || letter === "w", after: letter >= "a" };
}

/** Decodes any of T, U and O in this order, and then P, C or S. Only the first can be small. */
function forward(text, after) {
  let rest = text[0].toUpperCase() + text.slice(1);
  let session = null;
  if (rest[0] === "T") {
    const end = rest.indexOf("\n");
    session = rest.slice(1, end);
    rest = rest.slice(end + 1);
  }
  let url = null;
  if (rest[0] === "U") {
    const end = rest.indexOf("\n");
    url = rest.slice(1, end);
    rest = rest.slice(end + 1);
  }
  const heedsCommands = rest[0] === "O";
  if (heedsCommands) rest = rest.slice(1);
  let cookies = null;
  let setCookie = null;
  if (rest[0] === "C") setCookie = rest.slice(1);
  if (rest[0] === "S") {
    const end = rest.indexOf("\n");
    cookies = rest.slice(1, end);
    setCookie = rest.slice(end + 1) || null;
  }
  return { kind: "forward", after, url, cookies, setCookie, session, heedsCommands };
}

/** Decodes a request for the log of a room's admissions. */
function log(text, after) {
  const [room, host, readers, visitor, path] = text.slice(1).split("\n");
  return { kind: "log", after, room, host, isPublic: readers === "public", visitor, path };
}

/**
 * Decodes a page. What stands before its cookies is the same for many visitors, so it is read once
 * and is the same object for all: `headers`. `cookies` are the lines from the first cookie on.
 */
function respond(kind, text, after) {
  const end = text.indexOf(HEAD_END);
  const head = text.slice(1, end);
  const cut = head.indexOf(COOKIE_BEGIN);
  const { status, headers } = common(cut < 0 ? head : head.slice(0, cut));
  const cookies = cut < 0 ? NO_COOKIES : head.slice(cut + 1).split("\n").map(pair);
  return { kind, after, status, headers, cookies, body: text.slice(end + HEAD_END.length) };
}

/** Reads the status and the headers that many answers have in common. */
function common(head) {
  let known = heads.get(head);
  if (!known) {
    const [status, ...lines] = head.split("\n");
    known = { status: Number(status), headers: lines.map(pair) };
    if (heads.size >= HEADS_MAX) heads.clear();
    heads.set(head, known);
  }
  return known;
}

function pair(line) {
  const colon = line.indexOf(": ");
  return [line.slice(0, colon), line.slice(colon + 2)];
}
