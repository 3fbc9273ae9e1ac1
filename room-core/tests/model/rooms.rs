//! The worlds that are searched: small rooms, each in a situation, with its own kinds of faults.

use crate::room::{Before, Budget, Bug, Clock, Place, Room};

/// A search and what it is called.
pub struct Named {
    pub name: &'static str,
    pub room: Room,
}

/// Shortly before the first visitor of [`line`] is gone and the rate allows the next.
const NEARLY_FREE_MS: u64 = 60_500;

fn named(name: &'static str, room: Room) -> Named {
    Named { name, room }
}

/// One place, one visitor a minute: one visitor inside, the next in line.
fn line(then: Before) -> Room {
    let before = vec![Before::Arrive, Before::Calm(2_000), Before::Arrive, then];
    Room { before, ..Room::new(1, 1, &[0, 1, 0]) }
}

/// The same when the next in line may come for the place.
fn called() -> Room {
    line(Before::CalmUntilServed(1))
}

/// The same with two in line, where a while may pass with messages on their way.
fn watched() -> Room {
    let (arrive, calm) = (Before::Arrive, Before::Calm);
    let served = Before::CalmUntilServed(1);
    let before = vec![arrive, calm(1_000), arrive, calm(500), arrive, served];
    Room { before, is_calm_anywhere: true, ..called() }
}

/// Two places, two visitors a minute: two inside, two in line, the first of whom may come.
fn called_of_two() -> Room {
    let (arrive, calm) = (Before::Arrive, Before::Calm);
    let served = Before::CalmUntilServed(2);
    let before = vec![arrive, arrive, calm(1_500), arrive, calm(1_500), arrive, served];
    Room { before, ..Room::new(2, 2, &[0, 1, 0, 1]) }
}

fn with(room: Room, faults: u8, budget: Budget) -> Room {
    Room { budget: Budget { faults, calms: room.budget.calms, ..budget }, ..room }
}

/// Messages that are lost, that come twice or late, and tabs that sleep.
fn messages(faults: u8, room: Room) -> Room {
    with(room, faults, Budget { losses: 2, doubles: 1, delays: 1, dozes: 1, ..Budget::default() })
}

/// A restart of one of these, and one message that is lost or late.
fn restarts(room: Room, restarts: &[Place]) -> Room {
    let budget = Budget { restarts: 1, losses: 1, delays: 1, ..Budget::default() };
    Room { restarts: restarts.to_vec(), ..with(room, 2, budget) }
}

/// Visitors inside who come back, with old cookies too and to the other data center too.
fn renewals(until_ms: u64) -> Room {
    let (arrive, calm) = (Before::Arrive, Before::Calm);
    let before = vec![arrive, calm(1_100), arrive, calm(until_ms - 1_100)];
    let mut room = Room { before, ..Room::new(2, 2, &[0, 1, 0]) };
    room.settings.disable_session_renewal = false;
    let budget = Budget { renewals: 3, doubles: 1, ..Budget::default() };
    with(room, 1, budget)
}

/// The same where an isolate may die with what it has not reported, and nobody comes anew.
fn dying(room: Room) -> Room {
    let budget = Budget { renewals: 3, restarts: 1, losses: 1, ..Budget::default() };
    let homes = vec![0, 1];
    with(Room { homes, restarts: vec![Place::Isolate(0)], ..room }, 2, budget)
}

/// One place and somebody in it who renews at one isolate or the other, one of which is cut from
/// its aggregator; the next in line comes when the session would be over.
fn cut() -> Room {
    let (arrive, calm) = (Before::Arrive, Before::Calm);
    let before = vec![arrive, calm(5_000), arrive, calm(40_000)];
    let mut room = Room { before, is_timely: true, ..Room::new(1, 1, &[0, 1]) };
    room.settings.disable_session_renewal = false;
    with(room, 1, Budget { renewals: 3, cuts: 1, ..Budget::default() })
}

/// Two inside and two in line, where the site ends a session at any isolate, more than once.
fn ends(faults: u8, budget: Budget) -> Room {
    let (arrive, calm) = (Before::Arrive, Before::Calm);
    let before = vec![arrive, arrive, calm(1_500), arrive, calm(1_500), arrive, calm(4_000)];
    let mut room = Room { before, ..Room::new(2, 8, &[0, 1, 0, 1]) };
    room.settings.sessions_end_early = true;
    with(room, faults, Budget { ends: 2, ..budget })
}

/// Everything in one data center runs ahead by so much.
fn ahead(room: Room, ahead_ms: u64) -> Room {
    let clocks = [Clock::Counter(1), Clock::Aggregator(1), Clock::Isolate(1)];
    Room { ahead: clocks.map(|clock| (clock, ahead_ms)).to_vec(), ..room }
}

/// The same where one of these restarts.
fn ending(restarts: &[Place]) -> Room {
    let budget = Budget { restarts: 1, losses: 1, ..Budget::default() };
    Room { restarts: restarts.to_vec(), ..ends(2, budget) }
}

/// The searches that must find nothing.
pub fn sound() -> Vec<Named> {
    let empty = || Room::new(1, 1, &[0, 1, 0]);
    let empty_of_two = || Room::new(2, 2, &[0, 1, 0, 1]);
    let counter_ahead = Room { ahead: vec![(Clock::Counter(1), 1_600)], ..messages(1, called()) };
    let global_ahead = Room { ahead: vec![(Clock::Global, 5_000)], ..called() };
    let lost_and_slow = with(watched(), 1, Budget { losses: 1, delays: 1, ..Budget::default() });
    vec![
        named("an empty room", empty()),
        named("an empty room of two, bad messages", messages(2, empty_of_two())),
        named("a place comes free", line(Before::Calm(NEARLY_FREE_MS - 2_000))),
        named("the head is called, bad messages", messages(2, called())),
        named("two are called, bad messages", messages(2, called_of_two())),
        named("global restarts", restarts(called(), &[Place::Global])),
        named("counter restarts", restarts(called(), &[Place::Counter(1)])),
        named("aggregator restarts", restarts(called(), &[Place::Aggregator(1)])),
        named("isolate restarts", restarts(called(), &[Place::Isolate(1)])),
        named("renewals", renewals(5_000)),
        named("late renewals", renewals(59_500)),
        named("renewals, isolate restarts", dying(renewals(5_000))),
        named("renewals, an isolate is cut off", cut()),
        named("ended sessions", ends(2, Budget { losses: 1, doubles: 1, ..Budget::default() })),
        named("ended sessions, aggregator restarts", ending(&[Place::Aggregator(0)])),
        named("ended sessions, global restarts", ending(&[Place::Global])),
        named("a data center 1 s ahead", messages(1, ahead(called(), 1_000))),
        named("a data center 5 s ahead", messages(1, ahead(called(), 5_000))),
        named("a counter 1.6 s ahead", counter_ahead),
        named("the global aggregator 5 s ahead", messages(1, global_ahead)),
        named("lost and slow answers", lost_and_slow),
        named("a fast room", messages(2, Room::new(60, 60, &[0, 0, 1]))),
    ]
}

/// The planted bugs, each in a room where it shows, with the law that it breaks.
pub fn planted() -> Vec<(Named, &'static str)> {
    let before = vec![Before::Arrive, Before::Calm(4_500)];
    let fast = Room { before, ..Room::new(60, 60, &[0, 0]) };
    let two = Room { homes: vec![0, 1], ..renewals(5_000) };
    let none = Budget::default();
    let with_bug = |bug, room| Room { bug: Some(bug), ..room };
    let lease = with_bug(Bug::LeaseEndsLate, fast);
    let repeat = with_bug(Bug::RepeatWithoutRateSlot, loses_one(watched()));
    let renewal = with_bug(Bug::RenewalCountedTwice, two);
    let early = with_bug(Bug::SaidBeforeStored, restarts(called(), &[Place::Global]));
    vec![
        (named("a lease that ends late", lease), "I5"),
        (named("a repeat without a rate slot", repeat), "I1"),
        (named("a renewal counted twice", renewal), "I7"),
        (named("an end that counts twice", with_bug(Bug::EndCountedTwice, ends(0, none))), "I1"),
        (named("an answer before the row is stored", early), "I"),
        (named("a renewal that nobody hears of", with_bug(Bug::HoldsForgotten, cut())), "I1"),
    ]
}

fn loses_one(room: Room) -> Room {
    with(room, 1, Budget { losses: 1, ..Budget::default() })
}
