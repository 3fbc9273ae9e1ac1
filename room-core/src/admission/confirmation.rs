//! The time window in which a visitor confirms the turn with a click, in rooms whose owner wants
//! that (`confirm_turn_minutes`). It is for visitors who are away when their turn comes.
//!
//! The counter's slot is taken when the visitor is asked, so the ticket alone says for whom a place
//! is kept and until when. The place counts as a visitor inside, in the bucket that ends with the
//! window. A visitor who lets the window pass frees the place, as a session that ends does, and is
//! a newcomer. Nothing extends the window, for a visit within it changes no ticket. A place is
//! never kept longer than the session would last that begins without a confirmation.

use crate::base::time::{SECOND_MS, Timestamp};
use crate::room::settings::{QueueingMethod, Settings};
use crate::ticket::bucket::Bucket;
use crate::ticket::{TURN_KEPT_MINUTES_MAX, Ticket, TicketState};

/// Whether visitors who have waited are asked before they enter. Never where everybody enters.
pub(crate) fn is_on(settings: &Settings) -> bool {
    let has_turns =
        matches!(settings.queueing_method, QueueingMethod::Fifo | QueueingMethod::Random);
    settings.confirm_turn_minutes > 0 && has_turns
}

/// Turns the ticket of an admission into one that asks first. It counts until the end of the
/// window, which began when the slot was given, at `at`.
pub(super) fn asking(ticket: &Ticket, at: Timestamp, settings: &Settings) -> Ticket {
    let minutes = settings.confirm_turn_minutes.min(TURN_KEPT_MINUTES_MAX);
    let window_ms = (u64::from(minutes) * SECOND_MS * 60).min(settings.session_ms());
    let counted_bucket = Bucket::of(at, settings.bucket_width_s(), window_ms);
    Ticket { kept_minutes: minutes, counted_bucket, unconfirmed: false, ..ticket.clone() }
}

/// Whether the ticket says that its holder was asked. The window may be over.
pub(super) fn was_asked(ticket: &Ticket) -> bool {
    ticket.state == TicketState::Accepted && ticket.kept_minutes > 0
}

/// Whether a place is kept for the holder of this ticket, who has not confirmed the turn yet.
pub fn is_asked(ticket: &Ticket, now: Timestamp) -> bool {
    was_asked(ticket) && ticket.counted_bucket.is_live(now)
}

/// Returns for how many seconds the place is kept for the holder of this ticket; `None` if the
/// holder is not asked.
pub fn left_s(ticket: &Ticket, now: Timestamp) -> Option<u32> {
    let left_s = ticket.counted_bucket.expires_at().seconds_since_rounded_up(now);
    is_asked(ticket, now).then(|| u32::try_from(left_s).unwrap_or(u32::MAX))
}

/// Lets a visitor enter who confirms the turn at `now`. Returns the ticket of the new session, and
/// the activity bucket that has counted the visitor. `None` if the visitor is not asked.
///
/// A copy of a ticket that another data center counts ends with the window.
pub(crate) fn confirmed(
    now: Timestamp,
    settings: &Settings,
    ticket: &Ticket,
) -> Option<(Ticket, Bucket)> {
    let from = ticket.counted_bucket;
    let counted_bucket = if ticket.shared { from } else { from.max(settings.bucket_at(now)) };
    let ticket = is_asked(ticket, now).then(|| ticket.clone())?;
    let mut ticket =
        Ticket { kept_minutes: 0, accepted_at: now, last_check_in: now, counted_bucket, ..ticket };
    ticket.note_checked(now);
    Some((ticket, from))
}

#[cfg(test)]
mod tests {
    use super::{confirmed, is_asked, is_on, left_s};
    use crate::admission::tests::queued;
    use crate::admission::{
        Ask, CounterAnswer, Decision, RandomInputs, VisitContext, decide, is_inside, settle,
    };
    use crate::base::id::TicketId;
    use crate::base::time::{MINUTE_MS, Timestamp};
    use crate::capacity::slots::SlotClass;
    use crate::order::lottery::LotteryKey;
    use crate::room::settings::{QueueingMethod, Settings};
    use crate::ticket::Ticket;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn room(minutes: u8) -> Settings {
        Settings { confirm_turn_minutes: minutes, ..Settings::for_tests() }
    }

    fn context(now: Timestamp, settings: &Settings) -> VisitContext<'_> {
        let ticket_id = TicketId::from_bytes([9; 16]);
        let random = RandomInputs { ticket_id, jitter: 0, lottery: LotteryKey::default() };
        VisitContext { now, settings, view: None, may_ask: true, behind_ms: 0, random }
    }

    /// Settles the visit at `now` of a visitor of this class who got a slot at `at`.
    fn granted(now: Timestamp, at: Timestamp, settings: &Settings, class: SlotClass) -> Decision {
        let ticket = queued(NOW.0 - 600_000, NOW.0 - 20_000);
        let key = settings.order_key(&ticket);
        let ask = Ask { ticket, class, key, session_ms: settings.session_ms() };
        settle(context(now, settings), ask, CounterAnswer::Granted(at))
    }

    fn asked(settings: &Settings) -> Ticket {
        match granted(NOW, NOW, settings, SlotClass::Queued) {
            Decision::Admit { ticket, bucket, .. } => {
                assert_eq!(ticket.counted_bucket, bucket, "it counts as long as it is kept");
                ticket
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn whose_turn_comes_is_asked_and_enters_with_a_click_alone() {
        let settings = room(2);
        let ticket = asked(&settings);
        assert!(is_asked(&ticket, NOW) && !is_inside(&ticket, NOW, &settings));
        // The bucket ends up to 5 s later.
        assert!((120..=125).contains(&left_s(&ticket, NOW).unwrap()));
        let later = NOW + MINUTE_MS;
        let visit = decide(context(later, &settings), Some(ticket.clone()));
        assert_eq!(visit, Decision::TooEarly { ticket: ticket.clone() }, "a visit changes nothing");
        let (inside, from) = confirmed(later, &settings, &ticket).unwrap();
        assert_eq!(from, ticket.counted_bucket);
        assert!(is_inside(&inside, later, &settings) && !is_asked(&inside, later));
        assert_eq!(inside.counted_bucket, settings.bucket_at(later), "the session begins now");
        assert_eq!(confirmed(later, &settings, &inside), None);
    }

    #[test]
    fn a_window_that_has_passed_is_over_for_each_copy_and_each_answer() {
        let settings = room(2);
        let ticket = asked(&settings);
        let end = ticket.counted_bucket.expires_at();
        assert!(is_asked(&ticket, Timestamp(end.0 - 1)));
        assert_eq!((is_asked(&ticket, end), left_s(&ticket, end)), (false, None));
        assert_eq!(confirmed(end, &settings, &ticket), None);
        assert!(!is_inside(&ticket, end, &settings));
        // The ticket from before the answer gets the slot of then, and the window of then.
        match granted(NOW + MINUTE_MS, NOW, &settings, SlotClass::Queued) {
            Decision::Admit { ticket: again, .. } => {
                assert_eq!(again.counted_bucket, ticket.counted_bucket);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(granted(end, NOW, &settings, SlotClass::Queued), Decision::Spent);
    }

    #[test]
    fn a_place_is_kept_no_longer_than_a_session_lasts() {
        let minute = Settings { session_duration_minutes: 1, ..room(5) };
        assert!(left_s(&asked(&minute), NOW).unwrap() <= 61);
        let fixed = Settings { disable_session_renewal: true, ..room(5) };
        let later = NOW + 4 * MINUTE_MS;
        let (inside, _) = confirmed(later, &fixed, &asked(&fixed)).unwrap();
        assert!(is_inside(&inside, later + 4 * MINUTE_MS, &fixed), "a whole session");
        let shared = Ticket { shared: true, ..asked(&fixed) };
        let (copy, from) = confirmed(later, &fixed, &shared).unwrap();
        assert_eq!(copy.counted_bucket, from, "nobody counts it for longer");
    }

    #[test]
    fn nobody_is_asked_who_did_not_wait_nor_where_everybody_enters() {
        let enters =
            |settings: &Settings, class: SlotClass| match granted(NOW, NOW, settings, class) {
                Decision::Admit { ticket, .. } => is_inside(&ticket, NOW, settings),
                other => panic!("{other:?}"),
            };
        assert!(!enters(&room(5), SlotClass::Queued));
        assert!(enters(&room(5), SlotClass::New));
        assert!(enters(&room(0), SlotClass::Queued));
        let method = |queueing_method| Settings { queueing_method, ..room(5) };
        assert!(!enters(&method(QueueingMethod::Random), SlotClass::Queued));
        assert!(enters(&method(QueueingMethod::Passthrough), SlotClass::Queued));
        assert!(!is_on(&method(QueueingMethod::Reject)));
    }
}
