// The objects of rooms and the registry as RPC targets, for what JavaScript asks them itself;
// `platform/objects.rs` has the way of the wasm.

/** The name of the registry, of which there is one. */
const REGISTRY = "registry";

/** The registry's object. */
export const registryOf = (env) => stubOf(env, env.REGISTRY, REGISTRY);

/** The id of the registry's object, which another deployment does not share. */
export const registryIdOf = (env) => env.REGISTRY.idFromName(REGISTRY);

/** The object that keeps the log of a room: one of the aggregators' class, in no data center. */
export const logOf = (env, room) => aggregatorOf(env, `${room}/log`);

/** The object that owns the slots and the order of a room. */
export const globalOf = (env, room) => stubOf(env, env.GLOBAL_AGGREGATOR, room);

/** The object of this name of the aggregators' class. It begins near whoever asks first. */
export function aggregatorOf({ JURISDICTION, DATA_CENTER_AGGREGATOR }, name) {
  return stubOf({ JURISDICTION }, DATA_CENTER_AGGREGATOR, name);
}

/** An object of a class, which stays where the variables of the deployment say. */
export function stubOf({ JURISDICTION: within, LOCATION_HINT: hint }, namespace, name) {
  const all = within ? namespace.jurisdiction(within.trim()) : namespace;
  return all.getByName(name, hint ? { locationHint: hint.trim() } : {});
}
