// Hands a text to the browser as a file.

/** Until the browser has read it, in milliseconds: it begins after the call returns. */
const READ_MS = 60_000;

/** Offers a text, in JSON unless it has another type, under this name. */
export function offer(text, name, type = "application/json") {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), READ_MS);
}
