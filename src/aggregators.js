// The objects of the aggregators' class, as RPC targets: an aggregator, and the log of a room.

/** The object that keeps the log of a room: one of this class, in no data center. */
export function logOf(env, room) {
  return objectOf(env, `${room}/log`);
}

/** The object of this name. */
export function objectOf(env, name) {
  const { DATA_CENTER_AGGREGATOR: own, JURISDICTION: within } = env;
  return (within ? own.jurisdiction(within.trim()) : own).getByName(name);
}
