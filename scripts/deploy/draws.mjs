// Sees to it that no version is exchanged while a draw is on: versions side by side could order its
// line in two ways, see docs/operations.md.
import { stop } from "../stop.mjs";
import { deployedRooms } from "./dependents.mjs";

const FLAG = "--even-in-draw";

/**
 * Asks before a deployment that falls into a draw; ends the process without an answer and flag.
 *
 * @param {object} kept the folder of the deployment
 * @param {object} options the flags of the command
 * @param {object} questions whoever asks the owner
 */
export async function agreeInDraw(kept, options, questions) {
  if (!kept.state.deployed || options["even-in-draw"]) return;
  let rooms = [];
  try {
    rooms = await deployedRooms(kept, options["live-address"]);
  } catch (error) {
    console.log(`  Beware: nobody knows whether a draw is on (${error.message}).`);
  }
  const now = drawsOn(rooms, Date.now());
  if (now.length === 0) return;
  const question =
    `A draw is on (${now.join(", ")}). Until all isolates run the new version, whoever waited ` +
    "before its prequeue may enter ahead of all others. Deploy all the same?";
  if (!(await questions.agrees(question, { yes: false, flag: FLAG }))) {
    stop("a draw is on, so nothing was uploaded");
  }
}

/** Names the events of an export that have a draw and are between prequeue and end. */
export function drawsOn(rooms, now) {
  const isOn = (event) =>
    event.shuffle_at_event_start &&
    !event.suspended &&
    Date.parse(event.prequeue_start_time ?? event.event_start_time) <= now &&
    now < Date.parse(event.event_end_time);
  return rooms.flatMap(({ name, events = [] }) =>
    events.filter(isOn).map((event) => `${event.name} of ${name}`),
  );
}
