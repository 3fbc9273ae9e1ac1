// The way to `webhooks/`, a module that is loaded when a room has its first webhook: visits never
// run it, and rooms without webhooks never load it.

const TABLE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'webhooks'";

const load = async () => await import("../webhooks/main.js");

/** Lets webhooks see a room as `sight` (JSON) says; it waits for nothing. */
export function look(context, env, sight) {
  const looked = load().then((webhooks) => webhooks.look(context, env, JSON.parse(sight)));
  context.waitUntil(looked.catch(logged));
}

/** Answers an owner about the webhooks of a room, in JSON; nothing if that fails. */
export async function answer(context, env, sight, request) {
  try {
    const webhooks = await load();
    return webhooks.answer(context, env, JSON.parse(sight), request);
  } catch (error) {
    logged(error);
  }
}

/**
 * Does what an alarm was set for, in an object with webhooks. `call(message)` is a call of the
 * object itself.
 */
export async function onAlarm(context, env, call) {
  const { sql } = context.storage;
  const hasTable = sql.exec(TABLE).toArray().length > 0;
  if (!hasTable || sql.exec("SELECT 1 FROM webhooks").toArray().length === 0) return;
  const webhooks = await load();
  await webhooks.onAlarm(context, env, call);
}

const logged = (error) => console.error(`webhooks: ${error}`);
