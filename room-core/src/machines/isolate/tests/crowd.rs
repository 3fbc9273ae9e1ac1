//! Tests of a crowd of newcomers: how many ask at a time, and by what the others enter or wait.

use super::{Fixture, GRANT, NOW, Outcome, granted, view, word};
use crate::admission::{Ask, RandomInputs};
use crate::capacity::slots::{ANSWER_MS, Slots};
use crate::machines::isolate::Asking;
use crate::machines::isolate::crowd::{ASKING_MAX, LOOK_MS, LOOKS_MAX};
use crate::machines::wire::{CounterReply, CounterRequest, Shard};
use crate::queue::view::View;
use crate::room::settings::Settings;

/// A newcomer who needs a slot.
struct Newcomer {
    ask: Ask,
    random: RandomInputs,
    looks: u32,
}

/// An isolate with an open view, and newcomers who come at one moment.
struct Crowd {
    fixture: Fixture,
    /// Those who wait, in the order in which they came.
    waiting: Vec<Newcomer>,
    /// Those who ask, each with how many others the question asks for.
    asking: Vec<(Newcomer, u32)>,
    /// What the others are answered.
    answered: Vec<&'static str>,
}

impl Crowd {
    fn new() -> Self {
        let mut fixture = Fixture::new(Settings::for_tests());
        fixture.machine.on_view(view(1, NOW, true));
        Self { fixture, waiting: vec![], asking: vec![], answered: vec![] }
    }

    fn of(newcomers: usize) -> Self {
        let mut crowd = Self::new();
        crowd.come(newcomers);
        crowd
    }

    fn come(&mut self, newcomers: usize) {
        for _ in 0..newcomers {
            let (now, random) = (self.fixture.now, self.fixture.random());
            match self.fixture.machine.visit(now, &self.fixture.settings, None, random) {
                Outcome::Ask(ask) => self.look(Newcomer { ask, random, looks: 0 }),
                outcome => self.answered.push(word(&outcome)),
            }
        }
    }

    fn look(&mut self, newcomer: Newcomer) {
        let Self { fixture: Fixture { machine, settings, now, .. }, .. } = self;
        let Newcomer { ask, random, looks } = &newcomer;
        match machine.ask(*now, settings, ask, *looks, *random) {
            Asking::Send(question) => {
                let CounterRequest::Take(take) = question.call.request else { unreachable!() };
                self.asking.push((newcomer, take.behind));
            }
            Asking::Wait(for_ms) => {
                assert_eq!(for_ms, LOOK_MS);
                self.waiting.push(Newcomer { looks: looks + 1, ..newcomer });
            }
            Asking::Settled(outcome) => self.answered.push(word(&outcome)),
        }
    }

    /// All who wait look again after so long.
    fn all_look(&mut self, after_ms: u64) {
        self.fixture.now = self.fixture.now + after_ms;
        for newcomer in std::mem::take(&mut self.waiting) {
            self.look(newcomer);
        }
    }

    /// The first who asks is answered.
    fn answer(&mut self, reply: CounterReply) {
        let (Newcomer { ask, random, .. }, _) = self.asking.remove(0);
        let Fixture { machine, settings, now, .. } = &mut self.fixture;
        let outcome = machine.settle(*now, settings, ask, random, Some(reply));
        self.answered.push(word(&outcome));
    }

    fn behind(&self) -> Vec<u32> {
        self.asking.iter().map(|(_, behind)| *behind).collect()
    }
}

fn batch(n: u32, closes: bool) -> CounterReply {
    let slots = Slots { grant: GRANT, n, until: NOW + 2_500, in_books: None };
    let CounterReply::Granted { grant, class, granted_at, end, batch, shard, shared, .. } =
        granted(Some(slots))
    else {
        unreachable!("it grants")
    };
    let view = closes.then(|| view(2, NOW, false));
    CounterReply::Granted { grant, class, granted_at, end, batch, view, shard, shared }
}

fn refused(view: View) -> CounterReply {
    CounterReply::Refused { view: Some(view), held: None, shard: Shard::default(), spent: false }
}

#[test]
fn few_ask_at_a_time_and_one_more_asks_for_all_who_wait() {
    let most = ASKING_MAX as usize;
    let check = |newcomers: usize, want: &[u32]| {
        let mut crowd = Crowd::of(newcomers);
        assert!(crowd.behind().iter().all(|behind| *behind == 0), "{newcomers}");
        assert_eq!(crowd.asking.len(), newcomers.min(most), "{newcomers}");
        crowd.all_look(LOOK_MS);
        crowd.all_look(LOOK_MS);
        assert_eq!(crowd.behind()[newcomers.min(most)..], *want, "{newcomers}");
    };
    check(most, &[]);
    check(most + 4, &[]); // no more than those who ask
    check(most + 5, &[4]);
    check(100, &[95]);
    check(500, &[495]);
}

/// Else one slot too many would be asked for, and somebody refused for whom there is a place.
#[test]
fn nobody_asks_for_whom_a_question_on_its_way_counts() {
    let mut crowd = Crowd::of(12);
    crowd.all_look(LOOK_MS);
    assert_eq!(crowd.behind(), [0, 0, 0, 0, 7]);
    for _ in 0..4 {
        crowd.answer(granted(None));
    }
    crowd.all_look(LOOK_MS);
    assert_eq!((crowd.behind(), crowd.waiting.len()), (vec![7], 7));
}

#[test]
fn those_who_wait_enter_with_the_slots_that_others_asked_for() {
    let check = |closes: bool| {
        let mut crowd = Crowd::of(12);
        crowd.answer(batch(6, closes));
        crowd.all_look(LOOK_MS);
        assert_eq!(crowd.answered[..7], ["pass with"; 7], "{closes}");
        assert_eq!(crowd.answered[7..], ["wait"; 2][..if closes { 2 } else { 0 }]);
    };
    check(false);
    check(true); // those who enter were counted when the slots were granted
}

#[test]
fn who_comes_later_neither_asks_nor_enters_before_those_who_wait() {
    let mut crowd = Crowd::of(6);
    crowd.answer(batch(1, false));
    crowd.come(1);
    assert_eq!((crowd.answered.as_slice(), crowd.waiting.len()), (["pass with"].as_slice(), 3));
    crowd.all_look(LOOK_MS);
    assert_eq!(crowd.answered, ["pass with"; 2]);
    // Slots that are left when nobody waits any more are for whoever comes.
    let mut crowd = Crowd::of(5);
    crowd.answer(batch(2, false));
    crowd.all_look(LOOK_MS);
    crowd.fixture.now = crowd.fixture.now + 2 * LOOK_MS;
    crowd.come(1);
    assert_eq!(crowd.answered, ["pass with"; 3]);
}

#[test]
fn who_waits_is_queued_when_the_room_closes_or_after_a_while() {
    let mut crowd = Crowd::of(12);
    crowd.answer(refused(view(2, NOW, false)));
    crowd.all_look(LOOK_MS);
    assert_eq!((crowd.answered, crowd.waiting.len()), (vec!["wait"; 9], 0));
    let mut crowd = Crowd::of(6);
    for _ in 1..LOOKS_MAX {
        crowd.all_look(LOOK_MS);
    }
    assert_eq!((crowd.answered.len(), crowd.waiting.len()), (0, 2));
    crowd.all_look(LOOK_MS);
    assert_eq!((crowd.answered, crowd.waiting.len()), (vec!["wait"; 2], 0));
}

#[test]
fn a_request_that_ends_without_a_word_leaves_room_for_another() {
    let mut crowd = Crowd::of(4);
    crowd.fixture.now = NOW + ANSWER_MS - 1;
    crowd.fixture.machine.on_view(view(2, crowd.fixture.now, true));
    crowd.come(1);
    assert_eq!((crowd.asking.len(), crowd.waiting.len()), (4, 1));
    crowd.all_look(1);
    assert_eq!((crowd.asking.len(), crowd.waiting.len()), (5, 0));
}

#[test]
fn a_clock_that_stands_still_or_is_put_back_holds_up_nobody() {
    let check = |back_ms: u64| {
        let mut crowd = Crowd::of(6);
        crowd.fixture.now = NOW - back_ms;
        crowd.fixture.machine.on_view(view(2, crowd.fixture.now, true));
        for _ in 0..LOOKS_MAX {
            crowd.all_look(0);
        }
        let left = crowd.waiting.len();
        assert_eq!((crowd.asking.len() + crowd.answered.len(), left), (6, 0), "{back_ms}");
    };
    check(0);
    check(60_000);
}
