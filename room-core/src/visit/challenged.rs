//! Marks the ticket of a visit with the state of its challenge, and says what to count.

use crate::machines::isolate::Outcome;
use crate::room::turnstile::{ChallengeEvent, Turnstile};
use crate::ticket::Challenge;

/// Marks the ticket in the outcome with the state of the challenge, and returns what there is to
/// count. `is_over` is true for the visit whose token was checked.
pub(super) fn marked(
    outcome: Outcome,
    turnstile: Turnstile,
    is_over: bool,
) -> (Outcome, Option<ChallengeEvent>) {
    match outcome {
        Outcome::Wait { mut ticket, .. } if is_over => {
            ticket.challenge = Challenge::Answered;
            (Outcome::Wait { ticket, counted: true }, None)
        }
        Outcome::Wait { mut ticket, counted: true } => {
            let before = ticket.challenge;
            ticket.challenge = turnstile.challenged(&ticket);
            let counted = (ticket.challenge != before).then_some(ChallengeEvent::Challenge);
            (Outcome::Wait { ticket, counted: true }, counted)
        }
        Outcome::Challenge(_) => (outcome, Some(ChallengeEvent::Challenge)),
        Outcome::InfiniteQueue { .. } if !is_over => {
            (outcome, Some(ChallengeEvent::InfiniteQueueRequest))
        }
        _ => (outcome, None),
    }
}

#[cfg(test)]
mod tests {
    use super::marked;
    use crate::admission::tests;
    use crate::machines::isolate::Outcome;
    use crate::room::turnstile::{ChallengeEvent, Turnstile, TurnstileAction, TurnstileMode};
    use crate::ticket::{Challenge, Ticket};

    const LOG: Turnstile =
        Turnstile { mode: TurnstileMode::Invisible, action: TurnstileAction::Log };
    const GATE: Turnstile =
        Turnstile { mode: TurnstileMode::VisibleManaged, action: TurnstileAction::InfiniteQueue };
    const OFF: Turnstile = Turnstile { mode: TurnstileMode::Off, ..GATE };

    fn queued() -> Ticket {
        tests::queued(1, 2)
    }

    #[test]
    fn a_visitor_is_counted_where_the_challenge_begins() {
        let check =
            |turnstile: Turnstile, outcome: Outcome, over: bool, want: Option<ChallengeEvent>| {
                let (marked, fact) = marked(outcome.clone(), turnstile, over);
                assert_eq!(fact, want, "{turnstile:?} {outcome:?}");
                marked
            };
        let wait = |counted: bool, challenge: Challenge| Outcome::Wait {
            ticket: Ticket { challenge, ..queued() },
            counted,
        };
        let (none, shown) = (Challenge::None, Challenge::Shown);
        let marked = check(LOG, wait(true, none), false, Some(ChallengeEvent::Challenge));
        assert_eq!(marked, wait(true, shown));
        check(LOG, marked, false, None);
        let answered = wait(true, Challenge::Answered);
        assert_eq!(check(LOG, wait(true, shown), true, None), answered);
        assert_eq!(check(LOG, wait(false, shown), true, None), answered);
        assert_eq!(check(GATE, wait(true, none), true, None), answered);
        assert_eq!(check(LOG, wait(false, none), false, None), wait(false, none));
        assert_eq!(check(OFF, wait(true, none), false, None), wait(true, none));
        check(GATE, Outcome::Challenge(queued()), false, Some(ChallengeEvent::Challenge));
        let pretend = Outcome::InfiniteQueue { ticket: queued(), counted: false };
        check(GATE, pretend.clone(), false, Some(ChallengeEvent::InfiniteQueueRequest));
        check(GATE, pretend, true, None);
        check(GATE, Outcome::Pass, false, None);
        check(GATE, Outcome::Reject(None), false, None);
    }
}
