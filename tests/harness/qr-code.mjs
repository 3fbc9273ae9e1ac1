/** Reads QR codes from a screen as a camera does. */

import jsQR from "jsqr";

/**
 * Returns the text of the QR code that a page shows at a place, or undefined: dark on light alone,
 * since many cameras read nothing else.
 *
 * @param {import("playwright-core").Locator} locator
 */
export async function readQrCode(locator) {
  const picture = await locator.screenshot();
  const reader = await locator.page().context().browser().newPage();
  const { data, width, height } = await reader.evaluate(pixels, picture.toString("base64"));
  await reader.close();
  const options = { inversionAttempts: "dontInvert" };
  return jsQR(Uint8ClampedArray.from(data), width, height, options)?.data;
}

/** Returns the pixels of a picture; runs in a browser. */
async function pixels(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes]));
  const { width, height } = bitmap;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(bitmap, 0, 0);
  return { data: [...context.getImageData(0, 0, width, height).data], width, height };
}
