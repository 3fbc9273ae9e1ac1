// Reads the headers that most answers to waiting visitors depend on, for the wasm: `incoming.rs`
// names them in the same order.
const USUAL = [
  "sec-purpose",
  "upgrade",
  "purpose",
  "x-purpose",
  "x-moz",
  "accept-language",
  "sec-fetch-mode",
  "sec-fetch-dest",
  "waiting-room-check-in",
];

/** Returns the values of the usual headers, each with a line end, which no header can hold. */
export function usual_headers({ headers }) {
  let values = "";
  for (const name of USUAL) values += `${headers.get(name) ?? ""}\n`;
  return values;
}
