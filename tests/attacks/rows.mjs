/**
 * The known attacks on waiting rooms, what holds against each, and the tests that show it. Every
 * file `NN-name.test.mjs` in this folder tests row NN; tests elsewhere are named here.
 * `node scripts/attacks.mjs --write` puts the table into `docs/security.md`.
 */

import { browser, native, own, workerd } from "./row-tests.mjs";
import { ROWS_FROM_30 } from "./rows-from-30.mjs";

/** All rows in order: `attack`, what `holds` here, and the `elsewhere` tests of the row. */
export const ROWS = [
  {
    attack: "Bypass the gate: call the origin directly, or by another host name",
    holds: "an origin lock: a signed, short-lived header that the origin can check",
    elsewhere: [],
  },
  {
    attack:
      "Path tricks: case, trailing slash, `//`, encoded slash, dot segments, extra query, " +
      "blanks, control characters, broken encodings, a host, a session or a cut in the path",
    holds: "one normaliser before matching; a path with two readings is covered",
    elsewhere: [
      ...native(
        "tests/coverage",
        "spelling_a_path_otherwise_changes_nothing",
        "empty_names_uncover_nothing",
        "dot_segments_that_cancel_do_not_uncover",
        "no_chain_of_servers_serves_a_room_that_was_not_asked",
      ),
      ...native(
        "src/room/coverage",
        "other_spellings_of_a_covered_path_are_covered",
        "a_path_whose_first_name_may_be_a_host_is_refused_between_two_rooms",
        "a_rest_that_may_be_the_whole_path_is_covered",
      ),
      ...native("src/base/path", "only_usual_paths_have_one_reading"),
    ],
  },
  {
    attack: "Static-extension trick: `/buy/x.css`",
    holds: "coverage follows host and path, never the ending",
    elsewhere: native("src/visit/tests", "parts_of_a_queue_page_are_no_visits"),
  },
  {
    attack: "Replay or sharing of an accepted ticket",
    holds: "short life, revocation, one place for all copies; a room can detect other users",
    elsewhere: [
      ...workerd("revocation", "a session that the origin ends frees its place"),
      ...workerd("leaving", "whoever leaves frees the place, for good"),
      ...native("src/machines/isolate/tests", "whoever_comes_with_a_void_ticket_is_a_new_visitor"),
    ],
  },
  {
    attack: "Place theft by a leaked id",
    holds: "the ticket is in an HttpOnly cookie of the room's hosts; it moves by a code, once",
    elsewhere: [
      ...native("src/ticket/cookie", "attributes_are_resolved_as_pinned"),
      ...native("src/keys/key_ring/tests", "a_ticket_on_its_way_opens_with_its_code_alone"),
      ...native("src/visit/tests", "nobody_enters_with_a_place_that_moves"),
      ...native(
        "src/machines/moves/tests",
        "whoever_fills_the_room_with_codes_ends_their_own",
        "whoever_asks_hears_why_a_code_is_not_good",
      ),
      ...workerd("moved-place", "two devices race, and one has the place"),
    ],
  },
  {
    attack: "Session fixation: a link that sets a victim's cookie",
    holds:
      "nothing in a URL becomes a cookie without a check bound to that visitor; " +
      "a code behind `#` fills a field, and a button sends it",
    elsewhere: [
      ...workerd("turnstile", "a token replaces no place, and no link brings one"),
      ...browser("scanned-place", "a link with somebody else's code moves nobody by itself"),
    ],
  },
  {
    attack: "Spoofed client address, country or scheme; headers that only Cloudflare may set",
    holds: "only values of the platform are read; on own machines of the peer and named proxies",
    elsewhere: own(
      "addresses",
      "without a proxy no claim opens anything, nor reaches the site",
      "a peer that is not named is no proxy",
      "a named proxy tells address, country and scheme, and no more",
    ),
  },
  {
    attack: "Spoofed control headers; control headers that leak to the client",
    holds: "they are removed from requests and answers; only the origin's answer counts",
    elsewhere: [
      ...workerd("pass-through", "a control header of the client does not reach the origin"),
      ...workerd("revocation", "nobody else can order it, and nothing else can be ordered"),
    ],
  },
  {
    attack: "Ambiguous encryption; swapping tickets between rooms",
    holds: "authenticated encryption; room, cookie name and version are bound",
    elsewhere: native(
      "src/keys/key_ring/tests",
      "a_ticket_opens_only_in_its_room_under_its_name_and_key",
      "every_changed_bit_and_every_cut_is_unreadable",
    ),
  },
  {
    attack: "Timing of secret comparison",
    holds: "constant-time comparison of tokens",
    elsewhere: [
      ...native("tests/constant_time", "a_token_is_compared_as_slowly_wherever_it_differs"),
      ...native("src/keys/token", "only_the_configured_token_matches"),
    ],
  },
  {
    attack: "Algorithm or key confusion",
    holds:
      "one algorithm, two generations of keys; an unknown key is a new visitor; a coming key " +
      "seals and names nothing",
    elsewhere: native(
      "src/keys/key_ring/tests",
      "what_a_later_version_sealed_is_unreadable",
      "after_a_rotation_the_new_ring_opens_both_and_the_old_ring_only_its_own",
      "a_rotation_renames_and_redraws_nothing",
    ),
  },
  {
    attack: "Forged, truncated, oversized, repeated, planted cookies",
    holds:
      "a new visitor: never an error page, never a panic; sizes are bounded; of two valid " +
      "tickets the better one counts",
    elsewhere: [
      ...workerd("cookies", "tampered, truncated and foreign cookies are new visitors"),
      ...native("tests/parsers/main", "no_cookie_panics_or_is_forged"),
      ...native("src/ticket/cookie", "values_beyond_the_limit_are_not_looked_at"),
      ...native(
        "src/visit/own_ticket",
        "of_two_valid_tickets_the_better_one_is_the_visitors_own",
        "a_planted_ticket_takes_no_invitation_away",
        "before_a_draw_the_choice_tells_nothing_of_the_ranks",
        "a_void_ticket_is_taken_only_where_there_is_no_other",
      ),
    ],
  },
  {
    attack: "Many places for one person: tabs, profiles, proxies",
    holds: "a share of places for each network, Turnstile; what is not bounded is stated",
    elsewhere: [
      ...workerd("turnstile", "a challenge comes before the place and not before entry"),
      ...native(
        "src/admission/tests/gate",
        "whoever_the_counter_refuses_is_challenged_without_a_place",
      ),
      ...native("src/base/prefix_budget", "clients_of_one_network_have_one_prefix"),
      ...native(
        "src/visit/tests/newcomers",
        "no_token_gives_a_place_beyond_the_share_of_a_network",
        "a_spent_ticket_gives_no_place_beyond_the_share_of_a_network",
        "a_place_counts_where_the_clock_is_behind_too",
      ),
      ...native(
        "src/visit/draw",
        "the_commitment_is_published_in_the_prequeue_and_the_key_at_the_start",
      ),
    ],
  },
  {
    attack: "Cookie-drop flooding: every cookie-less hit takes a place",
    holds: "an unconfirmed place is given back soon; a flood raises nobody's wait for longer",
    elsewhere: [
      ...native(
        "src/admission/tests/unconfirmed",
        "a_newcomer_counts_for_a_while_and_whoever_waited_for_the_session",
      ),
      ...workerd("turnstile", "bots without a cookie take no place and delay nobody"),
    ],
  },
  {
    attack:
      "Queue stuffing: fill the line and never enter; come by thousands in one moment, so that " +
      "it stops",
    holds:
      "a visitor without check-ins is not counted after one interval, and copies of one cookie " +
      "count once, however they check in; with `turn_kept_minutes`, " +
      "for hidden pages and for late visitors at most a tenth of the rate is kept, or one place; " +
      "repeated requests to be kept count nothing; a place whose check-in is due gets no code " +
      "for another device before; the first of a long line keep their places to " +
      "20 ms; few newcomers of an isolate ask a counter at a time, and whoever closes the " +
      "connection meanwhile is not counted",
    elsewhere: [
      ...native(
        "src/order/census",
        "a_ghost_is_gone_with_the_refresh_that_does_not_come",
        "two_tabs_with_one_cookie_are_one_visitor",
        "copies_of_a_cookie_count_once_and_not_at_all_when_one_has_entered",
        "whoever_is_kept_is_away_from_when_the_check_in_is_due_until_the_next_one",
      ),
      ...native(
        "src/admission/tests/kept",
        "a_hidden_page_says_so_early_once_and_its_turn_is_kept",
      ),
      ...native("src/admission/moving", "codes_alone_keep_no_place"),
      ...workerd("moved-place", "nobody keeps a place by one code after another"),
      ...native(
        "src/capacity/state/tests",
        "of_those_who_are_away_the_first_count_and_no_others",
      ),
      ...native(
        "src/queue/tests",
        "whoever_is_away_keeps_a_tenth_of_what_may_enter_in_a_minute_or_one_place",
        "the_first_of_a_crowd_that_has_entered_in_part_is_called_and_served",
      ),
      ...native(
        "src/order/waiters",
        "a_crowd_of_seconds_is_told_in_parts_whoever_checks_in_first",
      ),
      ...native(
        "src/machines/isolate/tests/crowd",
        "few_ask_at_a_time_and_one_more_asks_for_all_who_wait",
        "a_request_that_ends_without_a_word_leaves_room_for_another",
      ),
    ],
  },
  {
    attack: "Race at admission: check, then act",
    holds: "escrow (law I1): slots are booked before they are handed out",
    elsewhere: [
      ...workerd("replay", "200 uses of one waiting ticket at once take one place"),
      ...native(
        "src/machines/data_center_counter/tests",
        "one_admission_gets_one_slot_however_often_it_asks",
      ),
    ],
  },
  {
    attack: "Distributed overshoot: every data center spends the same budget",
    holds: "grants that sum to the limit, even if messages are lost or late",
    elsewhere: [
      ...native("tests/laws/escrow", "i1_every_grant_is_within_both_limits"),
      ...native(
        "src/machines/global_aggregator/tests",
        "newcomers_get_what_both_limits_leave_and_the_first_refused_closes_the_room",
      ),
    ],
  },
  {
    attack: "Clock games: forged times, skew, replay of an old minute",
    holds: "server time alone, inside the sealed ticket; 30 seconds of skew",
    elsewhere: native(
      "src/keys/key_ring/tests",
      "a_ticket_opens_from_its_hour_to_the_second_after_with_30_seconds_of_skew",
    ),
  },
  {
    attack: "Cached pages or `Set-Cookie` served to others",
    holds: "`no-store` on every answer that carries a cookie or a page of ours",
    elsewhere: [
      ...workerd("edges", "an answer that carries a ticket is never stored by a cache"),
      ...own("addresses", "no cache ahead is told to keep an answer with a ticket"),
      ...native("src/page/response", "the_queue_page_refreshes_and_is_never_stored"),
    ],
  },
  {
    attack: "Open redirect",
    holds: "no target from the request is followed",
    elsewhere: [],
  },
  {
    attack: "Refresh spam, faster polling",
    holds: "an early check-in is not counted and gives no chance",
    elsewhere: [
      ...native(
        "src/admission/tests",
        "a_refresh_counts_from_half_a_second_before_it_is_due",
      ),
      ...native(
        "src/machines/isolate/tests/copies",
        "an_old_copy_that_is_sent_again_and_again_counts_once_and_asks_nobody",
      ),
    ],
  },
  {
    attack: "Takeover of the management: open path, default password, guessing",
    holds:
      "no API without a token (403); readers only read; a network that guesses must wait, but a " +
      "right token from it works; the public secrets of local development work on local hosts " +
      "only; on own machines those answer nobody from elsewhere",
    elsewhere: [
      ...own("addresses", "whoever is elsewhere reaches no cockpit and no API by naming localhost"),
      ...workerd(
        "management",
        "only who has a token is let in, and a reader only reads",
        "without a configured token nobody is let in",
      ),
      ...workerd("wrong-configuration", "the public secrets count on local hosts alone"),
      ...native(
        "src/management/api/access/tests",
        "a_network_that_guesses_is_told_to_wait_and_locks_nobody_out",
        "the_public_token_opens_nothing_but_local_hosts",
      ),
    ],
  },
  {
    attack: "Fail-open forcing: make the queue fail so that everybody passes",
    holds: "an explicit choice per room; `keep_flowing` is bounded per minute",
    elsewhere: [
      ...workerd("failed-saves", "a save fails, visitors get the room's choice, it ends"),
      ...native(
        "src/machines/isolate/tests",
        "a_silent_counter_holds_newcomers_or_lets_a_bounded_number_flow",
        "as_many_flow_in_a_minute_of_silence_as_the_room_says",
      ),
    ],
  },
  {
    attack: "Client-side gates",
    holds: "the Worker alone decides",
    elsewhere: [],
  },
  {
    attack: "Counting before validating",
    holds: "an invalid or speculative request changes no counter and asks no object",
    elsewhere: [
      ...native(
        "src/keys/key_ring/tests",
        "the_id_of_a_preview_is_told_from_a_made_up_one_without_asking_anybody",
      ),
      ...native("src/visit/request", "requests_are_told_apart_by_method_and_headers"),
    ],
  },
  {
    attack: "Operator error: negative, huge or contradictory values",
    holds: "typed bounds, every error at once, nothing half-applied",
    elsewhere: [
      ...workerd("management", "what is wrong is said, all at once and where"),
      ...native("src/management/config/tests", "values_keep_to_their_limits"),
      ...native("src/management/registry/tests", "every_error_of_a_room_is_told_at_once"),
    ],
  },
  {
    attack: "Template injection, hostile templates",
    holds: "values are escaped, templates compiled at write and bounded, a strict policy",
    elsewhere: [
      ...native(
        "src/page/template/tests",
        "values_are_interpolated",
        "source_and_page_are_bounded",
      ),
      ...native("src/page/tests", "the_policy_allows_the_blocks_of_every_state"),
      ...native("tests/parsers/main", "no_template_panics_or_grows_without_bound"),
    ],
  },
  {
    attack: "Hostile rule expressions",
    holds: "bounded length, depth, expressions and steps; evaluation cannot fail",
    elsewhere: [
      ...native(
        "tests/rules/cost",
        "what_costs_too_much_bypasses_nobody",
        "the_worst_rules_stay_within_the_limit",
      ),
      ...native("tests/rules/refused", "depth_and_length_have_a_limit"),
    ],
  },
  {
    attack: "Telling the infinite queue from the real one",
    holds: "same page, same headers, same length of the cookie",
    elsewhere: [
      ...workerd("turnstile", "the infinite queue looks like the line and calls nobody"),
      ...native("src/keys/key_ring/tests", "tickets_of_all_states_have_one_length"),
      ...native(
        "src/admission/infinite_queue",
        "intervals_are_those_of_the_line",
        "without_an_estimate_the_curve_begins_later",
      ),
      ...native("src/visit/place", "an_invitation_is_used_once_and_only_with_a_place"),
    ],
  },
  ...ROWS_FROM_30,
].map((row, index) => ({ number: index + 1, ...row }));
