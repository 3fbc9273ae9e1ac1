/**
 * One mitigation after the other switched off: for each row of the known attacks at least one
 * change of the code with which a test of the row must fail. Where a mitigation is that something
 * is not done at all, the change does it. `scripts/attack-mutants.mjs` makes them in a copy.
 */

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
    row: 2,
    breaks: "a backslash separates no segments",
    ...core("room/coverage/reading"),
    from: String.raw`matches!(byte, b'/' | b'\\')`,
    to: "matches!(byte, b'/')",
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
    from: "!self.0.is_empty() && self.0.contains_key",
    to: "self.0.is_empty() && self.0.contains_key",
    test: "whoever_comes_with_a_void_ticket_is_a_new_visitor",
  },
  {
    row: 5,
    breaks: "scripts can read the cookie",
    ...core("ticket/cookie"),
    from: "Max-Age={max_age_s}; HttpOnly; SameSite",
    to: "Max-Age={max_age_s}; SameSite",
    test: "attributes_are_resolved_as_pinned",
  },
  {
    row: 6,
    breaks: "a query is taken for a cookie",
    ...entry,
    from: 'headers.get("cookie") ?? "",\n    headers.get("sec-purpose")',
    to: 'headers.get("cookie") ?? new URL(request.url).search.slice(1),\n' +
      '    headers.get("sec-purpose")',
    test: "row 6: nobody is given somebody else's ticket by a link or a form",
  },
  {
    row: 7,
    breaks: "the client's claim replaces the platform's word",
    ...entry,
    from: "    let verdict;\n    try {\n      verdict = glance(",
    to: '    if (request.headers.has("x-forwarded-for")) {\n' +
      "      request = new Request(request);\n" +
      '      const claimed = request.headers.get("x-forwarded-for");\n' +
      '      request.headers.set("cf-connecting-ip", claimed);\n' +
      "    }\n" +
      "    let verdict;\n    try {\n      verdict = glance(",
    test: "row 7: an address that a client claims opens nothing",
  },
  {
    row: 8,
    breaks: "a client's command goes on to the origin",
    ...entry,
    from: "      request.headers.delete(COMMAND_HEADER);\n",
    to: "",
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
    row: 13,
    breaks: "newcomers get their places unchallenged",
    ...core("admission"),
    from: "if first && settings.challenge_required {",
    to: "if !first && settings.challenge_required {",
    test: "whoever_the_counter_refuses_is_challenged_without_a_place",
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
    from: "until.min(from + PRESENCE_MS_MAX)",
    to: "until.max(from + PRESENCE_MS_MAX)",
    test: "a_ghost_is_gone_with_the_refresh_that_does_not_come",
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
  {
    row: 18,
    breaks: "a ticket from the future is opened",
    ...core("keys/key_ring"),
    from: "..=hour_of(now + SKEW_MS)",
    to: "..=hour_of(now + 3_600 * SKEW_MS)",
    test: "a_ticket_opens_from_its_hour_to_the_second_after_with_a_second_of_skew",
  },
  {
    row: 19,
    breaks: "an answer with a cookie may be stored",
    ...entry,
    from: '  answer.headers.set("cache-control", "private, no-store");\n',
    to: "",
    test: "row 19: a cache in front hands nobody the answer or the cookie of another",
  },
  {
    row: 20,
    breaks: "an address in the query is followed",
    ...entry,
    from: "      return page(verdict, request.method);\n",
    to: '      if (/[?&](next|url)=/.test(request.url)) {\n' +
      "        const [, target] = request.url.split(/[?&](?:next|url)=/);\n" +
      "        return new Response(null, { status: 302, headers: { location: target } });\n" +
      "      }\n" +
      "      return page(verdict, request.method);\n",
    test: "row 20: no answer of the room leads to another site",
  },
  {
    row: 21,
    breaks: "a refresh counts however early it comes",
    ...core("admission"),
    from: "now + EARLY_MS < next_refresh(ticket)",
    to: "now + 1_000 * EARLY_MS < next_refresh(ticket)",
    test: "a_refresh_counts_from_half_a_second_before_it_is_due",
  },
  {
    row: 22,
    breaks: "a network may guess as often as it likes",
    ...core("management/api/access"),
    from: "is_spent(now, prefix, DENIALS_PER_MINUTE_MAX)",
    to: "is_spent(now, prefix, 100 * DENIALS_PER_MINUTE_MAX)",
    test: "a_network_that_guesses_is_heard_no_more_for_a_minute",
  },
  {
    row: 22,
    breaks: "the public token of local development opens every host",
    ...core("management/api/access"),
    from: "*token != public_values::API_TOKEN || is_local(host)",
    to: "*token != public_values::API_TOKEN || !is_local(\"\") || is_local(host)",
    test: "the_public_token_opens_nothing_but_local_hosts",
  },
  {
    row: 23,
    breaks: "everybody flows while the counter is silent",
    ...core("machines/isolate"),
    from: "self.flow.is_left(now, MINUTE_MS, settings.keep_flowing_per_minute)",
    to: "self.flow.is_left(now, MINUTE_MS, u32::MAX)",
    test: "as_many_flow_in_a_minute_of_silence_as_the_room_says",
  },
  {
    row: 24,
    breaks: "a header of the client opens the room",
    ...entry,
    from: "  const verdict = wasm.glance(",
    to: '  if (headers.has("x-admitted")) return decode("P");\n  const verdict = wasm.glance(',
    test: "row 24: no flag, cookie or query of a client opens the room",
  },
  {
    row: 25,
    breaks: "a page that is loaded on suspicion is counted",
    ...entry,
    from: '  "sec-purpose",\n',
    to: "",
    test: "row 25: requests that are not valid visits take no place and call no object",
  },
  {
    row: 26,
    breaks: "numbers may be as large as they like",
    ...core("management/config/value"),
    from: ".filter(|number| range.contains(number))",
    to: ".filter(|number| range.start() <= number)",
    test: "values_keep_to_their_limits",
  },
  {
    row: 27,
    breaks: "a template may be as long as it likes",
    ...core("page/template"),
    from: "if source.len() > SOURCE_BYTES_MAX {",
    to: "if source.len() > 100 * SOURCE_BYTES_MAX {",
    test: "source_and_page_are_bounded",
  },
  {
    row: 27,
    breaks: "values are not escaped",
    ...core("page/template/render"),
    from: "value.render_escaped(encoder)?;",
    to: "value.render_unescaped(encoder)?;",
    test: "values_are_interpolated",
  },
  {
    row: 28,
    breaks: "a rule may take as many steps as it likes",
    ...core("rules/budget"),
    from: "self.left = self.left.checked_sub(steps).ok_or_else(",
    to: "self.left = Some(self.left.saturating_sub(steps)).ok_or_else(",
    test: "what_costs_too_much_bypasses_nobody",
  },
  {
    row: 29,
    breaks: "the infinite queue asks to come back at other intervals",
    ...core("admission/infinite_queue"),
    from: "admission::interval_s(context, is_soon)",
    to: "admission::interval_s(context, first)",
    test: "intervals_are_those_of_the_line",
  },
  {
    row: 30,
    breaks: "a token of another host counts",
    ...core("room/turnstile/verification"),
    from: 'text("hostname").eq_ignore_ascii_case(expected.hostname)\n        && text("action")',
    to: 'text("action")',
    test: "an_answer_means_what_is_documented",
  },
  {
    row: 31,
    breaks: "a header is added to what the origin gets",
    ...entry,
    from: "  if (!env.ORIGIN_URL) return fetch(request);",
    to: '  const added = { headers: [...request.headers, ["x-forwarded-host", "a"]] };\n' +
      "  if (!env.ORIGIN_URL) return fetch(new Request(request, added));",
    test: "POST /echo?a=1&b=%2F..%2f&a=2",
  },
  {
    row: 32,
    breaks: "the origin gets the ticket in any case",
    ...entry,
    from: "const sent = cookies === null ? asked : withCookies(asked, cookies);",
    to: "const sent = cookies === null ? asked : asked;",
    test: "the origin sees no ticket, and every other cookie",
  },
  {
    row: 33,
    breaks: "tokens are remembered without a bound",
    ...core("room/turnstile/token"),
    from: "if self.tokens.len() >= MAX_SEEN {",
    to: "if self.tokens.len() >= 100 * MAX_SEEN {",
    test: "the_oldest_token_makes_room",
  },
  {
    row: 34,
    breaks: "every site may read",
    ...entry,
    from: "  const sent = new Headers();\n",
    to: '  const sent = new Headers({ "access-control-allow-origin": "*" });\n',
    test: "row 34: another site can neither read nor change what the owner has",
  },
];
