// Checks the signature of an invitation that the owner has signed. The platform has Ed25519, so the
// wasm need not have it.

const HOW = { name: "Ed25519" };

/**
 * Whether a text is signed by the private key of this public one.
 *
 * @param {Uint8Array} key 32 bytes
 * @param {string} text
 * @param {Uint8Array} signature 64 bytes
 * @returns {Promise<boolean>} false also for a key that is none
 */
export async function isSigned(key, text, signature) {
  try {
    const known = await crypto.subtle.importKey("raw", key, HOW, false, ["verify"]);
    return await crypto.subtle.verify(HOW, known, signature, new TextEncoder().encode(text));
  } catch {
    return false;
  }
}
