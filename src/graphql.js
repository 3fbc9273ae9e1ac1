// `/_waiting-room/client/v4/graphql`: questions about what happened in rooms, as Cloudflare's
// clients ask them. Like the metrics it makes the calls of the API that an owner would make, with
// the credentials of the request: the wasm decides who may.

/** Where it stands, below a host of owners. */
export const GRAPHQL_PATH = "/_waiting-room/client/v4/graphql";
/** The longest body of a question, in bytes: a client's introspection has about 2,000. */
export const QUESTION_BYTES_MAX = 32 * 1_024;
const API = "/_waiting-room/client/v4/";
const ROOMS = "accounts/all/waiting_rooms?per_page=1000";
/** What an error says that is of a zone that this deployment has not. */
const FOREIGN = "authz";
const HEADERS = [
  ["content-type", "application/json"],
  ["cache-control", "private, no-store"],
];

/**
 * Returns the verdict that answers a question. `ask(path)` makes a call of the API below `url` with
 * the credentials of the request, and returns its verdict; `readBody()` reads the request's body.
 */
export async function graphql(url, method, ask, readBody) {
  const call = (path) => ask(new URL(API + path, url).href);
  // First who asks: nobody without a token has a body read.
  const list = await call(`${ROOMS}&page=1`);
  if (list.status !== 200) {
    const wait = list.headers.filter(([name]) => name === "retry-after");
    return told(list.status === 403 ? 401 : list.status, refusal(messageOf(list)), wait);
  }
  if (method !== "POST") {
    return told(405, refusal("A question is sent by POST."), [["allow", "POST"]]);
  }
  const body = await readBody();
  if (body.length > QUESTION_BYTES_MAX) {
    return told(413, refusal(`The body is longer than ${QUESTION_BYTES_MAX} bytes.`));
  }
  const question = questionIn(body);
  if (!question) return told(400, refusal("The body must be JSON with a text called query."));
  const read = async (path) => {
    const answer = await call(path);
    if (answer.status !== 200) throw new Error(messageOf(answer));
    return JSON.parse(answer.body).result;
  };
  // A module of its own: visits never run it.
  const { answer } = await import("../build/analytics/analytics.js");
  const { result, result_info: info } = JSON.parse(list.body);
  const rooms = [...result];
  for (let page = 2; page <= info.total_pages; page += 1) {
    rooms.push(...(await read(`${ROOMS}&page=${page}`)));
  }
  const answered = await answer(question, rooms, read);
  const isForeign = answered.errors?.some(({ extensions }) => extensions.code === FOREIGN);
  return told(isForeign ? 403 : 200, answered);
}

/** Returns `{ query, variables, operationName }`; nothing for a body that is none. */
function questionIn(body) {
  try {
    const { query, variables, operationName } = JSON.parse(new TextDecoder().decode(body));
    const isNamed = typeof (operationName ?? "") === "string";
    const hasValues = typeof (variables ?? {}) === "object" && !Array.isArray(variables);
    const isQuestion = typeof query === "string" && isNamed && hasValues;
    return isQuestion ? { query, variables, operationName } : undefined;
  } catch {
    return undefined;
  }
}

/** The sentences of a refusal of the API. */
function messageOf({ body }) {
  return JSON.parse(body).errors.map(({ message }) => message).join(" ");
}

function refusal(message) {
  const extensions = { timestamp: new Date().toISOString() };
  return { data: null, errors: [{ message, path: null, extensions }] };
}

function told(status, answer, more = []) {
  const headers = [...HEADERS, ...more];
  return { kind: "respond", after: false, status, headers, body: JSON.stringify(answer) };
}
