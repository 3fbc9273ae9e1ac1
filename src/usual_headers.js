// Reads the headers that most answers to waiting visitors depend on, for the wasm: in one call.
import { USUAL_HEADERS } from "../build/worker/gen/constants.js";

/** Returns the values of the usual headers, each with a line end, which no header can hold. */
export function usual_headers({ headers }) {
  let values = "";
  for (const name of USUAL_HEADERS) values += `${headers.get(name) ?? ""}\n`;
  return values;
}
