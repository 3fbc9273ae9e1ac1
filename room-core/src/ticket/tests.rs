//! Tests of the bytes of a ticket: each field, each flag, and what is unreadable.

use super::client::ClientMark;
use super::{
    CHECKED_S, Challenge, FIRST_MOMENT_S, LONGEST_TOLD_S, NO_ESTIMATE, TICKET_BYTES,
    TURN_KEPT_MINUTES_MAX, Ticket, TicketState,
};
use crate::base::id::{AggregatorCode, TicketId};
use crate::base::time::Timestamp;
use crate::ticket::bucket::Bucket;

fn accepted() -> Ticket {
    Ticket {
        state: TicketState::Accepted,
        accepted_at: Timestamp(0x1112_1314_1516_1718),
        counted_bucket: Bucket(0x2122_2324),
        last_check_in: Timestamp(0x3132_3334_3536_3738),
        interval_s: 0x4142,
        checked_until_s: 0x7172_7374,
        client: ClientMark(0x5152_5354),
        confirmed_s: 0x6162_6364,
        unconfirmed: false,
        infinite: true,
        counted_by: AggregatorCode(0x7172_7374),
        ..Ticket::new(TicketId::from_bytes([7; 16]), Timestamp(0x0102_0304_0506_0708))
    }
}

fn bytes_of(ticket: &Ticket) -> Vec<u8> {
    let mut bytes = Vec::new();
    ticket.append_to(&mut bytes);
    bytes
}

#[test]
fn the_layout_is_the_documented_one() {
    let mut want = vec![7; 16];
    want.extend([1, 2, 3, 4, 5, 6, 7, 8]);
    want.push(1);
    want.extend([0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18]);
    want.extend([0x21, 0x22, 0x23, 0x24]);
    want.extend([0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38]);
    want.extend([0x41, 0x42]);
    want.extend([0x71, 0x72, 0x73, 0x74]);
    want.extend([0x51, 0x52, 0x53, 0x54]);
    want.push(0b10);
    want.extend([0x61, 0x62, 0x63, 0x64]);
    want.extend([0x71, 0x72, 0x73, 0x74]);
    assert_eq!(want.len(), TICKET_BYTES);
    assert_eq!(bytes_of(&accepted()), want);
    assert_eq!(Ticket::from_bytes(&want), Some(accepted()));
}

#[test]
fn what_was_told_first_is_kept() {
    let check = |confirmed_s: u32, shown_estimate_s: u32, want: Option<u32>| {
        let (joined_at, last_check_in) = (Timestamp(5_000), Timestamp(25_900));
        let ticket = Ticket { checked_until_s: 0, ..accepted() };
        let mut ticket =
            Ticket { joined_at, last_check_in, shown_estimate_s, confirmed_s, ..ticket };
        ticket.note_told();
        assert_eq!(ticket.first_told_s(), want, "{confirmed_s} {shown_estimate_s}");
        assert_ne!(ticket.confirmed_s, 0);
        assert_eq!(Ticket::from_bytes(&bytes_of(&ticket)), Some(ticket));
    };
    check(1_800_000_000, 600, Some(620));
    check(620, 300, Some(620));
    check(1_800_000_000, NO_ESTIMATE, None);
    check(1_800_000_000, LONGEST_TOLD_S, None);
    check(1_800_000_000, LONGEST_TOLD_S - 1, Some(LONGEST_TOLD_S + 19));
}

#[test]
fn a_wait_of_a_week_is_not_noted_since_it_would_read_as_a_moment() {
    let check = |waited_s: u32, want: Option<u32>| {
        let joined_at = Timestamp(5_000);
        let last_check_in = joined_at.plus_seconds(waited_s.into());
        let mut ticket = Ticket { joined_at, last_check_in, shown_estimate_s: 60, ..accepted() };
        ticket.note_told();
        assert_eq!(ticket.first_told_s(), want, "{waited_s}");
        assert_eq!(ticket.confirmed_s, want.unwrap_or(accepted().confirmed_s), "{waited_s}");
    };
    check(FIRST_MOMENT_S - 61, Some(FIRST_MOMENT_S - 1));
    check(FIRST_MOMENT_S - 60, None);
}

#[test]
fn a_check_of_ended_sessions_counts_from_a_second_before_it() {
    let check = |moment_s: u64, want_s: u64| {
        let mut ticket = accepted();
        ticket.note_checked(Timestamp::from_seconds(moment_s));
        assert_eq!(ticket.checked_at(), Timestamp::from_seconds(want_s), "{moment_s}");
    };
    check(1_800_000_000, 1_799_999_999);
    check(u64::from(u32::MAX), u64::from(NO_ESTIMATE - 1 - CHECKED_S - 1));
    check(0, u64::from(FIRST_MOMENT_S - CHECKED_S - 1));
    let unchecked = Ticket { checked_until_s: 0, ..accepted() };
    assert_eq!(unchecked.checked_at(), Timestamp(0));
}

#[test]
fn each_flag_has_its_bit() {
    let check = |unconfirmed: bool, infinite: bool, challenge: Challenge, flags: u8| {
        let shared = flags & 0b1_0000 != 0;
        let ticket = Ticket { unconfirmed, infinite, challenge, shared, ..accepted() };
        let bytes = bytes_of(&ticket);
        assert_eq!(bytes[55], flags);
        assert_eq!(Ticket::from_bytes(&bytes), Some(ticket));
    };
    check(false, false, Challenge::None, 0b0000);
    check(true, false, Challenge::None, 0b0001);
    check(false, true, Challenge::None, 0b0010);
    check(false, false, Challenge::Shown, 0b0100);
    check(false, false, Challenge::Answered, 0b1000);
    check(false, false, Challenge::None, 0b1_0000);
    check(true, true, Challenge::Shown, 0b1_0111);
}

/// The version before reads the bit of a waiting visitor as `shared`, and the ticket as one
/// that waits.
#[test]
fn one_bit_says_shared_of_who_is_inside_and_moving_of_who_waits() {
    let accepted_at = Timestamp(0);
    let queued = Ticket {
        state: TicketState::Queued,
        accepted_at,
        counted_bucket: Bucket(0),
        checked_until_s: 0,
        infinite: true,
        counted_by: AggregatorCode::default(),
        ..accepted()
    };
    for ticket in [Ticket { moving: true, ..queued }, Ticket { shared: true, ..accepted() }] {
        let bytes = bytes_of(&ticket);
        assert_eq!(bytes[55] & 0b1_0000, 0b1_0000);
        assert_eq!(Ticket::from_bytes(&bytes), Some(ticket));
    }
}

#[test]
fn more_minutes_than_a_turn_is_kept_are_the_most() {
    for minutes in 0..8 {
        let mut bytes = bytes_of(&accepted());
        bytes[55] |= minutes << 5;
        let kept_minutes = minutes.min(TURN_KEPT_MINUTES_MAX);
        let want = Ticket { kept_minutes, ..accepted() };
        assert_eq!(Ticket::from_bytes(&bytes), Some(want.clone()));
        assert_eq!(bytes_of(&want)[55] >> 5, kept_minutes);
    }
}

#[test]
fn combinations_that_the_room_never_writes_are_unreadable() {
    let check = |state: u8, accepted_at: u8, bucket: u8, readable: bool| {
        let mut bytes = bytes_of(&accepted());
        bytes[24] = state;
        bytes[25..37].fill(0);
        bytes[32] = accepted_at;
        bytes[36] = bucket;
        let read = Ticket::from_bytes(&bytes);
        assert_eq!(read.is_some(), readable, "{state} {accepted_at} {bucket}");
    };
    check(0, 0, 0, true);
    check(0, 1, 0, false);
    check(0, 0, 1, false);
    check(0, 1, 1, false);
    check(1, 1, 1, true);
    check(1, 0, 1, false);
    check(1, 1, 0, false);
    check(1, 0, 0, false);
    check(2, 1, 1, false);
    check(2, 0, 0, false);
}

#[test]
fn a_wrong_length_is_unreadable() {
    let mut bytes = bytes_of(&accepted());
    bytes.push(0);
    assert_eq!(Ticket::from_bytes(&bytes), None);
    for length in 0..TICKET_BYTES {
        assert_eq!(Ticket::from_bytes(&bytes[..length]), None, "{length}");
    }
}

#[test]
fn the_first_absence_is_kept_and_takes_the_place_of_what_was_told() {
    let moment = Timestamp(1_800_000_021_500);
    let mut ticket = Ticket { last_check_in: moment, confirmed_s: 620, ..accepted() };
    assert_eq!((ticket.first_told_s(), ticket.absent_since()), (Some(620), None));
    ticket.note_absence();
    let since = Timestamp(1_800_000_020_000);
    assert_eq!((ticket.first_told_s(), ticket.absent_since()), (None, Some(since)));
    ticket.last_check_in = moment + 600_000;
    ticket.note_absence();
    ticket.note_told();
    assert_eq!((ticket.first_told_s(), ticket.absent_since()), (None, Some(since)));
    assert_eq!(Ticket::from_bytes(&bytes_of(&ticket)), Some(ticket));
    let confirmed = Ticket { confirmed_s: 1_800_000_020, ..accepted() };
    assert_eq!(confirmed.absent_since(), None);
}
