/**
 * The mitigations of rows 44 and 45, each switched off: a part of `mutants.mjs`.
 */

const core = (name) => ({ file: `room-core/src/${name}.rs` });

/** The changes, as in `mutants.mjs`. */
export const MUTANTS_OF_44_45 = [
  {
    row: 44,
    breaks: "a flood of those who wait takes the room of those who enter in the journal",
    ...core("machines/journal"),
    from: "if record.is_entered() { &mut self.entered } else { &mut self.waits }",
    to: "if record.is_entered() { &mut self.waits } else { &mut self.waits }",
    test: "a_flood_is_bounded_thinned_by_reference_and_does_not_displace_who_enters",
  },
  {
    row: 44,
    breaks: "pages without a cookie are noted",
    ...core("machines/isolate/noted"),
    from: "entry.before.filter(|_| !ticket.unconfirmed)",
    to: "entry.before.or(Some(journal::Moment::default()))",
    test: "records_go_with_reports_that_are_sent_anyway_and_cause_none",
  },
  {
    row: 45,
    breaks: "a code chooses its algorithm",
    ...core("visit/invitation"),
    from: 'header.get("alg")?.as_str() != Some(alg) || header.get("crit")',
    to: 'header.get("crit")',
    test: "no_header_chooses_how_a_code_is_checked",
  },
  {
    row: 45,
    breaks: "a key of the deployment signs codes of a group whose key is the owner's",
    ...core("visit/invitation"),
    from: "let may_be_good = if known.public_key.is_some()",
    to: "let may_be_good = if false",
    test: "the_kind_of_a_groups_key_chooses_the_algorithm",
  },
  {
    row: 45,
    breaks: "a code that the owner has not signed is used",
    ...core("visit/place"),
    from: "Self::Prove(ticket, invitation, _) if is_good =>",
    to: "Self::Prove(ticket, invitation, _) =>",
    test: "an_invitation_is_used_once_and_only_with_a_place",
  },
  {
    row: 45,
    breaks: "a public key may be one by which everybody signs",
    ...core("room/invitation"),
    from: "!is_edge && !OF_ORDER_8.contains(&y)",
    to: "!is_edge || !OF_ORDER_8.contains(&y)",
    test: "a_public_key_is_one_that_its_owner_alone_signs_by",
  },
  {
    row: 45,
    breaks: "a group takes all places by share",
    ...core("machines/invitations"),
    from: "if (next.at, next.beside) > (last.at, last.beside) { next } else { last }",
    to: "last",
    test: "the_same_visitor_gets_the_same_place_and_the_next_one_a_later_one",
  },
  {
    row: 45,
    breaks: "a code has one use more than it says",
    ...core("machines/invitations"),
    from: "has_used || used < request.uses",
    to: "has_used || used <= request.uses",
    test: "a_code_is_used_as_often_as_it_says_and_once_by_each_visitor",
  },
];
