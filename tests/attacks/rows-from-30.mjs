/** The known attacks from row 30 on: the second part of `rows.mjs`. */

import { clients, native, ofLog, own, scripts, workerd } from "./row-tests.mjs";

/** The rows, as in `rows.mjs`. */
export const ROWS_FROM_30 = [
  {
    attack: "Replaying a Turnstile token; a token for another host",
    holds:
      "single use; host and action are checked; the room says what a timeout is worth; made-up " +
      "ones spend their own address, and the network far later",
    elsewhere: [
      ...workerd(
        "turnstile",
        "a token counts here alone, and once",
        "silence of siteverify is worth what the room says",
      ),
      ...native("src/room/turnstile/verification", "an_answer_means_what_is_documented"),
    ],
  },
  {
    attack: "Request smuggling: hop-by-hop headers, ambiguous lengths",
    holds: "the request reaches the origin as the platform gave it",
    elsewhere: workerd("pass-through", "POST /echo?a=1&b=%2F..%2f&a=2", "GET /echo"),
  },
  {
    attack: "Leaking our cookie to the origin or its logs",
    holds: "the room option `strip_cookie`",
    elsewhere: workerd("strip-cookie", "the origin sees no ticket, and every other cookie"),
  },
  {
    attack: "Memory exhaustion: many rooms, buckets, ids, streams, imported files",
    holds: "every map has a bound and says what happens beyond it",
    elsewhere: [
      ...workerd("event-stream", "streams end by themselves and are few"),
      ...native("src/management/registry/tests", "bounds_are_kept_on_both_sides"),
      ...native("src/management/registry/tests/log", "the_log_has_a_size_too"),
      ...native(
        "src/management/registry/tests/whole_file",
        "what_is_wrong_in_a_file_is_named_and_nothing_is_changed",
      ),
      ...native("src/room/turnstile/token", "the_oldest_token_makes_room"),
    ],
  },
  {
    attack: "Cross-site reading and forged calls of the management",
    holds: "bearer tokens alone; no cookie, no permissive CORS",
    elsewhere: [
      ...workerd("leaving", "another site, and no site at all, make nobody leave"),
      ...workerd("many-rooms", "a thousand rooms are made, told and removed"),
      ...workerd("many-rooms", "a call with a key is done once"),
    ],
  },
  {
    attack: "Spamming others through the owner's e-mail or SMS service (`turn_notice`)",
    holds:
      "one message for a place, and for three places of a network at a mailbox in any spelling, " +
      "by the site's own form; one address and nothing else; a full list promises nothing",
    elsewhere: [
      ...workerd(
        "turn-notice",
        "two tabs, dying isolates and objects: one message",
        "the page promises nothing while the object takes no more",
        "it is taken back, and is of one place alone",
        "an address that others have typed too is told for this place",
      ),
      ...scripts("turns", "a mailbox has three shares for one network, and a place has one"),
      ...native("src/visit/turn_notice", "a_place_without_a_share_of_the_mailbox_hears_so"),
      ...native(
        "src/visit/turn_notice",
        "a_visitor_is_told_from_five_minutes_on_after_a_minute_in_the_line",
        "who_is_near_the_head_already_is_not_asked",
      ),
      ...native(
        "src/room/turn_notice",
        "one_address_is_taken_and_nothing_else",
        "all_spellings_of_a_mailbox_are_one",
      ),
    ],
  },
  {
    attack: "Leave, keep a copy of the cookie, and stay inside uncounted",
    holds:
      "a visitor inside is checked against the ended sessions within a minute; data centers know " +
      "all of these until they have expired",
    elsewhere: [
      ...native(
        "tests/laws/ended",
        "i11_a_copy_kept_after_leaving_is_served_nowhere_a_minute_later",
        "i11_nor_is_one_of_five_thousand",
      ),
      ...native(
        "src/machines/isolate/revoked_tickets",
        "views_that_follow_each_other_make_the_list_whole",
      ),
      ...native("src/capacity/state/revoked", "whoever_asks_hears_of_all_in_pages"),
    ],
  },
  {
    attack: "One session used in many data centers fills the room",
    holds: "one session takes one place: data centers name visitors whom others have counted",
    elsewhere: [
      ...native("tests/laws/replay", "i7_one_session_takes_one_place_in_all_data_centers"),
      ...native(
        "src/capacity/state/named",
        "one_session_in_many_data_centers_takes_one_place",
        "what_was_stored_counts_as_one_whoever_is_heard_first",
      ),
    ],
  },
  {
    attack: "Cut or slow down reports of isolates on purpose",
    holds:
      "an isolate sends reports without an answer to the room's central object, and what it has " +
      "reported stays taken for one session; one that reaches neither object is stated",
    elsewhere: [
      ...native("tests/laws/cuts", "i1_no_cut_of_reports_lets_one_too_many_in"),
      ...native(
        "src/machines/isolate/outbox/tests",
        "a_report_is_in_doubt_after_a_round_trip_to_another_continent",
        "what_ends_soon_is_told_at_once_and_all_else_once_the_aggregator_is_cut_off",
        "what_is_held_is_not_told_again_and_what_is_not_is_told_every_second",
      ),
      ...native(
        "src/capacity/holds/tests",
        "a_place_is_held_between_the_ends_of_both_buckets",
        "beyond_the_bounds_places_are_held_without_names_and_isolates_are_not_heard",
      ),
    ],
  },
  {
    attack: "A form of another site that the queue page would send as if it were the site's own",
    holds:
      "the page offers to send a form only if a page of the same site sent it, and on a press only",
    elsewhere: native(
      "src/visit/answer/tests",
      "only_a_form_of_the_site_itself_can_be_sent_from_the_page",
    ),
  },
  {
    attack:
      "Confirm a turn for others, by a link, a preview, another site or a frame of it, or never " +
      "(`confirm_turn_minutes`)",
    holds:
      "a turn is confirmed by a `POST` of the site's own page with the visitor's ticket, within " +
      "the window; no other host shows that page in a frame, unless the room's cookies are for " +
      "frames; a visitor who does not confirm holds one place, for one session at most",
    elsewhere: [
      ...native(
        "src/admission/confirmation",
        "whose_turn_comes_is_asked_and_enters_with_a_click_alone",
        "a_window_that_has_passed_is_over_for_each_copy_and_each_answer",
        "a_place_is_kept_no_longer_than_a_session_lasts",
      ),
      ...native("src/visit/place", "who_is_asked_confirms_with_a_form_and_does_nothing_else"),
      ...native("src/page/response", "an_owners_page_sets_its_own_policy"),
    ],
  },
  {
    attack: "Reaching the ports by which instances of a cluster talk, or reading their secrets",
    holds:
      "a request without the cluster's key reaches nothing; keys stand in no configuration, and " +
      "in no file that others may read",
    elsewhere: own(
      "cluster",
      "instances count together, and strangers at their ports get nothing",
      "what a cluster cannot be made of is said, and nothing is written",
    ),
  },
  {
    attack: "Secrets from a saved file; what a token for reading learns or changes by a look-up",
    holds:
      "no file has the secret, the key or the whole address of a webhook; the zones, the account " +
      "and the user are told to who has a token, and only with ids and domains",
    elsewhere: [
      ...native(
        "src/management/registry/tests/whole_file",
        "an_export_comes_back_the_same_in_an_empty_registry",
        "an_imported_webhook_sends_nothing_until_its_secrets_are_set",
      ),
      ...clients("terraform", "a token for reading can plan, and changes nothing"),
    ],
  },
  {
    attack:
      "A named token used beyond its role, its zones and rooms or its end, also by a room that " +
      "covers an address of another's; one that makes a wider one; a guess of one; a hash that " +
      "leaks",
    holds:
      "each call is held against role, scope and time, also for what a room is to cover; " +
      "lists, exports, metrics, GraphQL, streams and the log have what is in scope; nobody makes " +
      "or sees a token that may more; hashes of 128 random bits, compared in constant time; a " +
      "revoked one opens nothing after 5 s",
    elsewhere: [
      ...native(
        "src/management/registry/tests/tokens",
        "each_role_may_its_own_and_no_more",
        "a_scope_ends_at_other_zones_and_rooms",
        "no_scope_takes_addresses_of_others",
        "nobody_makes_or_sees_a_token_that_may_more",
        "a_value_is_shown_once_and_its_hash_never",
        "a_token_counts_from_its_beginning_to_its_end",
      ),
      ...native("src/keys/token", "a_hash_is_kept_and_no_token"),
    ],
  },
  {
    attack:
      "Asking with a stranger's or a guessed reference why somebody waited; filling the journal, " +
      "so that honest visitors are lost from it",
    holds:
      "only a token of the API reads it, and it names no person; newcomers without a cookie are " +
      "not noted; each kind of record has a bound, beyond which every visitor has the same chance",
    elsewhere: [
      ...workerd(
        "trace",
        "what is not known, and who may ask",
        "a flood of newcomers and of visitors who come back is not in the way of who enters",
      ),
      ...native(
        "src/machines/journal/tests",
        "a_flood_is_bounded_thinned_by_reference_and_does_not_displace_who_enters",
        "what_is_not_answered_is_told_again_and_no_more_is_kept_than_fits",
      ),
      ...native(
        "src/machines/isolate/tests/journal",
        "records_go_with_reports_that_are_sent_anyway_and_cause_none",
      ),
    ],
  },
  {
    attack:
      "Invitations that are forged, of another room, under another algorithm, over, used by more " +
      "than may, guessed, put into a ticket by hand, or used by a link alone; coming without one " +
      "before the room is opened to all; reading their " +
      "keys; a public key taken for a secret, or one by which everybody signs; more places by " +
      "share",
    holds:
      "HS256 alone, by a key of room, group and deployment, or EdDSA alone where the owner has " +
      "the key; a share is counted from the group's last place, once a use; uses are counted by " +
      "the room's " +
      "object and stored before it answers; the code is in a form's body and behind #, and a " +
      "press on the site's own page sends it; the group is sealed in the ticket, and a ticket " +
      "without one is no place; keys are for the role manage",
    elsewhere: [
      ...native(
        "src/visit/invitation",
        "no_header_chooses_how_a_code_is_checked",
        "claims_count_as_they_are_signed",
        "the_kind_of_a_groups_key_chooses_the_algorithm",
        "a_code_is_of_one_room_and_deployment_and_outlives_a_rotation",
        "every_changed_character_and_every_cut_is_wrong",
      ),
      ...native(
        "src/machines/invitations",
        "a_code_is_used_as_often_as_it_says_and_once_by_each_visitor",
        "the_same_visitor_gets_the_same_place_and_the_next_one_a_later_one",
      ),
      ...native("src/visit/place", "an_invitation_is_used_once_and_only_with_a_place"),
      ...native(
        "src/admission/invitation",
        "whoever_came_without_an_invitation_has_no_place_when_the_room_is_opened_to_all",
      ),
      ...native(
        "src/management/config/invitation",
        "a_public_key_is_one_that_its_owner_alone_signs_by",
        "shares_are_one_place_in_two_at_most",
      ),
      ...workerd(
        "invitations",
        "keys are for managers, and a trace names the group",
        "a group by share has one place in so many, and everybody is told",
      ),
    ],
  },
  {
    number: 46,
    attack:
      "A forged, left out or reordered admission in a sale's log; two histories of one sale; " +
      "learning from a public log who entered; filling the log or asking for it without end",
    holds:
      "a signed tree that anybody checks whole, by our verifier or one of others; " +
      "older checkpoints and receipts show a second history; a commitment with a salt that the " +
      "holder alone gets; only an admission makes an entry, 4,000,000 are kept and more are " +
      "counted; 50 questions a second for each isolate, and none to an object that visitors need",
    elsewhere: [
      ...ofLog(
        "sale/tests",
        "one_forged_left_out_or_reordered_admission_is_found",
        "two_checkpoints_that_do_not_agree_are_found",
        "a_receipt_is_found_in_a_later_log_and_in_no_other",
        "another_key_or_name_is_found",
      ),
      ...ofLog("leaf", "nobody_without_the_salt_can_tell_whose_commitment_it_is"),
      ...ofLog(
        "merge",
        "an_admission_is_one_entry_however_often_it_comes",
        "a_full_log_leaves_out_and_counts",
      ),
      ...ofLog(
        "rules/tests",
        "one_too_many_is_noticed",
        "who_waits_longer_than_a_later_one_is_noticed",
        "what_the_room_counted_is_compared",
        "limits_that_are_raised_afterwards_are_found_and_hide_nothing",
        "sessions_that_may_end_early_later_hide_nothing_from_before",
        "everybody_enters_only_where_everybody_may",
      ),
      ...workerd("verify", "an empty key is none that anybody trusts"),
      ...workerd(
        "transparency-log",
        "each admission is logged once, whatever restarts",
        "a visitor inside has a receipt, and nobody else",
        "who may read a log, and what is none",
        "a flood of questions ends before the objects, and newcomers who wait make no entry",
      ),
      ...workerd(
        "log-object",
        "a row that comes twice is one entry, and a late one stands behind",
        "many bundles are whole, and a write that fails leaves the log as it was",
      ),
      ...native(
        "src/machines/data_center_aggregator/tests/logged",
        "each_counted_admission_is_handed_out_once_with_the_limits",
        "what_a_lost_incarnation_took_in_comes_again_in_the_same_words",
      ),
      ...native(
        "src/visit/log",
        "only_a_room_with_a_log_has_its_address",
        "the_verdict_says_who_may_read_what_and_who_asks",
      ),
    ],
  },
  {
    number: 47,
    attack:
      "Forging or replaying a sign-in by Cloudflare Access, using one from another site's page, " +
      "or making its keys be asked for again and again",
    holds:
      "only RS256 by a key that the team publishes, for this team, application and moment; the " +
      "header counts and no cookie; a change needs the cockpit's own page; keys are bounded and " +
      "asked for at most every 30 s; without them nobody is signed in, and tokens count",
    elsewhere: [
      ...workerd(
        "access",
        "each person, group and program may what ACCESS_ROLES says, in the log by address",
      ),
      ...scripts(
        "access",
        "the own entry counts, then the first group, then everybody's, then looking",
        "an entry that cannot be read gives nothing to whom it is for, and is named",
      ),
      ...native(
        "src/management/api/access/tests",
        "a_person_counts_without_a_token_and_while_signed_in",
      ),
    ],
  },
  {
    number: 48,
    attack:
      "Spamming or deceiving by alerts: many e-mails, a second recipient, lines of the head or " +
      "hidden characters in the name of a room or an event",
    holds:
      "one public mailbox a webhook, of who may manage the room; one e-mail in 5 minutes; " +
      "control and invisible characters of names are blanks; nothing that visitors type is in " +
      "it; off without the owner's binding",
    elsewhere: [
      ...workerd(
        "mail",
        "a test is one e-mail in plain text, without a visitor",
        "what happens within five minutes of an e-mail comes together in the next one",
        "what Cloudflare refuses is said, and tried again",
      ),
      ...scripts(
        "mail",
        "a name cannot end a line of the head, or hide in the text",
        "a second e-mail waits for five minutes, and has all that came meanwhile",
      ),
      ...scripts("mail-relay", "a genuine message becomes one e-mail, and nothing else does"),
      ...native("src/management/config/webhook", "an_email_goes_to_one_public_mailbox"),
    ],
  },
  {
    number: 49,
    attack: "Coming before the prequeue of an event, so as to stand ahead of its draw",
    holds: "whoever waits when it begins draws a lot like all others; a place by share ends there",
    elsewhere: [
      ...native(
        "src/room/event/tests",
        "whoever_waits_when_a_prequeue_begins_takes_part_in_its_draw",
      ),
      ...native(
        "src/admission/invitation",
        "a_place_by_share_from_before_a_prequeue_does_not_lead_past_its_draw",
      ),
      ...native(
        "tests/laws/events",
        "a_line_from_before_the_prequeue_enters_by_lot_with_those_of_the_prequeue",
      ),
    ],
  },
];
