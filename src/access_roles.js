// What owners say of Cloudflare Access: the variables ACCESS_TEAM, ACCESS_AUD and ACCESS_ROLES, and
// what a person may by them. It has no effects.

const TEAM = /^[a-z0-9-]+$/;
const AUDIENCE = /^[\w-]{16,128}$/;
const ID = /^[0-9a-f]{32}$/;
const ROLES = ["look", "steer", "manage", "admin"];
/** The word in ACCESS_ROLES for who may nothing, though Access lets them in. */
const NOTHING = "none";
/** The entry of ACCESS_ROLES for everybody else. */
const OTHERS = "*";
/** Access' address may be that of a stand-in on this machine. */
const LOCAL = /^http:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?$/;

/**
 * Reads the variables: `{ team, audiences, roles, problems }`, with the address of the team, the
 * entries of ACCESS_ROLES by what they are for, and sentences for the owner. With problems of the
 * first two nobody is signed in; an entry that is wrong gives nothing to whom it is for.
 */
export function settingsOf({ ACCESS_TEAM = "", ACCESS_AUD = "", ACCESS_ROLES = "" }) {
  const problems = [];
  const team = addressOf(ACCESS_TEAM.trim().toLowerCase());
  if (!team) problems.push("ACCESS_TEAM must be your team's name, or its https address");
  const audiences = ACCESS_AUD.split(",").map((tag) => tag.trim()).filter(Boolean);
  if (audiences.length === 0 || !audiences.every((tag) => AUDIENCE.test(tag))) {
    problems.push("ACCESS_AUD must be the AUD tag of the Access application");
  }
  const roles = rolesIn(ACCESS_ROLES.trim() || "{}", problems);
  return { team, audiences, roles, problems };
}

function addressOf(text) {
  if (TEAM.test(text)) return `https://${text}.cloudflareaccess.com`;
  const address = text.includes("://") ? text : `https://${text}`;
  const url = URL.parse(address);
  if (!url || url.pathname !== "/" || url.search || url.username || !url.hostname.includes(".")) {
    return LOCAL.test(text) ? text : undefined;
  }
  return url.protocol === "https:" || LOCAL.test(url.origin) ? url.origin : undefined;
}

function rolesIn(text, problems) {
  const wrong = "ACCESS_ROLES must be a JSON object";
  try {
    const read = JSON.parse(text);
    if (read === null || typeof read !== "object" || Array.isArray(read)) throw new Error(wrong);
    return new Map(
      Object.entries(read).map(([name, said]) => {
        const rights = rightsIn(said);
        if (!rights) problems.push(`ACCESS_ROLES: the entry "${name}" cannot be read`);
        // Addresses and names of service tokens are the same in any case, names of groups are not.
        const key = name.startsWith("group:") ? name : name.toLowerCase();
        return [key, rights ?? { role: NOTHING }];
      }),
    );
  } catch {
    problems.push(wrong);
    return undefined;
  }
}

/** Reads `"look"`, or `{ role, zones, rooms }`; nothing for anything else. */
function rightsIn(said) {
  const { role, zones, rooms, ...rest } = typeof said === "string" ? { role: said } : (said ?? {});
  if (![...ROLES, NOTHING].includes(role) || Object.keys(rest).length > 0) return undefined;
  for (const ids of [zones, rooms]) {
    const isList = Array.isArray(ids) && ids.every((id) => typeof id === "string" && ID.test(id));
    if (ids !== undefined && !isList) return undefined;
  }
  if ((zones || rooms) && [...(zones ?? []), ...(rooms ?? [])].length === 0) return undefined;
  return { role, zones, rooms };
}

/**
 * What a person may: `{ role, zones, rooms }`; nothing for nothing. The entry of the person counts,
 * else the first of a group, else that for all others, else looking.
 */
export function rightsOf({ name, isService, groups }, roles) {
  if (!roles) return undefined;
  const isOfGroup = (key) => key.startsWith("group:") && groups.includes(key.slice(6));
  const own = isService ? `token:${name}` : name;
  // An address that looks like another kind of entry is nobody's.
  const isOwn = isService || !/^(?:token|group):/.test(name);
  const ofGroup = [...roles.keys()].find(isOfGroup);
  const entry = [isOwn ? own : "", ofGroup, OTHERS].find((key) => roles.has(key));
  const rights = entry === undefined ? { role: "look" } : roles.get(entry);
  return rights.role === NOTHING ? undefined : rights;
}
