// Why a visitor waited, in sentences: from the answer of the API about one reference.
import { clock, count, duration } from "./facts.js";

export const WAITS_FOR = {
  limit: "all places were taken",
  rate: "as many had entered in the last minute as may",
  place: "the turn had come, but no place was left",
  hold: "nobody new was let in, by a hold or maintenance",
  event: "the event had not started",
  lottery: "the lot of that minute was another's",
  silence: "no answer came from the room's objects",
};
export const ENTERED_BY = {
  line: "in the order of joining",
  draw: "in the order that was drawn",
  invitation: "before others, by an invitation",
  share: "before others, by the share of a group with an invitation",
  lottery: "by the lot of a minute",
  open: "at once: a place was free",
  everybody: "since the room let everybody in",
  silence: "without a place: no object answered, and the room lets visitors in then",
};
export const BEFORE = {
  checked_in_sooner: "both had been called, and the others came back sooner",
  missed_check_in: "they entered while this visitor had missed a check-in",
  open: "they found a free place while the room was open",
  invitation: "they had an invitation of a group that enters first",
  share: "they had an invitation of a group that has a share of the places",
  draw: "the order was drawn",
  lottery: "each minute's lot decides, not the time of joining",
  everybody: "the room let everybody in",
  silence: "their data center got no answer, and the room lets visitors in then",
};

/** A reference as a visitor writes or says it, with whatever stands between its characters. */
export const referenceIn = (text) => text.replace(/[^a-z\d]/gi, "");

/** The story of a visitor, a sentence for each thing that is known. */
export function story(trace) {
  const wait = [joined(trace), ...off(trace), ...late(trace), end(trace)];
  return [...wait, ...before(trace), ...changed(trace), ...missing(trace)];
}

function joined({ joined_at: at, first_told_seconds: told, check_ins: checkIns, invitation }) {
  const ahead = checkIns.find((one) => one.people_ahead !== null);
  const place = ahead
    ? `, ${count(ahead.people_ahead, "person", "people")} ahead at ${clock(ahead.at)}`
    : "";
  const shown = told === null ? "no time was shown" : `told ${duration(told)} in all`;
  const group = invitation ? ` Has an invitation of the group ${invitation}.` : "";
  return `Joined at ${clock(at)}${place}; ${shown}.${group}`;
}

/** What each reason for waiting was at how many of the check-ins that were kept. */
function end({ state, waits_for: why, check_ins: checkIns, ...rest }) {
  const { entered_at: entered, entered_by: by, called_at: called, joined_at: joinedAt } = rest;
  const last = checkIns.at(-1);
  const turn = called ? ` The turn had come by ${clock(called)}.` : "";
  if (entered) {
    const waited = duration((Date.parse(entered) - Date.parse(joinedAt)) / 1_000);
    const revoked = rest.revoked_at
      ? ` The site ended the session at ${clock(rest.revoked_at)}.`
      : "";
    return `Entered at ${clock(entered)}, after ${waited}, ${ENTERED_BY[by]}.${turn}${revoked}`;
  }
  if (state === "revoked") return `The site ended the session at ${clock(rest.revoked_at)}.`;
  if (state === "not_confirmed") {
    return `Has not entered: was asked to confirm the turn, and has not done so.${turn}`;
  }
  if (state === "waiting") return `Waits: at ${clock(last.at)} ${WAITS_FOR[why]}.${turn}`;
  const known = `Has not entered. The last check-in that was kept is of ${clock(last.at)}`;
  return `${known}: ${WAITS_FOR[last.waits_for]}. Whoever is away for 5 minutes loses the place.`;
}

function late({ check_ins: checkIns, late_seconds: atLast }) {
  const longest = Math.max(atLast ?? 0, ...checkIns.map((one) => one.late_seconds));
  if (longest === 0) return [];
  const away = `Missed a check-in: came back ${duration(longest)} late`;
  return [`${away}, or the room rejected visitors or was disabled meanwhile.`];
}

/** When nobody waited, since the room was disabled. */
function off({ suspended }) {
  return (suspended ?? []).map(({ from, until }) => {
    const span = until ? `from ${clock(from)} to ${clock(until)}` : `since ${clock(from)}`;
    return `The room was disabled ${span}: everybody passed, and no check-in was noted.`;
  });
}

function changed({ configuration_changed_since: isOther }) {
  if (!isOther) return [];
  return ["Events, rules or groups were changed since the join: this is told by those of now."];
}

function before({ entered_before: all, bypass_rules: hasRules }) {
  const told = all.map(({ reason, visitors }) => {
    const who = `${count(visitors, "visitor")} with a later join entered before`;
    return `${who}: ${BEFORE[reason]}.`;
  });
  const nobody = "Nobody with a later join entered before.";
  const rules = "Bypass rules let requests pass, which nothing counts.";
  return [...(told.length > 0 ? told : [nobody]), ...(hasRules ? [rules] : [])];
}

function missing({ entered_before_complete: isWhole, journal }) {
  if (isWhole) return [];
  const { one_in: oneIn, left_out: leftOut } = journal;
  if (oneIn > 1) return [`So many came that one in ${oneIn} was kept: each stands for as many.`];
  if (leftOut > 0) return [`${count(leftOut, "record")} of that time could not be kept.`];
  return ["The wait was so long that not all of it was read: there may be more of them."];
}
