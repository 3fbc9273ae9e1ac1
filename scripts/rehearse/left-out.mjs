// Settings of a room that a plan may have and a rehearsal does not play: its visitors have no
// invitation, and its site ends no session. Pure.

/** Says which settings of a plan's room change nothing in its rehearsal: a sentence for each. */
export function leftOutTexts({ room }) {
  const { enabled_origin_commands: commands, invitation_groups: groups } = room;
  const texts = [];
  if (commands?.length > 0) {
    texts.push("Left out: enabled_origin_commands, since the site ends no session here.");
  }
  if (groups?.some(({ enters }) => enters !== "in_turn")) {
    texts.push("Left out: invitation_groups, since nobody has an invitation here.");
  }
  return texts;
}
