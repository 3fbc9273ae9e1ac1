// The port of the local waiting room: the variable PORT, or 8787.
import { stop } from "./stop.mjs";
import { PORT_MAX } from "./usage.mjs";

const DEFAULT_PORT = 8787;

/** The port on which the local waiting room listens. */
export const PORT = chosen(process.env.PORT || String(DEFAULT_PORT));

function chosen(text) {
  const port = Number(text);
  if (/^\d+$/.test(text) && port > 0 && port <= PORT_MAX) return port;
  stop(`PORT must be a whole number from 1 to ${PORT_MAX}, but is "${text}": PORT=8790 npm start`);
}
