//! Sealed tickets: golden texts, everything that must not open, and secrets that are none.

use proptest::prelude::*;

use super::{Base64UrlUnpadded, Encoding, Header, KeyRing, KeyRingError, NONCE_BYTES, hour_of};
use crate::base::id::{AggregatorCode, CounterCode, EventId, RoomId, TicketId, VisitorId};
use crate::base::prefix_budget::ClientPrefix;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::keys::master_key::PREVIEW_RANDOM_BYTES;
use crate::order::shuffle::{DrawKey, Shuffle};
use crate::ticket::bucket::Bucket;
use crate::ticket::client::ClientMark;
use crate::ticket::contact::Contact;
use crate::ticket::{Challenge, Ticket, TicketState};

const HOUR_MS: u64 = 60 * MINUTE_MS;

/// Sealed texts with everything that went into them, read by the JavaScript tests too.
#[derive(serde::Deserialize)]
struct Golden {
    ticket_keys: String,
    sealed: Vec<Sealed>,
}

#[derive(serde::Deserialize)]
struct Sealed {
    now: Timestamp,
    nonce: String,
    room: RoomId,
    cookie_name: String,
    ticket: Ticket,
    text: String,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../../../tests/golden/ticket.json")).unwrap()
}

fn ring(keys: &str) -> KeyRing {
    KeyRing::parse(keys).unwrap()
}

fn key(digit: char) -> String {
    digit.to_string().repeat(64)
}

/// The first golden ticket opened with one circumstance changed.
fn opens(change: impl FnOnce(&mut Golden)) -> bool {
    let mut golden = golden();
    change(&mut golden);
    let Sealed { now, room, cookie_name, text, .. } = &golden.sealed[0];
    ring(&golden.ticket_keys).open(*now, *room, cookie_name, text).is_some()
}

/// If this fails for a text that was ever deployed, every waiting visitor loses the place and
/// every visitor inside becomes a new one at the next request. Add a version instead.
#[test]
fn golden_tickets_open_and_are_sealed_to_the_same_text() {
    let golden = golden();
    let mut ring = ring(&golden.ticket_keys);
    for Sealed { now, nonce, room, cookie_name, ticket, text } in &golden.sealed {
        let mut nonce_bytes = [0; NONCE_BYTES];
        Base64UrlUnpadded::decode(nonce, &mut nonce_bytes).unwrap();
        assert_eq!(ring.seal(*now, nonce_bytes, *room, cookie_name, ticket), *text);
        assert_eq!(ring.open(*now, *room, cookie_name, text).as_ref(), Some(ticket));
    }
    assert_eq!(golden.sealed.len(), 5);
}

#[test]
fn tickets_of_all_states_have_one_length() {
    let lengths: Vec<_> = golden().sealed.iter().map(|sealed| sealed.text.len()).collect();
    assert_eq!(lengths, [131; 5]);
}

#[test]
fn a_ticket_opens_only_in_its_room_under_its_name_and_key() {
    assert!(opens(|_| ()));
    assert!(!opens(|golden| golden.sealed[0].room = RoomId::from_bytes([9; 16])));
    assert!(!opens(|golden| golden.sealed[0].cookie_name.push('_')));
    assert!(!opens(|golden| golden.sealed[0].cookie_name.truncate(14)));
    assert!(!opens(|golden| golden.ticket_keys = key('9')));
}

#[test]
fn a_ticket_opens_from_its_hour_to_the_second_after_with_30_seconds_of_skew() {
    let check = |shift_ms: i64, readable: bool| {
        let opens = opens(|golden| {
            let start_of_hour = golden.sealed[0].now.0 / HOUR_MS * HOUR_MS;
            golden.sealed[0].now = Timestamp(start_of_hour.saturating_add_signed(shift_ms));
        });
        assert_eq!(opens, readable, "{shift_ms} ms from the start of the ticket's hour");
    };
    let hour_ms = HOUR_MS as i64;
    check(-30_001, false);
    check(-30_000, true);
    check(0, true);
    check(3 * hour_ms - 1, true);
    check(3 * hour_ms, false);
    check(i64::MIN, false);
    check(i64::MAX, false);
}

/// What was opened before is remembered: the same questions again, of one ring.
#[test]
fn a_ticket_that_was_opened_opens_again_where_it_did_and_nowhere_else() {
    let Golden { ticket_keys, sealed } = golden();
    let mut ring = ring(&ticket_keys);
    let Sealed { now, room, cookie_name, ticket, text, .. } = &sealed[0];
    for _ in 0..2 {
        for Sealed { now, room, cookie_name, ticket, text, .. } in &sealed {
            assert_eq!(ring.open(*now, *room, cookie_name, text).as_ref(), Some(ticket));
        }
    }
    assert_eq!(ring.open(*now, *room, cookie_name, text).as_ref(), Some(ticket));
    let other_room = RoomId::from_bytes([9; 16]);
    assert_eq!(ring.open(*now, other_room, cookie_name, text), None);
    assert_eq!(ring.open(*now, *room, &format!("{cookie_name}_"), text), None);
    let start_of_hour = now.0 / HOUR_MS * HOUR_MS;
    let check = |ring: &mut KeyRing, at: u64, readable: bool| {
        let found = ring.open(Timestamp(at), *room, cookie_name, text);
        assert_eq!(found.is_some(), readable, "at {at}");
    };
    check(&mut ring, start_of_hour - 30_001, false);
    check(&mut ring, start_of_hour + 3 * HOUR_MS - 1, true);
    check(&mut ring, start_of_hour + 3 * HOUR_MS, false);
    for index in 0..text.len() {
        let mut changed = text.clone().into_bytes();
        changed[index] ^= 1;
        let changed = String::from_utf8(changed).unwrap();
        assert_eq!(ring.open(*now, *room, cookie_name, &changed), None, "character {index}");
    }
}

#[test]
fn more_tickets_than_are_remembered_open_all_the_same() {
    let Golden { ticket_keys, sealed } = golden();
    let mut ring = ring(&ticket_keys);
    let Sealed { now, room, cookie_name, ticket, .. } = &sealed[0];
    let texts: Vec<(Ticket, String)> = (0..2_000_u32)
        .map(|number| {
            let mut nonce = [0; NONCE_BYTES];
            nonce[..4].copy_from_slice(&number.to_be_bytes());
            let ticket = Ticket { confirmed_s: number, ..ticket.clone() };
            let text = ring.seal(*now, nonce, *room, cookie_name, &ticket);
            (ticket, text)
        })
        .collect();
    for (ticket, text) in texts.iter().chain(&texts) {
        assert_eq!(ring.open(*now, *room, cookie_name, text).as_ref(), Some(ticket));
    }
}

#[test]
fn every_changed_bit_and_every_cut_is_unreadable() {
    let Golden { ticket_keys, sealed } = golden();
    let Sealed { now, room, cookie_name, text, .. } = &sealed[0];
    let mut ring = ring(&ticket_keys);
    let mut opens = |text: &str| ring.open(*now, *room, cookie_name, text).is_some();
    assert!(opens(text));
    for index in 0..text.len() {
        assert!(!opens(&text[..index]), "cut to {index} characters");
        assert!(!opens(&text[index + 1..]), "less the first {} characters", index + 1);
        for bit in 0..7 {
            let mut changed = text.clone().into_bytes();
            changed[index] ^= 1 << bit;
            let changed = String::from_utf8(changed).unwrap();
            assert!(!opens(&changed), "bit {bit} of character {index}");
        }
    }
    assert!(!opens(&format!("{text}=")));
    assert!(!opens(&format!("{text}A")));

    let bytes = Base64UrlUnpadded::decode_vec(text).unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(!opens(&Base64UrlUnpadded::encode_string(&changed)), "sealed bit {bit}");
    }
}

#[test]
fn what_a_later_version_sealed_is_unreadable() {
    let bytes = Header { key_id: 7, hour: 9 }.to_bytes();
    assert_eq!(bytes, [1, 7, 0, 0, 0, 9]);
    assert!(Header::from_bytes(bytes).is_some());
    assert!(Header::from_bytes([2, 7, 0, 0, 0, 9]).is_none());
    assert!(Header::from_bytes([0, 7, 0, 0, 0, 9]).is_none());
}

#[test]
fn after_a_rotation_the_new_ring_opens_both_and_the_old_ring_only_its_own() {
    let Golden { ticket_keys, sealed } = golden();
    let Sealed { now, room, cookie_name, text, ticket, .. } = &sealed[0];
    let mut old = ring(&ticket_keys);
    let mut new = ring(&format!("{},{ticket_keys}", key('1')));
    let new_text = new.seal(*now, [1; NONCE_BYTES], *room, cookie_name, ticket);
    assert_eq!(new.open(*now, *room, cookie_name, text).as_ref(), Some(ticket));
    assert_eq!(new.open(*now, *room, cookie_name, &new_text).as_ref(), Some(ticket));
    assert_eq!(old.open(*now, *room, cookie_name, &new_text), None);
}

#[test]
fn what_is_not_a_key_ring_is_refused_with_its_reason() {
    let check = |text: &str, want: KeyRingError| {
        assert_eq!(KeyRing::parse(text).err(), Some(want), "{text}");
    };
    let not_a_key = |position| KeyRingError::NotAKey { position };
    let same_id = |first, second| KeyRingError::SameId { first, second };
    let [one, two] = [key('1'), key('2')];
    check("", KeyRingError::Empty);
    check(" \n", KeyRingError::Empty);
    check(",", not_a_key(1));
    check(&format!("opens:{one}"), KeyRingError::NoneSeals);
    check(&format!("{one},opens:"), not_a_key(2));
    check(&format!("{one},opens:opens:{two}"), not_a_key(2));
    check(&format!("{one},opens:{one}"), same_id(1, 2));
    check(&format!("{one},"), not_a_key(2));
    check(&format!("{one},{}", &two[1..]), not_a_key(2));
    check(&format!("{one} {two}"), not_a_key(1));
    check(&format!("{one},{two},{one}"), same_id(1, 3));
    let other_with_the_same_id = (0..1_000)
        .map(|number| format!("{number:064}"))
        .find(|other| ring(other).newest.id() == ring(&one).newest.id())
        .unwrap();
    check(&format!("{one},{other_with_the_same_id}"), same_id(1, 2));
    let nine = "123456789".chars().map(key).collect::<Vec<_>>().join(",");
    check(&nine, KeyRingError::TooMany);
    assert!(KeyRing::parse(&nine[..nine.len() - 65]).is_ok());
    assert!(KeyRing::parse(&format!(" {one} ,\t{two}\r\n")).is_ok());
}

/// The steps of `scripts/deploy/rotation.mjs`.
#[test]
fn a_rotation_renames_and_redraws_nothing() {
    let [old, new] = [key('1'), key('2')];
    let steps = [old.clone(), format!("{old},opens:{new}"), format!("{new},{old}")];
    let Sealed { now, room, ticket, .. } = golden().sealed.remove(0);
    let first = ring(&old);
    let event = EventId::from_bytes([3; 16]);
    let draw = Shuffle { event, from: now, until: now + HOUR_MS, key: DrawKey::default() };
    let named = |keys: &str| {
        let ring = ring(keys);
        let code = ring.place_code(room, &ticket);
        let is_drawn = ring.lottery_key(room) == first.lottery_key(room)
            && ring.draw_key(room, &draw) == first.draw_key(room, &draw);
        let names = (ring.place_name(room, code), ring.visitor_name(room, &ticket));
        (is_drawn, names, ring.preview_id([7; PREVIEW_RANDOM_BYTES]))
    };
    for step in &steps {
        assert_eq!(named(step), named(&old), "{step}");
    }
    // What each step seals or signs, the step before it and the one after it open and take.
    for [one, other] in [[0, 1], [1, 0], [1, 2], [2, 1]] {
        let [mut sealing, mut opening] = [one, other].map(|step| ring(&steps[step]));
        let text = sealing.seal(now, [1; NONCE_BYTES], room, "n", &ticket);
        assert_eq!(opening.open(now, room, "n", &text).as_ref(), Some(&ticket));
        let signs = sealing.invitation_keys(room, "fans").next();
        assert!(opening.invitation_keys(room, "fans").any(|key| Some(key) == signs));
    }
}

#[test]
fn nothing_printed_contains_a_key() {
    let secret = key('a');
    let texts = [
        format!("{:?}", ring(&secret)),
        KeyRing::parse(&format!("{secret},{secret}")).unwrap_err().to_string(),
        KeyRing::parse(&format!("{secret}a")).unwrap_err().to_string(),
    ];
    for text in texts {
        assert!(!text.contains("aaaa") && !text.contains("170"), "{text}");
    }
}

fn any_ticket() -> impl Strategy<Value = Ticket> {
    let accepted_at = proptest::option::of((1..u64::MAX, 1..u32::MAX));
    let times = (any::<u64>(), accepted_at, any::<u64>());
    let rest = any::<([u8; 16], u16, u32, u32, (u32, bool, bool, u32))>();
    (times, rest).prop_map(|((joined_at, accepted, last_check_in), rest)| {
        let (id, interval_s, shown_estimate_s, client, rest) = rest;
        let (confirmed_s, unconfirmed, infinite, last) = rest;
        let (accepted_at, counted_bucket) = accepted.unwrap_or_default();
        // Once accepted, a wait or a moment.
        let is_checked = accepted.is_some() && (1 << 19..u32::MAX).contains(&shown_estimate_s);
        let in_line = if accepted.is_none() && !infinite { last } else { 0 };
        let (counter, group) = CounterCode::split_group(in_line);
        let checked_until_s = if is_checked { shown_estimate_s } else { 0 };
        let shown_estimate_s = if is_checked { u32::MAX } else { shown_estimate_s };
        Ticket {
            id: TicketId::from_bytes(id),
            joined_at: Timestamp(joined_at),
            state: accepted.map_or(TicketState::Queued, |_| TicketState::Accepted),
            accepted_at: Timestamp(accepted_at),
            counted_bucket: Bucket(counted_bucket),
            last_check_in: Timestamp(last_check_in),
            interval_s,
            shown_estimate_s,
            checked_until_s,
            client: ClientMark(client),
            confirmed_s,
            unconfirmed,
            infinite,
            challenge: Challenge::Answered,
            people_ahead: if accepted.is_none() && infinite { last } else { 0 },
            counted_by: AggregatorCode(if accepted.is_some() { last } else { 0 }),
            counter,
            shared: accepted.is_some() && unconfirmed,
            kept_minutes: 0,
            moving: accepted.is_none() && unconfirmed,
            group,
            placed_at: Timestamp(if group > 0 { joined_at } else { 0 }),
        }
    })
}

proptest! {
    #[test]
    fn any_ticket_is_read_back_for_two_hours(
        ticket in any_ticket(),
        now in any::<u64>(),
        age_ms in 0..=2 * HOUR_MS,
        nonce in any::<[u8; NONCE_BYTES]>(),
        room in any::<[u8; 16]>().prop_map(RoomId::from_bytes),
        cookie_name in "[a-z_]{0,40}",
    ) {
        let now = Timestamp(now);
        let mut ring = ring(&key('1'));
        let text = ring.seal(now, nonce, room, &cookie_name, &ticket);
        prop_assert_eq!(text.len(), 131);
        prop_assert_eq!(ring.open(now + age_ms, room, &cookie_name, &text), Some(ticket));
    }

    #[test]
    fn whatever_else_a_visitor_sends_is_no_ticket(
        text in prop_oneof!["[A-Za-z0-9_-]{131}", any::<String>()],
        body in "[A-Za-z0-9_-]{123}",
        now in any::<u64>(),
    ) {
        let mut ring = ring(&key('1'));
        let (now, room) = (Timestamp(now), RoomId::from_bytes([0; 16]));
        prop_assert_eq!(ring.open(now, room, "n", &text), None);
        // A header that is right reaches the cipher.
        let header = Header { key_id: ring.newest.id(), hour: hour_of(now) }.to_bytes();
        let header = Base64UrlUnpadded::encode_string(&header);
        prop_assert_eq!(ring.open(now, room, "n", &(header + &body)), None);
    }
}

#[test]
fn a_code_for_a_place_is_of_one_ticket_moment_room_and_deployment() {
    let Sealed { room, ticket, .. } = golden().sealed.remove(0);
    let ring = |keys: &str| KeyRing::parse(keys).unwrap();
    let first = ring(&key('1'));
    let code = first.place_code(room, &ticket);
    assert_eq!(first.place_code(room, &ticket), code);
    let later = Ticket { last_check_in: ticket.last_check_in + 1, ..ticket.clone() };
    let other = Ticket { id: TicketId::from_bytes([9; 16]), ..ticket.clone() };
    assert_ne!(first.place_code(room, &later), code);
    assert_ne!(first.place_code(room, &other), code);
    assert_ne!(first.place_code(RoomId::from_bytes([9; 16]), &ticket), code);
    assert_ne!(ring(&key('2')).place_code(room, &ticket), code);
    let name = first.place_name(room, code);
    assert_ne!(first.place_name(room, first.place_code(room, &later)), name);
    assert_ne!(first.place_name(RoomId::from_bytes([9; 16]), code), name);
    // A new key in front changes no code that is shown.
    let rotated = ring(&format!("{},{}", key('2'), key('1')));
    assert_eq!((rotated.place_code(room, &ticket), rotated.place_name(room, code)), (code, name));
}

/// The object that keeps it cannot read it.
#[test]
fn a_ticket_on_its_way_opens_with_its_code_alone() {
    let Sealed { now, room, ticket, .. } = golden().sealed.remove(0);
    let mut ring = KeyRing::parse(&key('1')).unwrap();
    let code = ring.place_code(room, &ticket).to_string();
    let sealed = ring.seal(now, [7; NONCE_BYTES], room, &code, &ticket);
    let mut opened = |room, name: &str| ring.open(now, room, name, &sealed);
    assert_eq!(opened(room, &code), Some(ticket));
    assert_eq!(opened(room, "__cfwaitingroom"), None);
    assert_eq!(opened(room, "0000-0000"), None);
    assert_eq!(opened(RoomId::from_bytes([9; 16]), &code), None);
}

/// What a visitor has typed is no ticket, and a ticket is nothing that a visitor has typed.
#[test]
fn a_contact_opens_in_its_room_under_its_name_for_two_hours() {
    let room = RoomId::from_bytes([3; 16]);
    let now = Timestamp(1_800_000_000_000);
    let mut keys = ring(&key('1'));
    // As long as a ticket.
    let contact = Contact::new(VisitorId(7), "a@".to_owned() + &"b".repeat(44));
    let sealed = keys.seal_contact(now, [9; NONCE_BYTES], room, "c", &contact);
    assert_eq!(sealed.len(), 131);
    assert_eq!(keys.open_contact(now, room, "c", &sealed).as_ref(), Some(&contact));
    let later = now + 2 * HOUR_MS;
    assert_eq!(keys.open_contact(later, room, "c", &sealed).as_ref(), Some(&contact));
    assert_eq!(keys.open_contact(later + HOUR_MS, room, "c", &sealed), None);
    assert_eq!(keys.open_contact(now, RoomId::from_bytes([4; 16]), "c", &sealed), None);
    assert_eq!(keys.open_contact(now, room, "d", &sealed), None);
    assert_eq!(ring(&key('2')).open_contact(now, room, "c", &sealed), None);
    for cut in ["", "A", &sealed[1..], &sealed[..130]] {
        assert_eq!(keys.open_contact(now, room, "c", cut), None, "{cut}");
    }
    assert_eq!(keys.open(now, room, "c", &sealed), None);
    let Golden { ticket_keys, sealed } = golden();
    let Sealed { now, room, cookie_name, text, .. } = &sealed[0];
    assert_eq!(ring(&ticket_keys).open_contact(*now, *room, cookie_name, text), None);
}

/// Others hear of a visitor by a name that is the same for them alone.
#[test]
fn a_group_has_keys_of_its_own_and_keeps_those_of_before_a_rotation() {
    let (room, other) = (RoomId::from_bytes([1; 16]), RoomId::from_bytes([2; 16]));
    let all =
        |keys: &str, room, group: &str| ring(keys).invitation_keys(room, group).collect::<Vec<_>>();
    let one = all(&key('1'), room, "members");
    assert!(one.len() == 1 && one[0].len() == 43, "{one:?}");
    let rotated = all(&format!("{},{}", key('2'), key('1')), room, "members");
    assert_eq!(rotated, [all(&key('2'), room, "members"), one.clone()].concat());
    for others in [all(&key('1'), other, "members"), all(&key('1'), room, "member")] {
        assert_ne!(one, others);
    }
}

#[test]
fn names_of_visitors_and_mailboxes_are_of_one_room_and_deployment() {
    let keys = ring(&format!("{},{}", key('2'), key('1')));
    let [a, b] = [1, 2].map(|byte| RoomId::from_bytes([byte; 16]));
    let ticket = golden().sealed.remove(0).ticket;
    let name = keys.visitor_name(a, &ticket);
    assert_eq!(name, ring(&key('1')).visitor_name(a, &ticket), "a new key in front changes none");
    assert_ne!(name, keys.visitor_name(b, &ticket));
    assert_ne!(name, ring(&key('2')).visitor_name(a, &ticket));
    let network = |address: &str| ClientPrefix::of(address.parse().ok());
    let (own, other) = (network("192.0.2.1"), network("198.51.100.1"));
    let mailbox = keys.mailbox_name(a, own, "a@b.example");
    assert_eq!((mailbox.len(), &mailbox), (32, &keys.mailbox_name(a, own, "a@b.example")));
    assert_ne!(mailbox, keys.mailbox_name(a, own, "c@b.example"));
    assert_ne!(mailbox, keys.mailbox_name(a, other, "a@b.example"), "each network for itself");
    assert_ne!(mailbox, keys.mailbox_name(b, own, "a@b.example"));
    let home = network("203.0.113.9");
    assert_eq!(keys.network_name(a, home), ring(&key('1')).network_name(a, home));
    assert_ne!(keys.network_name(a, home), keys.network_name(a, network("198.51.100.9")));
    assert_ne!(keys.network_name(a, home), keys.network_name(b, home));
}

#[test]
fn the_id_of_a_preview_is_told_from_a_made_up_one_without_asking_anybody() {
    let keys = ring(&format!("{},{}", key('2'), key('1')));
    let id = keys.preview_id([7; 8]);
    assert_eq!(id.first_chunk(), Some(&[7; 8]));
    assert!(keys.is_preview(RoomId::from_bytes(id)));
    assert!(ring(&key('1')).is_preview(RoomId::from_bytes(id)), "before a new key in front");
    assert!(!ring(&key('2')).is_preview(RoomId::from_bytes(id)));
    for place in 0..id.len() {
        let mut other = id;
        other[place] ^= 1;
        assert!(!keys.is_preview(RoomId::from_bytes(other)), "byte {place}");
    }
}
