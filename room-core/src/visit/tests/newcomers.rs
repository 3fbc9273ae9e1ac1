//! Tests of newcomers whose network has used up its share of new places.

use super::{Counted, GATE, NOW, counted, inside, isolate, waiting, word};
use crate::room::event::InForce;
use crate::room::settings::Settings;
use crate::room::turnstile::{Turnstile, TurnstileAction};
use crate::ticket::Ticket;
use crate::visit::{Conclusion, Learned, Step, Visit};

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
