/** How visitors move a place from one device to another: the two forms of the queue page. */

/** What stands behind the address of the page. */
const QUERY = "?waiting-room-place";

/**
 * Sends a form of the queue page, as a browser does, or as an app that wants JSON.
 *
 * @param {object} visitor
 * @param {object} fields of the form
 * @param {object} [request] `headers`, `isolate` or `path` where they differ
 */
export async function sendForm(visitor, fields, { path = visitor.path, ...request } = {}) {
  const headers = {
    origin: `http://${visitor.host}`,
    referer: `http://${visitor.host}${visitor.path}`,
    "content-type": "application/x-www-form-urlencoded",
    ...request.headers,
  };
  const body = new URLSearchParams(fields).toString();
  const { seen, dueAt } = visitor;
  const answer = await visitor.visit({
    ...request,
    method: "POST",
    path: `${path}${QUERY}`,
    headers,
    body,
  });
  // An answer without a page leaves the one that sent the form.
  if (answer.kind === "else") Object.assign(visitor, { seen, dueAt });
  return answer;
}

/** Sends a form as an app; returns the status and what the answer says. */
export async function askAsApp(visitor, fields, request = {}) {
  const headers = { accept: "application/json", ...request.headers };
  const { status, body } = await sendForm(visitor, fields, { ...request, headers });
  return { status, ...JSON.parse(body) };
}

/** Returns the code that a visitor gets for the place. */
export async function codeOf(visitor, request) {
  const { status, code, error } = await askAsApp(visitor, { act: "code" }, request);
  if (status !== 200) throw new Error(`no code: ${status} ${error}`);
  return code;
}

/** Gives a code; returns the status. */
export async function giveCode(visitor, code, request) {
  return (await askAsApp(visitor, { act: "take", code }, request)).status;
}
