// The hosts of rooms. It needs nothing of Node: the cockpit's bundle has it, too.

/** Names the hosts of rooms, each once. */
export function hostsOf(rooms) {
  const routes = rooms.flatMap((room) => [room, ...(room.additional_routes ?? [])]);
  return [...new Set(routes.map(({ host }) => host.toLowerCase()))];
}
