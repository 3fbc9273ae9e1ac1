// Sees to it that no version is exchanged while a draw is on: versions side by side could order its
// line in two ways, see docs/operations.md.
import { stop } from "../stop.mjs";
import { OlderRelease, deployedRooms, waitingIn } from "./dependents.mjs";

const FLAG = "--even-in-draw";
/** How long before its prequeue a draw counts: a deployment takes minutes to be everywhere. */
const AHEAD_MS = 10 * 60_000;
/** How long after its event a draw counts while anybody waits: so long a line may take. */
const LINE_MS = 12 * 3_600_000;

/**
 * Asks before a deployment that falls into a draw, or may; ends the process without an answer and
 * flag.
 *
 * @param {object} kept the folder of the deployment
 * @param {object} options the flags of the command
 * @param {object} questions whoever asks the owner
 */
export async function agreeInDraw(kept, options, questions) {
  if (!kept.state.deployed || options["even-in-draw"]) return;
  const why = await whyToAsk(kept, options["live-address"]);
  if (!why) return;
  const question =
    `${why}. Until all isolates run the new version, whoever waited before the prequeue of a ` +
    "draw may enter ahead of all others. Deploy all the same?";
  if (!(await questions.agrees(question, { yes: false, flag: FLAG }))) {
    stop("you did not agree, so nothing was uploaded");
  }
}

/** Says which draws are on, or why that is not known; `undefined` if none is. */
async function whyToAsk(kept, liveAddress) {
  const on = [];
  let rooms;
  try {
    rooms = await deployedRooms(kept, liveAddress);
    for (const { room, event, isOver } of drawsNear(rooms, Date.now())) {
      if (isOver && (await waitingIn(room, kept, liveAddress)) === 0) continue;
      on.push(`${event.name} of ${room.name}`);
    }
  } catch (error) {
    const unknown = `Nobody knows whether a draw is on (${error.message})`;
    if (rooms || !(error instanceof OlderRelease)) return unknown;
    console.log(`  Beware: ${unknown}.`);
  }
  return on.length > 0 ? `A draw is on (${on.join(", ")})` : undefined;
}

/**
 * The draws of an export from shortly before their prequeue on. Of one whose event `isOver` the
 * line may be left. An event that is suspended after its start has drawn: its order stands.
 */
function drawsNear(rooms, now) {
  const hasDrawn = ({ event_start_time: text, modified_on: changed }) => {
    const start = Date.parse(text);
    return start <= now && !(Date.parse(changed) < start);
  };
  const isNear = (event) =>
    event.shuffle_at_event_start &&
    (!event.suspended || hasDrawn(event)) &&
    Date.parse(event.prequeue_start_time ?? event.event_start_time) - AHEAD_MS <= now &&
    now < Date.parse(event.event_end_time) + LINE_MS;
  const isOver = (event) => event.suspended || Date.parse(event.event_end_time) <= now;
  return rooms.flatMap((room) =>
    (room.events ?? []).filter(isNear).map((event) => ({ room, event, isOver: isOver(event) })),
  );
}
