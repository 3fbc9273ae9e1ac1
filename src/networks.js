// Networks of addresses, to know a proxy by its peer: `192.0.2.0/24`, `2001:db8::/32`, or one
// address. Pure.

/** The bits of an address; one of IPv4 stands in the last 32, below `::ffff:0:0/96`. */
const BITS = 128;
const BITS_V4 = 32;
const V4_IN_V6 = 0xffffn << 32n;
const V4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

/**
 * Reads networks, comma-separated. Throws an error that names the first that is none.
 *
 * @param {string} text
 * @returns {{ bits: bigint, length: number }[]}
 */
export function networksIn(text) {
  return text.split(",").map((one) => one.trim()).filter(Boolean).map(network);
}

/** Whether an address is in one of the networks; false for what is no address. */
export function isIn(networks, address) {
  const bits = bitsOf(address);
  if (bits === undefined) return false;
  return networks.some((one) => top(bits, one.length) === top(one.bits, one.length));
}

function network(text) {
  const [address, given, ...more] = text.split("/");
  const bits = bitsOf(address);
  const most = V4.test(address) ? BITS_V4 : BITS;
  const length = given === undefined ? most : Number(given);
  const fits = /^\d{1,3}$/.test(given ?? "0") && length <= most;
  if (bits === undefined || more.length > 0 || !fits) {
    throw new Error(`"${text}" is no address, and no network like 192.0.2.0/24`);
  }
  return { bits, length: BITS - most + length };
}

function top(bits, length) {
  return bits >> BigInt(BITS - length);
}

/** The bits of an address; `undefined` for what is none. */
function bitsOf(text) {
  const v4 = V4.exec(text);
  if (v4) {
    const parts = v4.slice(1).map(Number);
    if (parts.some((part) => part > 255)) return undefined;
    return V4_IN_V6 | joined(parts, 8n);
  }
  if (!text.includes(":") || !URL.canParse(`http://[${text}]/`)) return undefined;
  // It writes every address in the one short form, without a part of IPv4.
  const short = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  const [before, behind] = short.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = behind ? new Array(8 - before.length - behind.length).fill("0") : [];
  const parts = [...before, ...zeros, ...(behind ?? [])];
  return joined(parts.map((part) => Number.parseInt(part, 16)), 16n);
}

function joined(parts, bits) {
  return parts.reduce((all, part) => (all << bits) | BigInt(part), 0n);
}
