// The hosts of rooms. It needs nothing of Node: the cockpit's bundle has it, too.

/** Names the hosts of rooms, each once. What is no host is left out: the Worker names it. */
export function hostsOf(rooms) {
  const routes = rooms.flatMap((room) => [room, room?.additional_routes].flat());
  const hosts = routes.map((route) => route?.host).filter((host) => typeof host === "string");
  return [...new Set(hosts.map((host) => host.toLowerCase()))];
}
