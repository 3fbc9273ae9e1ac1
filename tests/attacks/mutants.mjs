/**
 * One mitigation after the other switched off: for each row of the known attacks at least one
 * change of the code with which a test of the row must fail. Where a mitigation is that something
 * is not done at all, the change does it. `scripts/attack-mutants.mjs` makes them in a copy.
 */

import { MUTANTS_FROM_18 } from "./mutants-from-18.mjs";
import { MUTANTS_FROM_47 } from "./mutants-from-47.mjs";
import { MUTANTS_OF_45 } from "./mutants-of-45.mjs";

const entry = { file: "src/entry.js" };
const core = (name) => ({ file: `room-core/src/${name}.rs` });

/**
 * The changes: which `row`, what it `breaks`, the text in `file` that is replaced `from`, `to`, and
 * the `test` of that row which must fail.
 */
export const MUTANTS = [
  {
    row: 1,
    breaks: "what is passed on does not show that it comes from us",
    ...entry,
    from: "  sent.headers.set(LOCK_HEADER, lock.value);\n",
    to: "",
    test: "row 1: what is passed on carries a header that the origin can check",
  },
  {
    row: 1,
    breaks: "hosts below an open one reach the origin",
    ...core("visit/entrance"),
    from: "host.as_deref() == Some(open.as_str())",
    to: "host.as_deref().is_some_and(|host| host.ends_with(open.as_str()))",
    test: "row 1: hosts that nobody listed do not reach ORIGIN_URL",
  },
  {
    row: 2,
    breaks: "a backslash separates no segments",
    ...core("base/path"),
    from: String.raw`matches!(character, '/' | '\\')`,
    to: "matches!(character, '/')",
    test: "no_chain_of_servers_serves_a_room_that_was_not_asked",
  },
  {
    row: 2,
    breaks: "control characters are part of a name",
    ...core("room/coverage/reading"),
    from: "unclear |= before_end.contains(is_break);",
    to: "unclear |= before_end.is_empty();",
    test: "no_chain_of_servers_serves_a_room_that_was_not_asked",
  },
  {
    row: 3,
    breaks: "style sheets pass",
    ...entry,
    from: "  const verdict = wasm.glance(",
    to: '  if (request.url.endsWith(".css")) return decode("P");\n  const verdict = wasm.glance(',
    test: "row 3: what looks like a static file waits like every page",
  },
  {
    row: 4,
    breaks: "a ticket goes on after its session was ended",
    ...core("machines/isolate/revoked_tickets"),
    from: "!self.void.is_empty() && self.void.contains_key",
    to: "self.0.is_empty() && self.0.contains_key",
    test: "whoever_comes_with_a_void_ticket_is_a_new_visitor",
  },
  {
    row: 5,
    breaks: "scripts can read the cookie",
    ...core("ticket/cookie"),
    from: "Max-Age={max_age_s}; HttpOnly; ",
    to: "Max-Age={max_age_s}; ",
    test: "attributes_are_resolved_as_pinned",
  },
  {
    row: 5,
    breaks: "a code is good for whoever gives it",
    ...core("machines/moves"),
    from: "one.by.is_none_or(|first| first == by)",
    to: "one.by.is_none_or(|first| first != by)",
    test: "row 5: a code for a place is in no address, header or log, and good once",
  },
  {
    row: 5,
    breaks: "one more code ends the oldest, whoever made it",
    ...core("machines/moves"),
    from: "done.or_else(|| oldest_of_most(moves))",
    to: "done.or_else(|| oldest_of_most(moves).map(|_| 0))",
    test: "whoever_fills_the_room_with_codes_ends_their_own",
  },
  {
    row: 5,
    breaks: "codes can be tried without an end",
    file: "src/place.rs",
    from: "let may_ask = !budget.is_spent(now, network, per_minute);",
    to: "let may_ask = !budget.is_spent(now, network, 1_000 * per_minute);",
    test: "row 5: codes cannot be guessed, and one of another room is none",
  },
  {
    row: 6,
    breaks: "a query is taken for a cookie",
    ...entry,
    from: 'headers.get("cookie") ?? "";\n  const verdict = wasm.glance(',
    to: 'headers.get("cookie") ?? new URL(url).search.slice(1);\n' +
      "  const verdict = wasm.glance(",
    test: "row 6: nobody is given somebody else's ticket by a link or a form",
  },
  {
    row: 6,
    breaks: "forms of other sites move places",
    ...core("visit/place"),
    from: "if !is_origin_of(origin, url) {",
    to: "if origin.is_empty() {",
    test: "row 6: no other site gives a visitor a place, or takes one away",
  },
  {
    row: 7,
    breaks: "the client's claim replaces the platform's word",
    ...entry,
    from: "    return answered(request, headers, env, ctx);\n",
    to: '    if (request.headers.has("x-forwarded-for")) {\n' +
      "      request = new Request(request);\n" +
      '      const claimed = request.headers.get("x-forwarded-for");\n' +
      '      request.headers.set("cf-connecting-ip", claimed);\n' +
      "    }\n" +
      "    return answered(request, request.headers, env, ctx);\n",
    test: "row 7: an address that a client claims opens nothing",
  },
  {
    row: 7,
    breaks: "on its owner's machine every peer is a proxy",
    file: "src/own_machines.js",
    from: "  if (proxies.length === 0) return false;\n",
    to: "  if (address) return true;\n",
    test: "a peer that is not named is no proxy",
  },
  {
    row: 7,
    breaks: "of what a chain of proxies tells, the first counts",
    file: "src/own_machines.js",
    from: "addresses.findLast((one) => !isProxy(one))",
    to: "addresses.find((one) => !isProxy(one))",
    test: "a named proxy tells address, country and scheme, and no more",
  },
  {
    row: 8,
    breaks: "a visitor tells the origin which path to serve",
    file: "src/origin.js",
    from: 'LOCK_HEADER, "x-original-url", "x-rewrite-url"];',
    to: "LOCK_HEADER];",
    test: "row 8: no header makes the origin serve another path",
  },
  {
    row: 8,
    breaks: "a visitor tells the origin which host to serve",
    ...entry,
    from: "hostHeaders.some(isNamed)",
    to: "false",
    test: "row 8: no header makes the origin serve another host",
  },
  {
    row: 8,
    breaks: "a client's command goes on to the origin",
    file: "src/origin.js",
    from: "orderHeaders = [COMMAND_HEADER, ",
    to: "orderHeaders = [",
    test: "a control header of the client does not reach the origin",
  },
  {
    row: 9,
    breaks: "a ticket opens in every room",
    ...core("keys/key_ring"),
    from: "[header.as_slice(), room.as_bytes(), cookie_name.as_bytes()].concat()",
    to: "[header.as_slice(), &room.as_bytes()[..0], cookie_name.as_bytes()].concat()",
    test: "a_ticket_opens_only_in_its_room_under_its_name_and_key",
  },
  {
    row: 10,
    breaks: "the comparison ends at the first difference",
    ...core("keys/token"),
    from: "digest(given).ct_eq(&digest(configured)).to_bool()",
    to: "given == configured",
    test: "a_token_is_compared_as_slowly_wherever_it_differs",
  },
  {
    row: 11,
    breaks: "a ticket of any version is opened",
    ...core("keys/key_ring"),
    from: "(version == VERSION).then_some(",
    to: "(version >= VERSION).then_some(",
    test: "what_a_later_version_sealed_is_unreadable",
  },
  {
    row: 12,
    breaks: "a cookie may be as long as it likes",
    ...core("ticket/cookie"),
    from: "(1..=MAX_VALUE_BYTES).contains(&value.len())",
    to: "(1..=100 * MAX_VALUE_BYTES).contains(&value.len())",
    test: "values_beyond_the_limit_are_not_looked_at",
  },
  {
    row: 12,
    breaks: "the first ticket in the header is the visitor's",
    ...core("visit/own_ticket"),
    from: "|best, other| if rank(&other) < rank(&best) { other } else { best }",
    to: "|best, _| if rank(&best).0 { best } else { best }",
    test: "of_two_valid_tickets_the_better_one_is_the_visitors_own",
  },
  {
    row: 12,
    breaks: "the choice between two tickets tells the better rank before the draw",
    ...core("visit/own_ticket"),
    from: "settings.shuffles.iter().any(|draw| now < draw.until)",
    to: "settings.shuffles.iter().any(|draw| now >= draw.until)",
    test: "before_a_draw_the_choice_tells_nothing_of_the_ranks",
  },
  {
    row: 13,
    breaks: "newcomers get their places unchallenged",
    ...core("admission"),
    from: "if first && settings.challenge_required {",
    to: "if !first && settings.challenge_required {",
    test: "whoever_the_counter_refuses_is_challenged_without_a_place",
  },
  {
    row: 13,
    breaks: "a token gives a newcomer a place whose network has used up its share",
    ...core("visit/challenged"),
    from: "Outcome::Wait { mut ticket, .. } if is_over => {",
    to: "Outcome::Wait { mut ticket, .. } | Outcome::WithoutPlace(mut ticket) if is_over => {",
    test: "no_token_gives_a_place_beyond_the_share_of_a_network",
  },
  {
    row: 13,
    breaks: "each part of a customer's network has a share",
    ...core("base/prefix_budget"),
    from: "address.to_bits() >> 80",
    to: "address.to_bits() >> 72",
    test: "clients_of_one_network_have_one_prefix",
  },
  {
    row: 14,
    breaks: "a place without a cookie is kept for the whole session",
    ...core("admission"),
    from: "if is_new { settings.unconfirmed_bucket_at(at) } else { session };",
    to: "if is_new { session } else { settings.unconfirmed_bucket_at(at) };",
    test: "a_newcomer_counts_for_a_while_and_whoever_waited_for_the_session",
  },
  {
    row: 15,
    breaks: "a ghost counts for as long as anybody can",
    ...core("order/census"),
    from: "until.min(from + PRESENCE_MS_MAX)) {\n                self.epochs.get_or_default",
    to: "until.max(from + PRESENCE_MS_MAX)) {\n                self.epochs.get_or_default",
    test: "a_ghost_is_gone_with_the_refresh_that_does_not_come",
  },
  {
    row: 15,
    breaks: "any number of places is kept",
    ...core("capacity/state"),
    from: "let mut left = away_max;",
    to: "let mut left = away_max.max(u64::MAX);",
    test: "of_those_who_are_away_the_first_count_and_no_others",
  },
  {
    row: 15,
    breaks: "a page counts each time that it says that it is hidden",
    ...core("admission/standing"),
    from: "ticket) > ticket.kept_minutes",
    to: "ticket) > 0",
    test: "a_hidden_page_says_so_early_once_and_its_turn_is_kept",
  },
  {
    row: 16,
    breaks: "a slot is given again after its lease",
    ...core("machines/data_center_counter"),
    from: "given.is_valid(now).then(|| self.granted",
    to: "true.then(|| self.granted",
    test: "one_admission_gets_one_slot_however_often_it_asks",
  },
  {
    row: 17,
    breaks: "slots that are out do not count against the places",
    ...core("machines/global_aggregator/books"),
    from: "self.ledger.written_off_slots(now) + self.ledger.outstanding();",
    to: "self.ledger.written_off_slots(now);",
    test: "i1_every_grant_is_within_both_limits",
  },
  ...MUTANTS_FROM_18,
  ...MUTANTS_OF_45,
  ...MUTANTS_FROM_47,
];
