// The zones of a deployment, with the names of their domains where they are known.
import { useEffect, useState } from "preact/hooks";

/**
 * The zones of the deployment and those that have rooms: `[{ value, label }]`; nothing until known.
 */
export function useZones(session, rooms) {
  const [zones, set] = useState();
  useEffect(() => {
    const ofRooms = rooms.map(({ zone_id: id }) => [id, id]);
    const show = (told) => {
      const all = Object.entries({ ...Object.fromEntries(ofRooms), ...told });
      set(all.map(([value, label]) => ({ value, label })));
    };
    // A token for some rooms is not told of the whole deployment.
    if (session.isScoped) return show({});
    const ask = session.call("GET", "waiting_rooms/doctor");
    ask.then(({ variables }) => show(namesOf(variables.zones)), () => show({}));
  }, []);
  return zones;
}

/** Reads the variable ZONES: `id=domain`, comma-separated. */
function namesOf(variable) {
  const pairs = variable.split(",").map((entry) => entry.split("=").map((word) => word.trim()));
  return Object.fromEntries(pairs.filter(([id]) => id).map(([id, name]) => [id, name ?? id]));
}
