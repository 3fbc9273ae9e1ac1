// Reads the verdicts of the wasm: `room-core/src/visit/verdict.rs` writes and describes them, and
// tests/golden/verdicts.json pins every form for both.

/** What stands between the head and the body of a page. */
const HEAD_END = "\n\n";
/** The most frequent verdict, decoded once: the request goes to the origin as it came. */
const PASS = {
  kind: "forward",
  after: false,
  url: null,
  cookies: null,
  setCookie: null,
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
      return forward(text, after);
    case "G":
      return respond("respond", text, after);
    case "W":
      return respond("stream", text, after);
    case "D":
      return respond("describe", text, after);
    case "E":
      return respond("examine", text, after);
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

/** Decodes U and O, or one or none of them, and then P, C or S. Only the first can be small. */
function forward(text, after) {
  let rest = text[0].toUpperCase() + text.slice(1);
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
  return { kind: "forward", after, url, cookies, setCookie, heedsCommands };
}

function respond(kind, text, after) {
  const end = text.indexOf(HEAD_END);
  const [status, ...lines] = text.slice(1, end).split("\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(": ");
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
  return { kind, after, status: Number(status), headers, body: text.slice(end + HEAD_END.length) };
}
