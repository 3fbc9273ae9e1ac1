// How much of the plan is used, where the owner gave a token for that: asked of Cloudflare by the
// cron trigger, kept in the registry's object, and told to webhooks. No visit comes by here, and
// what fails here is told in health and disturbs nothing. Do not log the token.
import { WIRE_VERSION } from "../build/worker/gen/constants.js";
import { registryOf, stubOf } from "./objects.js";

/** Where Cloudflare answers questions about an account. */
const URL_OF_CLOUDFLARE = "https://api.cloudflare.com/client/v4/graphql";
/** How long its answer may take, in milliseconds. */
const LIMIT_MS = 10_000;
/** Beside the registry's own tables: versions without it never read it. */
const TABLE = "CREATE TABLE IF NOT EXISTS usage (one INTEGER PRIMARY KEY, state TEXT NOT NULL)";
const WRITE = "INSERT OR REPLACE INTO usage (one, state) VALUES (1, ?)";

// As all of `webhooks/` it is loaded when it is needed: visits never run it.
const load = async () => await import("../webhooks/quota.js");

/** Whether the owner wants to know it. */
export function isWanted({ USAGE_TOKEN: token, ACCOUNT_ID: account }) {
  return Boolean(token && account);
}

/** Asks Cloudflare once, keeps what it says, and lets webhooks tell what is new. */
export async function checkUsage(env) {
  if (!isWanted(env)) return;
  try {
    const found = await asked(env);
    const { notices, rooms } = JSON.parse(await registryOf(env).usage(JSON.stringify(found)));
    const tell = (notice) => rooms.map((room) => told(env, room, notice));
    await Promise.all(notices.flatMap(tell));
  } catch (error) {
    console.error(`the use of the plan is not known: ${error}`);
  }
}

/** What was kept last, as the API tells it; nothing where nobody wants to know. */
export async function lastUsage(env) {
  if (!isWanted(env)) return;
  try {
    return JSON.parse(await registryOf(env).usage(""));
  } catch (error) {
    return { checked_at: null, problem: String(error), parts: [] };
  }
}

/** In the registry's object: keeps what was found, or tells what is kept ("" for `found`). */
export async function keptUsage({ storage: { sql } }, env, found) {
  const quota = await load();
  const plan = quota.planOf(env.USAGE_PLAN);
  sql.exec(TABLE);
  const [row] = sql.exec("SELECT state FROM usage").toArray();
  const state = JSON.parse(row?.state ?? "{}");
  if (!found) return JSON.stringify(shown(state, plan, quota));
  const { used, problem = null, now } = JSON.parse(found);
  const { told: next = state.told, notices = [] } = used
    ? quota.toldOf(state.told, plan, used, now)
    : {};
  const known = used ? { used, known_at: now } : { used: state.used, known_at: state.known_at };
  sql.exec(WRITE, JSON.stringify({ ...known, told: next, tried_at: now, problem }));
  const rooms = notices.length > 0 ? roomsTold(sql) : [];
  return JSON.stringify({ notices, rooms });
}

function shown({ used, known_at: at, tried_at: tried, problem }, plan, quota) {
  const [then, now] = [at ?? 0, Date.now()].map((moment) => quota.periodAt(plan, moment));
  return {
    period: plan.period,
    checked_at: at ? new Date(at).toISOString() : null,
    tried_at: tried ? new Date(tried).toISOString() : null,
    problem: problem ?? null,
    parts: used && then === now ? quota.parts(plan, used) : [],
  };
}

/** The rooms of which a webhook is told: the registry holds them in a table of its own. */
function roomsTold(sql) {
  const [table] = sql.exec("SELECT name FROM sqlite_master WHERE name = 'webhooks'").toArray();
  if (!table) return [];
  const hooks = sql.exec("SELECT value FROM webhooks").toArray();
  const all = hooks.map(({ value }) => JSON.parse(value));
  const wanted = all.filter(({ fields }) => fields.enabled && fields.topics.includes("quota"));
  return [...new Set(wanted.map(({ room }) => room))];
}

async function asked(env) {
  const { planOf, question, usedIn } = await load();
  const now = Date.now();
  try {
    const answer = await fetch(env.USAGE_URL?.trim() || URL_OF_CLOUDFLARE, {
      method: "POST",
      headers: {
        authorization: `Bearer ${env.USAGE_TOKEN.trim()}`,
        "content-type": "application/json",
      },
      body: question(env.ACCOUNT_ID.trim(), planOf(env.USAGE_PLAN), now),
      signal: AbortSignal.timeout(LIMIT_MS),
      redirect: "manual",
    });
    if (answer.status !== 200) {
      await answer.body?.cancel();
      throw new Error(`Cloudflare answers with status ${answer.status}`);
    }
    return { used: usedIn(await answer.text()), now };
  } catch (error) {
    return { problem: error.message, now };
  }
}

/** Lets the webhooks of a room tell something; its object sends it, and again if that fails. */
async function told(env, room, notice) {
  const message = { v: WIRE_VERSION, m: { webhooks: `quota ${JSON.stringify(notice)}` } };
  const object = stubOf(env, env.GLOBAL_AGGREGATOR, room);
  const logged = (error) => console.error(`webhooks: ${error}`);
  await object.call(JSON.stringify(message)).catch(logged);
}
