// Tells the name of a domain as servers know it: the platform has the tables for that, the wasm
// has no room for them.

/**
 * Returns a domain in ASCII, `xn--bcher-kva.example` for `bücher.example`; as it is where that
 * cannot be.
 *
 * @param {string} domain
 */
export function domainInAscii(domain) {
  const url = `http://${domain}`;
  return URL.canParse(url) ? new URL(url).hostname : domain;
}
