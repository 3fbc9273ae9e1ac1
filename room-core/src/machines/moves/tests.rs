//! Tests of transfers: one code, one device, whatever is lost or repeated.

use super::{MOVES_MAX, MoveReply, MoveRequest, OVER_KEPT_MS, TAKEN_KEPT_MS, answer};
use crate::admission::moving::CODE_MS;
use crate::base::{id::VisitorId, time::Timestamp};

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const OLD: VisitorId = VisitorId(7);
const FIRST: VisitorId = VisitorId(8);
const SECOND: VisitorId = VisitorId(9);
const CODE: u64 = u64::MAX;

/// The storage of an object, which is read anew for each request.
#[derive(Default)]
struct Stored(String);

impl Stored {
    fn ask(&mut self, now: Timestamp, request: MoveRequest) -> MoveReply {
        let (reply, text) = answer(now, &self.0, request);
        self.0 = text;
        reply
    }

    fn start(&mut self, now: Timestamp, visitor: VisitorId, name: u64) -> MoveReply {
        self.start_in(7, now, visitor, name)
    }

    fn start_in(
        &mut self,
        network: u16,
        at: Timestamp,
        visitor: VisitorId,
        name: u64,
    ) -> MoveReply {
        let (ticket, before) = (format!("sealed{name}"), None);
        self.ask(at, MoveRequest::Start { visitor, at, before, name, ticket, network })
    }

    fn take(&mut self, now: Timestamp, name: u64, by: VisitorId) -> MoveReply {
        self.ask(now, MoveRequest::Take { name, by, asks_why: false })
    }

    fn tell(&mut self, now: Timestamp, at: Timestamp) -> MoveReply {
        self.ask(now, MoveRequest::Ask { visitor: OLD, at })
    }
}

fn ticket() -> MoveReply {
    MoveReply::Ticket(format!("sealed{CODE}"))
}

#[test]
fn a_code_is_taken_once_and_the_old_device_hears_of_it() {
    let mut stored = Stored::default();
    assert_eq!(stored.start(NOW, OLD, CODE), MoveReply::Open);
    assert_eq!(stored.tell(NOW + 1, NOW), MoveReply::Open);
    assert_eq!(stored.take(NOW + 2, CODE - 1, FIRST), MoveReply::Nothing, "a wrong code");
    assert_eq!(stored.take(NOW + 3, CODE, FIRST), ticket());
    assert_eq!(stored.take(NOW + 3, CODE, SECOND), MoveReply::Nothing, "too late by nothing");
    assert_eq!(stored.take(NOW + 4, CODE, FIRST), ticket(), "the answer was lost");
    assert_eq!(stored.tell(NOW + 5, NOW), MoveReply::Taken);
    assert_eq!(stored.tell(NOW + CODE_MS + TAKEN_KEPT_MS - 1, NOW), MoveReply::Taken);
    assert_eq!(stored.take(NOW + CODE_MS, CODE, FIRST), MoveReply::Nothing);
    assert!(!stored.0.contains("sealed"), "{}", stored.0);
    assert_eq!(stored.tell(NOW + CODE_MS + TAKEN_KEPT_MS, NOW), MoveReply::Nothing);
    assert_eq!(stored.0, "");
}

#[test]
fn a_code_that_nobody_takes_is_over_after_a_minute() {
    let mut stored = Stored::default();
    stored.start(NOW, OLD, CODE);
    assert_eq!(stored.tell(NOW + CODE_MS - 1, NOW), MoveReply::Open);
    assert_eq!(stored.take(NOW + CODE_MS, CODE, FIRST), MoveReply::Nothing);
    assert_eq!(stored.tell(NOW + CODE_MS, NOW), MoveReply::Nothing);
    assert!(!stored.0.contains("sealed"), "{}", stored.0);
    assert_eq!(stored.tell(NOW + CODE_MS + OVER_KEPT_MS, NOW), MoveReply::Nothing);
    assert_eq!(stored.0, "");
}

#[test]
fn whoever_asks_hears_why_a_code_is_not_good() {
    let mut stored = Stored::default();
    let why = |stored: &mut Stored, after_ms: u64, name: u64, by: VisitorId| {
        stored.ask(NOW + after_ms, MoveRequest::Take { name, by, asks_why: true })
    };
    stored.start(NOW, OLD, CODE);
    assert_eq!(why(&mut stored, 1, CODE - 1, FIRST), MoveReply::Nothing);
    assert_eq!(why(&mut stored, 1, CODE, FIRST), ticket());
    assert_eq!(why(&mut stored, 2, CODE, SECOND), MoveReply::Used);
    assert_eq!(why(&mut stored, CODE_MS, CODE, FIRST), MoveReply::Used);
    stored.start(NOW, SECOND, 5);
    assert_eq!(why(&mut stored, CODE_MS - 1, 6, FIRST), MoveReply::Nothing);
    assert_eq!(why(&mut stored, CODE_MS, 5, FIRST), MoveReply::Over);
    assert_eq!(why(&mut stored, CODE_MS + OVER_KEPT_MS - 1, 5, FIRST), MoveReply::Over);
    assert_eq!(why(&mut stored, CODE_MS + OVER_KEPT_MS, 5, FIRST), MoveReply::Nothing);
}

#[test]
fn a_new_code_ends_the_one_before_and_none_is_made_of_a_place_that_has_moved() {
    let mut stored = Stored::default();
    stored.start(NOW, OLD, CODE - 1);
    assert_eq!(stored.start(NOW + 1, OLD, CODE), MoveReply::Open);
    assert_eq!(stored.take(NOW + 2, CODE - 1, FIRST), MoveReply::Nothing);
    assert_eq!(stored.take(NOW + 2, CODE, FIRST), ticket());
    let again = |before| MoveRequest::Start {
        visitor: OLD,
        at: NOW + 9,
        before,
        name: 5,
        ticket: String::new(),
        network: 7,
    };
    assert_eq!(stored.ask(NOW + 9, again(Some(NOW + 1))), MoveReply::Taken);
    // The device that has it can move it on, and the first still hears of its own code.
    assert_eq!(stored.ask(NOW + 9, again(None)), MoveReply::Open);
    assert_eq!(stored.tell(NOW + 10, NOW + 1), MoveReply::Taken);
    assert_eq!(stored.tell(NOW + 10, NOW + 9), MoveReply::Open);
}

#[test]
fn there_is_room_for_so_many_and_no_two_have_one_name() {
    let mut stored = Stored::default();
    assert_eq!(stored.start(NOW, VisitorId(0), 0), MoveReply::Open);
    assert_eq!(stored.start(NOW, VisitorId(1), 0), MoveReply::Nothing);
    for number in 1..MOVES_MAX as u64 {
        assert_eq!(stored.start(NOW, VisitorId(number), number), MoveReply::Open);
    }
    let next = MOVES_MAX as u64;
    stored.take(NOW, 3, FIRST);
    assert_eq!(stored.start(NOW, VisitorId(next), next), MoveReply::Open);
    assert_eq!(stored.take(NOW, 3, FIRST), MoveReply::Nothing);
    assert_eq!(stored.take(NOW, next, FIRST), MoveReply::Ticket(format!("sealed{next}")));
    // Those that are over make room, too, and none is pushed out that is good.
    let later = NOW + CODE_MS;
    for number in 0..MOVES_MAX as u64 {
        assert_eq!(stored.start(later, VisitorId(number), 5_000 + number), MoveReply::Open);
    }
    let good = stored.0.lines().filter(|line| line.contains("sealed")).count();
    assert_eq!((stored.0.lines().count(), good), (MOVES_MAX, MOVES_MAX));
}

#[test]
fn whoever_fills_the_room_with_codes_ends_their_own() {
    let mut stored = Stored::default();
    let sealed = |name: u64| MoveReply::Ticket(format!("sealed{name}"));
    // An honest visitor first; then 20 codes from each of fifty networks, and as many again.
    assert_eq!(stored.start_in(500, NOW, OLD, CODE), MoveReply::Open);
    for number in 0..2 * MOVES_MAX as u64 {
        let (network, visitor) = (number as u16 % 50, VisitorId(100 + number));
        assert_eq!(stored.start_in(network, NOW, visitor, number), MoveReply::Open);
    }
    assert_eq!(stored.0.lines().count(), MOVES_MAX);
    assert_eq!(stored.take(NOW, 0, SECOND), MoveReply::Nothing, "the oldest of the others");
    assert_eq!(stored.take(NOW, CODE, FIRST), ticket());
    // And another one afterwards.
    assert_eq!(stored.start_in(501, NOW, FIRST, CODE - 1), MoveReply::Open);
    assert_eq!(stored.take(NOW, CODE - 1, SECOND), sealed(CODE - 1));
    // Nothing tells of a network once its code is over.
    let later = NOW + CODE_MS;
    assert_eq!(stored.start_in(9, later, VisitorId(1), 5), MoveReply::Open);
    assert!(!stored.0.contains(" 501\n") && stored.0.contains(" 9\n"), "{}", stored.0);
}

#[test]
fn what_is_stored_otherwise_is_as_good_as_nothing() {
    for text in ["", "nonsense", "1 2 3", "1 2 3 4 5", "1 2 3 x - sealed", "\n\n"] {
        let request = MoveRequest::Take { name: CODE, by: FIRST, asks_why: true };
        assert_eq!(answer(NOW, text, request), (MoveReply::Nothing, String::new()));
    }
}

/// An isolate of this version asks an object of the next, and the other way round.
#[test]
fn messages_are_as_pinned() {
    let (visitor, at, name) = (VisitorId(u64::MAX), NOW, 5);
    let start = |before| {
        let ticket = "sealed".to_owned();
        MoveRequest::Start { visitor, at, before, name, ticket, network: 65_535 }
    };
    let check = |request: MoveRequest, want: &str| {
        assert_eq!(request.to_text(), want);
        assert_eq!(MoveRequest::read(want), Some(request));
    };
    let first = "start 18446744073709551615 1800000000000 ";
    check(start(None), &format!("{first}0 5 sealed 65535"));
    check(start(Some(NOW + 1)), &format!("{first}1800000000001 5 sealed 65535"));
    let earlier = MoveRequest::read(&format!("{first}0 5 sealed"));
    assert!(matches!(earlier, Some(MoveRequest::Start { network: 0, .. })), "{earlier:?}");
    check(MoveRequest::Take { name, by: FIRST, asks_why: false }, "take 5 8");
    check(MoveRequest::Take { name, by: FIRST, asks_why: true }, "take 5 8 why");
    check(MoveRequest::Ask { visitor: OLD, at }, "ask 7 1800000000000");
    for text in ["", "start", "start 1 2 3 4", "take 1", "take x 1", "ask 1", "other 1 2"] {
        assert_eq!(MoveRequest::read(text), None, "{text}");
    }
    let ticket = MoveReply::Ticket("sealed".to_owned());
    let replies = [
        (MoveReply::Open, "open"),
        (MoveReply::Taken, "taken"),
        (MoveReply::Nothing, "nothing"),
        (MoveReply::Used, "used"),
        (MoveReply::Over, "over"),
        (ticket, "ticket sealed"),
    ];
    for (reply, text) in replies {
        assert_eq!((reply.to_text().as_str(), MoveReply::read(text)), (text, Some(reply)));
    }
    assert_eq!(MoveReply::read("other"), None);
}
