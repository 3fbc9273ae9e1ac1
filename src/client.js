// Who asks, and from where: the only door to what the platform tells about a client. On Cloudflare
// it tells that in a header and in properties that no client can set; `own_machines.js` says how it
// is told elsewhere.

/** The header in which Cloudflare tells the client's address: it replaces one of the client. */
const ADDRESS_HEADER = "cf-connecting-ip";
/** The code that stands for the data center if the platform does not tell it. */
const UNKNOWN_COLO = "ZZZ";

let teller = {
  address: ({ headers }) => headers.get(ADDRESS_HEADER) ?? "",
  properties: ({ cf }) => cf,
  tells: () => true,
  colo: ({ cf }) => cf?.colo,
};

/** The address of the client, "" if it is not known. It is personal data: nobody keeps it. */
export function clientAddress(request) {
  return teller.address(request);
}

/** What else is told of the request, as Cloudflare's `request.cf`; nothing, if nothing is. */
export function clientProperties(request) {
  return teller.properties(request);
}

/** Whether such a property, by its path, is told; a rule that asks for another matches nobody. */
export function clientTells(request, path) {
  return teller.tells(request, path);
}

/** The data center that answers the request, in three letters; `undefined` if nothing tells it. */
export function toldColo(request) {
  return teller.colo(request);
}

/** The same for objects, which need one. */
export function coloOf(request) {
  return toldColo(request) ?? UNKNOWN_COLO;
}

/**
 * Lets all of it be told in another way, from now on.
 *
 * @param {object} other
 * @param {(request: Request) => string} other.address
 * @param {(request: Request) => object | undefined} other.properties
 * @param {(request: Request, path: string) => boolean} other.tells
 * @param {(request: Request) => string} other.colo
 */
export function tellBy(other) {
  teller = other;
}
