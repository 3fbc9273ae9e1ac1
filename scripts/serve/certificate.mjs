// Tries a certificate and its key before workerd gets them, which would end with a wrong pair.
import { X509Certificate, createPrivateKey } from "node:crypto";
import fs from "node:fs";

const CERTIFICATES = /-----BEGIN [A-Z0-9 ]*CERTIFICATE-----[^]*?(?=-----BEGIN|$)/g;

/**
 * Looks at what workerd is to serve HTTPS with. Returns a `problem` with which it cannot, and a
 * `warning` where browsers refuse it; each is "" if there is none.
 *
 * @param {object} tls
 * @param {string} tls.cert the file of the chain
 * @param {string} tls.key the file of the private key
 */
export function examinePair({ cert, key }) {
  try {
    const chain = tried(`${cert} cannot be read`, () => fs.readFileSync(cert, "utf8"));
    const secret = tried(`${key} cannot be read`, () => fs.readFileSync(key));
    const [own] = tried(`${cert} is no certificate chain in PEM`, () => certificatesIn(chain));
    const privateKey = tried(`${key} is no private key in PEM without a password`, () =>
      // With an empty password nobody is asked for one at a terminal.
      createPrivateKey({ key: secret, passphrase: "" }),
    );
    const isPair = own.checkPrivateKey(privateKey);
    const problem = isPair ? "" : "the certificate and the key do not belong together";
    return { problem, warning: expiryWarning(cert, own) };
  } catch ({ message }) {
    return { problem: message, warning: "" };
  }
}

function tried(complaint, make) {
  try {
    return make();
  } catch ({ code, message }) {
    throw new Error(`${complaint} (${code ?? message})`);
  }
}

/** All certificates of a chain, the site's own first. One that is cut off is an error. */
function certificatesIn(chain) {
  return (chain.match(CERTIFICATES) ?? [chain]).map((text) => new X509Certificate(text));
}

function expiryWarning(file, { validTo }) {
  if (Date.parse(validTo) > Date.now()) return "";
  return `the certificate ${file} has expired (${validTo}): browsers refuse it.`;
}
