//! Tests of newcomers whose network has used up its share of new places.

use super::{Counted, GATE, NOW, counted, inside, isolate, waiting, word};
use crate::base::id::Incarnation;
use crate::capacity::slots::{GrantId, SlotClass};
use crate::machines::isolate::Outcome;
use crate::machines::wire::{CounterReply, Shard};
use crate::queue::view::View;
use crate::room::event::InForce;
use crate::room::invitation::{Enters, InvitationGroup, Invitations};
use crate::room::settings::Settings;
use crate::room::turnstile::{Turnstile, TurnstileAction};
use crate::ticket::Ticket;
use crate::visit::{Conclusion, Learned, Need, Step, Visit, takes_new_place};

#[test]
fn no_token_gives_a_place_beyond_the_share_of_a_network() {
    let log = Turnstile { action: TurnstileAction::Log, ..GATE };
    for turnstile in [GATE, log] {
        let settings = Settings { challenge_required: turnstile.gates(), ..Settings::for_tests() };
        let check = |passed: Option<bool>, ticket: Option<Ticket>, open: bool, want: &str| {
            let in_force = InForce { turnstile, ..InForce::of_settings(&settings) };
            let in_force = in_force.after_challenge(passed);
            let learned = Learned { passed, ..Learned::default() };
            let visit = Visit { learned, ..Visit::of_page(NOW, &in_force) };
            let mut isolate = isolate(open);
            let mut source = Counted { has_no_place_left: true, ..counted(ticket.clone()) };
            let step = visit.step(Some(&mut isolate), &mut source);
            assert_eq!(word(&step), want, "{turnstile:?} {passed:?} {open} {ticket:?}");
            let Step::Answer(outcome) = step else { return };
            let Conclusion { outcome: shown, challenge, .. } =
                visit.conclude(&isolate, outcome.clone());
            if want == "without place" {
                assert_eq!((shown, challenge), (outcome, None), "{turnstile:?} {passed:?}");
            }
        };
        let infinite = Ticket { infinite: true, ..waiting() };
        for passed in [None, Some(true), Some(false)] {
            for open in [false, true] {
                check(passed, None, open, "without place");
            }
            if turnstile == log || passed != Some(false) {
                check(passed, Some(waiting()), false, "wait");
            }
            check(passed, Some(inside(&settings)), false, "pass");
            // Of a room that has no more use for the infinite queue, and whoever has left it.
            let stays = turnstile.gates() && passed != Some(true);
            let want = if stays { "infinite" } else { "without place" };
            check(passed, Some(infinite.clone()), false, want);
        }
    }
}

/// The answers of a counter about a ticket whose session, or window to confirm, is long over.
fn answers_to_spent() -> [CounterReply; 3] {
    let (shard, incarnation) = (Shard::default(), Incarnation(7));
    let granted = |shared: bool| CounterReply::Granted {
        grant: GrantId { incarnation, number: 1 },
        class: SlotClass::Queued,
        granted_at: NOW.minus_seconds(3_600),
        end: None,
        batch: None,
        view: None,
        shard,
        shared,
    };
    let refused = CounterReply::Refused { view: None, held: None, shard, spent: true };
    [refused, granted(false), granted(true)]
}

#[test]
fn a_spent_ticket_gives_no_place_beyond_the_share_of_a_network() {
    let settings = Settings { confirm_turn_minutes: 1, ..Settings::for_tests() };
    let settled = |settings: &Settings, reply: CounterReply, has_no_place_left: bool| {
        let in_force = InForce::of_settings(settings);
        let visit = Visit::of_page(NOW, &in_force);
        let mut isolate = isolate(true);
        let called = Ticket { group: 1, ..waiting() };
        let mut source = Counted { has_no_place_left, ..counted(Some(called)) };
        let Step::Need(Need::Slot(ask)) = visit.step(Some(&mut isolate), &mut source) else {
            panic!("not called")
        };
        visit.settle(&mut isolate, ask, Some(reply), &mut source)
    };
    for reply in answers_to_spent() {
        let outcome = settled(&settings, reply.clone(), false);
        assert!(takes_new_place(NOW, &outcome), "{outcome:?}");
        let outcome = settled(&settings, reply.clone(), true);
        assert!(matches!(outcome, Outcome::WithoutPlace(_)), "{outcome:?}");
        // Whoever needs an invitation needs another one.
        let group = InvitationGroup {
            name: "members".to_owned(),
            enters: Enters::InTurn,
            one_in: 0,
            public_key: None,
        };
        let only = Settings { invitations: Invitations::of(&[group], true), ..settings.clone() };
        let outcome = settled(&only, reply, false);
        assert!(matches!(outcome, Outcome::Uninvited(_)), "{outcome:?}");
    }
}

#[test]
fn a_place_counts_where_the_clock_is_behind_too() {
    let settings = Settings::for_tests();
    let in_force = InForce::of_settings(&settings);
    let visit = Visit::of_page(NOW, &in_force);
    let mut isolate = isolate(false);
    isolate.on_view(View { version: 2, made_at: NOW + 700, ..View::default() });
    let Step::Answer(outcome) = visit.step(Some(&mut isolate), &mut counted(None)) else {
        panic!("no answer")
    };
    let Outcome::Wait { ticket, .. } = &outcome else { panic!("{outcome:?}") };
    assert_eq!(ticket.joined_at, NOW + 700);
    assert!(takes_new_place(NOW, &outcome));
    assert!(!takes_new_place(NOW + 701, &outcome), "a later visit");
}
