//! Tests of the isolate's questions to a counter: when they are sent again, and how often.

use super::{Fixture, GRANT, NODE, NOW, Outcome, accepted, granted, view, word};
use crate::base::id::{Colo, CounterCode, TicketId};
use crate::base::time::Timestamp;
use crate::capacity::slots::Slots;
use crate::machines::isolate::Question;
use crate::machines::wire::{CounterCall, CounterReply, CounterRequest, Shard, SlotRequest};
use crate::order::order_key::OrderKey;
use crate::queue::view::View;
use crate::room::settings::{Settings, WhenSilent};
use crate::ticket::{Ticket, TicketState};

fn fixture() -> Fixture {
    Fixture::new(Settings::for_tests())
}

/// A visitor who has waited and is called, with a ticket that names a counter of this data center.
fn called(number: u8, colo: Colo) -> Ticket {
    Ticket {
        id: TicketId::from_bytes([number; 16]),
        state: TicketState::Queued,
        joined_at: NOW - 60_000,
        last_check_in: NOW - 20_000,
        counter: CounterCode::new(colo, 0),
        ..accepted(0)
    }
}

/// The question of a newcomer.
fn question(fixture: &mut Fixture) -> Question {
    let Outcome::Ask(ask) = fixture.visit(None) else { panic!("does not ask") };
    fixture.machine.question(fixture.now, &ask)
}

/// The isolate has asked often, and each answer took one of these times in turn.
fn used_to(took_ms: &[u64]) -> Fixture {
    let mut fixture = fixture();
    for _ in 0..20 {
        for took_ms in took_ms {
            let question = question(&mut fixture);
            fixture.now = fixture.now + *took_ms;
            fixture.machine.on_answered(fixture.now, &question);
        }
    }
    fixture
}

/// So many newcomers come, one each 10 ms, and no counter answers: those who ask, what they are
/// answered otherwise, and what is sent again in all.
fn in_vain(fixture: &mut Fixture, newcomers: u64) -> (Vec<Question>, Vec<&'static str>, usize) {
    let (mut sent, mut others): (Vec<(Timestamp, Question)>, Vec<&'static str>) = <_>::default();
    let mut repetitions = 0;
    for _ in 0..newcomers {
        fixture.now = fixture.now + 10;
        match fixture.visit(None) {
            Outcome::Ask(ask) => {
                let question = fixture.machine.question(fixture.now, &ask);
                sent.push((fixture.now + question.patience_ms, question));
            }
            other => others.push(word(&other)),
        }
        for (again_at, question) in &mut sent {
            if fixture.now >= *again_at {
                *again_at = fixture.now + 3_000;
                repetitions +=
                    usize::from(fixture.machine.ask_again(fixture.now, question).is_some());
            }
        }
    }
    (sent.into_iter().map(|(_, question)| question).collect(), others, repetitions)
}

/// Sends the question again as long as the isolate wants: how long it waits each time.
fn patience_ms(fixture: &mut Fixture, question: &mut Question) -> Vec<u64> {
    let mut waits_ms = vec![question.patience_ms];
    while fixture.machine.ask_again(fixture.now, question).is_some() {
        waits_ms.push(question.patience_ms);
    }
    waits_ms
}

fn take(call: &CounterCall) -> SlotRequest {
    let CounterRequest::Take(take) = call.request else { panic!("{call:?}") };
    take
}

#[test]
fn an_answer_is_waited_for_as_long_as_it_usually_takes_and_then_twice_as_long() {
    let check = |took_ms: &[u64], want: [u64; 3]| {
        let mut fixture = used_to(took_ms);
        let mut question = question(&mut fixture);
        assert_eq!(patience_ms(&mut fixture, &mut question), want, "{took_ms:?}");
    };
    check(&[], [250, 500, 1_000]);
    check(&[3], [10, 20, 40]);
    check(&[30], [30, 60, 120]);
    // Most have a slot ready, some must pull first.
    check(&[5, 5, 5, 205], [247, 494, 988]);
    check(&[2_900], [500, 1_000, 2_000]);
}

#[test]
fn the_same_admission_asks_the_same_counter_by_the_clock_of_the_moment() {
    let mut fixture = fixture();
    let mut question = question(&mut fixture);
    let first = question.call.clone();
    fixture.now = NOW + 250;
    let again = fixture.machine.ask_again(fixture.now, &mut question).unwrap();
    assert_eq!(again.counter, first.counter);
    let sent_at = Some(NOW + 250);
    assert_eq!(take(&again), SlotRequest { sent_at, ..take(&first) });
}

#[test]
fn one_question_in_ten_is_sent_again_soon_and_each_after_half_a_second() {
    let mut fixture = used_to(&[5]);
    let sent: Vec<_> = (0..400)
        .map(|_| {
            let mut question = question(&mut fixture);
            patience_ms(&mut fixture, &mut question)
        })
        .collect();
    let soon = |waits_ms: &&Vec<u64>| waits_ms.first().is_some_and(|first_ms| *first_ms < 500);
    let hurried = sent.iter().filter(soon).count();
    assert!((20..=45).contains(&hurried), "{hurried} of 400 were hurried");
    assert!(sent.iter().all(|waits_ms| waits_ms.len() >= 2), "one was sent once");
    let repetitions: usize = sent.iter().map(|waits_ms| waits_ms.len() - 1).sum();
    assert!(repetitions <= 445, "{repetitions} repetitions of 400");
}

#[test]
fn a_second_answer_leaves_its_slots_to_the_next_newcomers() {
    let mut fixture = fixture();
    fixture.machine.on_view(view(1, NOW, true));
    fixture.ask(Some(granted(None)));
    assert_eq!(word(&fixture.visit(None)), "ask");
    let until: Timestamp = NOW + 2_500;
    let batch = Slots { grant: GRANT, n: 1, until, in_books: None };
    fixture.machine.keep_rest(NOW, NODE, granted(Some(batch)));
    assert_eq!(word(&fixture.visit(None)), "pass with");
    assert_eq!(word(&fixture.visit(None)), "ask");
}

#[test]
fn the_silence_of_another_data_center_is_not_that_of_the_counters_here() {
    let when_silent = WhenSilent::KeepFlowing;
    let settings = Settings { when_silent, keep_flowing_per_minute: 9, ..Settings::for_tests() };
    let mut fixture = Fixture::new(settings);
    let elsewhere = "AMS".parse().unwrap();
    let waits = |number| called(number, elsewhere);
    // All ask before the first of them has waited in vain.
    let asks: Vec<_> = (1..=4)
        .map(|number| {
            let Outcome::Ask(ask) = fixture.visit(Some(waits(number))) else { panic!("no ask") };
            let question = fixture.machine.question(NOW, &ask);
            assert_eq!(question.call.counter.colo, elsewhere);
            ask
        })
        .collect();
    for ask in asks {
        let random = fixture.random();
        let outcome = fixture.machine.settle(NOW + 3_000, &fixture.settings, ask, random, None);
        assert_eq!(word(&outcome), "wait");
    }
    // Whoever comes next asks here.
    fixture.now = NOW + 3_000;
    let Outcome::Ask(ask) = fixture.visit(Some(waits(5))) else { panic!("no ask") };
    assert_ne!(fixture.machine.question(fixture.now, &ask).call.counter.colo, elsewhere);
}

#[test]
fn who_asks_another_data_center_twice_in_vain_asks_here_from_any_isolate() {
    let elsewhere: Colo = "AMS".parse().unwrap();
    let check = |answers: &[bool], is_here: bool| {
        let mut ticket = called(1, elsewhere);
        for is_answered in answers {
            // Each check-in reaches another isolate.
            let mut fixture = fixture();
            let Outcome::Ask(ask) = fixture.visit(Some(ticket)) else { panic!("no ask") };
            assert_eq!(fixture.machine.question(NOW, &ask).call.counter.colo, elsewhere);
            let shard = Shard::default();
            let refused = CounterReply::Refused { view: None, held: None, shard, spent: false };
            let reply = is_answered.then_some(refused);
            let random = fixture.random();
            let outcome = fixture.machine.settle(NOW, &fixture.settings, ask, random, reply);
            let Outcome::Wait { ticket: next, .. } = outcome else { panic!("does not wait") };
            ticket = Ticket { last_check_in: NOW - 20_000, ..next };
        }
        let mut fixture = fixture();
        let Outcome::Ask(ask) = fixture.visit(Some(ticket)) else { panic!("no ask") };
        let asked = fixture.machine.question(NOW, &ask).call.counter.colo;
        assert_eq!(asked == NODE.colo, is_here, "{answers:?}");
    };
    check(&[false], false);
    check(&[false, true, false], false);
    check(&[false, false], true);
}

#[test]
fn a_whole_line_that_comes_back_to_silent_objects_asks_for_half_a_second() {
    let mut fixture = fixture();
    let (asked, others, repetitions) = in_vain(&mut fixture, 290);
    // Then one in 2 s does, and nothing but the oldest question is sent again.
    assert_eq!((asked.len(), others.len()), (50 + 2, 290 - 52));
    assert!(repetitions <= 26, "{repetitions}"); // those of the first quarter, and the oldest
    assert!(others.iter().all(|word| *word == "wait"));
    // With the first answer all ask again, and the next may be late again.
    fixture.machine.on_answered(fixture.now, asked.first().unwrap());
    assert_eq!(in_vain(&mut fixture, 40).0.len(), 40);
}

#[test]
fn who_died_without_an_answer_holds_nobody_back_for_longer_than_an_answer_may_take() {
    let mut fixture = fixture();
    question(&mut fixture);
    fixture.now = NOW + 3_000;
    assert_eq!(in_vain(&mut fixture, 40).0.len(), 40);
}

/// Fifty called visitors come at one moment: the questions that are asked for them.
fn called_who_ask(fixture: &mut Fixture, first: u8, colo: Colo) -> Vec<Question> {
    let asks =
        (first..first + 50).filter_map(|number| match fixture.visit(Some(called(number, colo))) {
            Outcome::Ask(ask) => Some(fixture.machine.question(fixture.now, &ask)),
            other => {
                assert_eq!(word(&other), "wait");
                None
            }
        });
    asks.collect()
}

#[test]
fn a_whole_line_that_comes_back_at_one_moment_asks_no_more_than_one_answer_tells() {
    let mut fixture = fixture();
    fixture.machine.on_view(View { threshold: OrderKey(u64::MAX), ..view(1, NOW, true) });
    let asked = called_who_ask(&mut fixture, 0, NODE.colo);
    assert_eq!(asked.len(), 12);
    // Newcomers are not held back by them, and after an answer the next may ask.
    question(&mut fixture);
    assert_eq!(called_who_ask(&mut fixture, 50, NODE.colo).len(), 0);
    fixture.now = NOW + 20;
    fixture.machine.on_answered(fixture.now, asked.first().unwrap());
    assert_eq!(called_who_ask(&mut fixture, 100, NODE.colo).len(), 12);
    // Where no answer came, those who asked are no longer waited for.
    fixture.now = fixture.now + 3_000;
    fixture.machine.on_view(View { threshold: OrderKey(u64::MAX), ..view(2, fixture.now, true) });
    assert_eq!(called_who_ask(&mut fixture, 150, NODE.colo).len(), 12);
    // The counters of another data center are not meant.
    let elsewhere = "AMS".parse().unwrap();
    assert_eq!(called_who_ask(&mut fixture, 200, elsewhere).len(), 50);
}

#[test]
fn a_fresh_view_stops_nobody_from_asking_a_counter_that_is_late() {
    let mut fixture = fixture();
    fixture.machine.on_view(view(1, NOW, true));
    let (asked, others, repetitions) = in_vain(&mut fixture, 200);
    assert_eq!((asked.len(), others.len()), (200, 0));
    assert!(repetitions > 100, "{repetitions}");
}

#[test]
fn nobody_enters_without_a_slot_because_a_counter_is_late() {
    let when_silent = WhenSilent::KeepFlowing;
    let settings = Settings { when_silent, keep_flowing_per_minute: 99, ..Settings::for_tests() };
    let (asked, others, _) = in_vain(&mut Fixture::new(settings), 200);
    assert_eq!((asked.len(), others.len()), (51, 149));
    assert!(others.iter().all(|word| *word == "wait"));
}

#[test]
fn copies_of_a_called_ticket_get_its_slot_and_ask_nobody_for_a_while() {
    let check = |is_shared: bool| {
        let mut fixture = fixture();
        let ticket = called(1, NODE.colo);
        let Outcome::Ask(ask) = fixture.visit(Some(ticket.clone())) else { panic!("no ask") };
        let CounterReply::Granted { grant, class, granted_at, end, batch, view, shard, .. } =
            granted(None)
        else {
            panic!("not granted")
        };
        let shared = is_shared;
        let reply =
            CounterReply::Granted { grant, class, granted_at, end, batch, view, shard, shared };
        let random = fixture.random();
        let first = fixture.machine.settle(NOW, &fixture.settings, ask, random, Some(reply));
        let Outcome::PassWith(entered) = &first else { panic!("{first:?}") };
        assert_eq!(entered.shared, is_shared);
        fixture.now = NOW + 9_999;
        let Outcome::PassWith(copy) = fixture.visit(Some(ticket.clone())) else { panic!("asks") };
        assert_eq!((copy.accepted_at, copy.shared), (entered.accepted_at, is_shared));
        assert_eq!(word(&fixture.visit(Some(called(2, NODE.colo)))), "ask");
        fixture.now = NOW + 10_000;
        assert_eq!(word(&fixture.visit(Some(ticket))), "ask");
    };
    check(false);
    check(true);
}

#[test]
fn of_copies_that_come_at_once_four_ask_until_their_time_is_over() {
    let mut fixture = fixture();
    let ticket = called(1, NODE.colo);
    let come = |fixture: &mut Fixture| -> Vec<_> {
        let visits = (0..6).map(|_| match fixture.visit(Some(ticket.clone())) {
            Outcome::Ask(ask) => {
                fixture.machine.question(fixture.now, &ask);
                "ask"
            }
            other => word(&other),
        });
        visits.collect()
    };
    let want = ["ask", "ask", "ask", "ask", "wait", "wait"];
    assert_eq!(come(&mut fixture), want);
    assert_eq!(word(&fixture.visit(Some(called(2, NODE.colo)))), "ask", "others ask");
    fixture.now = NOW + 30_000;
    assert_eq!(come(&mut fixture), want);
}
