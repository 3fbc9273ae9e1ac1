//! The message to a visitor that the turn is near, for visitors who want it. The owner's own e-mail
//! or SMS service sends it, after a webhook from the room's object.
//!
//! What the visitor has typed is stored only in the visitor's cookie. At a check-in with a short
//! shown wait the isolate hands it to the object, and the page says that a message is on its way
//! once the object has taken it. The object sends one message for each visitor and keeps it in
//! memory until the turn. An object that has too many takes none: the next check-in tries again. A
//! restarted object has forgotten it, so it is handed over again after a minute.

use serde::Serialize;
use serde_json::Value;

use crate::base::time::{MINUTE_MS, Timestamp};
use crate::page::waiting::Waiting;
use crate::room::settings::QueueingMethod;
use crate::ticket::contact::Contact;
use crate::ticket::{Ticket, TicketState};

/// The shown wait at which the message is sent, in seconds.
pub const NEAR_S: u32 = 5 * 60;
/// How long a visitor must have had the place before, in milliseconds. So each of many messages
/// costs that time.
const WAITED_MS: u64 = MINUTE_MS;
/// Time until it is handed over again, in milliseconds, and the most times that it is.
const HAND_AGAIN_MS: u64 = MINUTE_MS;
const HANDINGS_MAX: u8 = 5;
/// The most addresses and numbers that the clients of one network may give in a minute, at each
/// isolate.
pub const CONTACTS_PER_MINUTE: u32 = 120;
/// The topic of webhooks that get these messages.
pub const TOPIC: &str = "turn";
/// The name with which a [`ShareRequest`] is sent.
pub const SHARE: &str = "share";

/// An isolate's question to the room's object when a visitor types an address or takes it back:
/// does the place get a share of the mailbox (`webhooks/shares.js`)? Its names are those of
/// [`TurnMessage`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShareRequest {
    /// Names the visitor.
    pub id: String,
    /// Names the mailbox or telephone. Empty to give back the share of the place.
    pub contact_id: String,
}

/// The outcome for an address that a visitor has typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// The place gets a message there.
    Given,
    /// The place gets no message: other places have taken all shares.
    Full,
    /// Nobody can tell, or the place had its message some time ago.
    NotNow,
}

impl Share {
    /// Reads the object's answer. An object of the version before knows no shares.
    pub fn read(answer: Option<&str>) -> Self {
        let answer = answer.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let Some(answer) = answer else { return Self::NotNow };
        let says = |name: &str| answer.get(name).and_then(Value::as_bool);
        match (says("told"), says("share")) {
            (Some(true), _) => Self::NotNow,
            (_, Some(false)) => Self::Full,
            _ => Self::Given,
        }
    }
}

/// What an isolate hands to the room's object, with the names by which `webhooks/turns.js` knows
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TurnMessage {
    /// Names the visitor and the message. It does not reveal the ticket.
    pub id: String,
    /// Names the mailbox or telephone as given from the visitor's network, without revealing
    /// either. It bounds the messages to a mailbox. Each network has a share of its own, so that
    /// nobody elsewhere can use up that of this visitor.
    pub contact_id: String,
    /// What the visitor has typed.
    pub contact: String,
    /// The shown wait, in seconds.
    pub wait_s: u32,
}

/// Reads whether the object has taken a message. An object of the version before does not say so.
pub fn is_taken(answer: &str) -> bool {
    let answer = serde_json::from_str::<Value>(answer).unwrap_or_default();
    answer.is_object() && answer.get("taken").and_then(Value::as_bool) != Some(false)
}

/// Whether a webhook of the room gets messages about turns. `hooks` is what isolates know of the
/// webhooks.
pub fn is_told(hooks: &Value) -> bool {
    let hooks = hooks.as_array().into_iter().flatten();
    let mut topics = hooks.filter_map(|hook| hook.get("topics")?.as_array()).flatten();
    topics.any(|topic| topic.as_str() == Some(TOPIC))
}

/// Whether the holder of a ticket may ask for a message. Not a visitor near the head, nor one whose
/// place is in transfer.
pub fn may_ask(ticket: &Ticket, waiting: &Waiting) -> bool {
    let is_far = waiting.estimate_s.is_none_or(|wait_s| wait_s > NEAR_S);
    has_place(ticket, waiting) && is_far
}

/// Returns the shown wait in seconds if the message is due now.
pub fn due(now: Timestamp, ticket: &Ticket, waiting: &Waiting, contact: &Contact) -> Option<u32> {
    let is_held = waiting.queue_all || waiting.is_held || waiting.is_prequeueing();
    let tells_time = has_place(ticket, waiting) && !ticket.infinite && !is_held;
    let wait_s = waiting.estimate_s.filter(|wait_s| tells_time && *wait_s <= NEAR_S)?;
    let has_waited = now.since_ms(ticket.joined_at) >= WAITED_MS;
    let is_again = contact.handed > 0 && now.since_ms(contact.handed_at) < HAND_AGAIN_MS;
    (has_waited && !is_again && contact.handed < HANDINGS_MAX).then_some(wait_s)
}

/// Whether the visitor has a place to wait for. In a lottery nobody comes nearer, and a place in
/// transfer may be on another device.
fn has_place(ticket: &Ticket, waiting: &Waiting) -> bool {
    ticket.state == TicketState::Queued && !ticket.moving && waiting.method == QueueingMethod::Fifo
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        HAND_AGAIN_MS, HANDINGS_MAX, NEAR_S, Share, WAITED_MS, due, is_taken, is_told, may_ask,
    };
    use crate::admission::tests::queued;
    use crate::base::time::{SECOND_MS, Timestamp};
    use crate::page::waiting::Waiting;
    use crate::room::event::{Phase, Stage};
    use crate::room::settings::QueueingMethod;
    use crate::ticket::Ticket;
    use crate::ticket::contact::Contact;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn waited(ms: u64) -> Ticket {
        queued(NOW.0 - ms, NOW.0 - 2_000)
    }

    fn told(estimate_s: Option<u32>) -> Waiting {
        Waiting { estimate_s, method: QueueingMethod::Fifo, ..Waiting::default() }
    }

    fn typed() -> Contact {
        Contact::new(waited(0).id.visitor(), "a@b.example".to_owned())
    }

    #[test]
    fn a_visitor_is_told_from_five_minutes_on_after_a_minute_in_the_line() {
        let check = |estimate_s: Option<u32>, waited_ms: u64, want: Option<u32>| {
            let waiting = told(estimate_s);
            assert_eq!(due(NOW, &waited(waited_ms), &waiting, &typed()), want, "{estimate_s:?}");
        };
        check(None, WAITED_MS, None);
        check(Some(NEAR_S + 1), WAITED_MS, None);
        check(Some(NEAR_S), WAITED_MS, Some(NEAR_S));
        check(Some(0), WAITED_MS, Some(0));
        check(Some(60), WAITED_MS - 1, None);
    }

    #[test]
    fn it_is_handed_over_again_after_a_minute_and_not_for_ever() {
        let (ticket, waiting) = (waited(WAITED_MS), told(Some(60)));
        let mut contact = typed();
        for handing in 0..HANDINGS_MAX {
            let now = NOW + u64::from(handing) * HAND_AGAIN_MS;
            assert_eq!(due(now, &ticket, &waiting, &contact), Some(60), "{handing}");
            contact = contact.handed(now);
            let soon = now + (HAND_AGAIN_MS - SECOND_MS);
            assert_eq!(due(soon, &ticket, &waiting, &contact), None, "{handing}");
        }
        let late = NOW + 100 * HAND_AGAIN_MS;
        assert_eq!(due(late, &ticket, &waiting, &contact), None);
    }

    #[test]
    fn nobody_is_told_without_a_place_and_a_time_of_their_own() {
        let ticket = waited(WAITED_MS);
        let is_due = |ticket: &Ticket, waiting: Waiting| {
            due(NOW, ticket, &Waiting { estimate_s: Some(60), ..waiting }, &typed()).is_some()
        };
        let line = told(None);
        assert!(is_due(&ticket, line));
        for method in [QueueingMethod::Random, QueueingMethod::Passthrough, QueueingMethod::Reject]
        {
            assert!(!is_due(&ticket, Waiting { method, ..line }), "{method:?}");
            assert!(!may_ask(&ticket, &Waiting { method, ..line }), "{method:?}");
        }
        assert!(!is_due(&ticket, Waiting { queue_all: true, ..line }));
        assert!(!is_due(&ticket, Waiting { is_held: true, ..line }));
        let (phase, starts_in_ms, ends_in_ms) = (Phase::Prequeueing, 60_000, 120_000);
        let event =
            Some(Stage { phase, starts_at: NOW, starts_in_ms, ends_in_ms, shuffles: false });
        assert!(!is_due(&ticket, Waiting { event, ..line }));
        let moving = Ticket { moving: true, ..ticket.clone() };
        assert!(!is_due(&moving, line) && !may_ask(&moving, &line));
        // From outside it looks like the line.
        let infinite = Ticket { infinite: true, ..ticket.clone() };
        assert!(!is_due(&infinite, line) && may_ask(&infinite, &line));
    }

    #[test]
    fn who_is_near_the_head_already_is_not_asked() {
        let check = |estimate_s: Option<u32>, want: bool| {
            assert_eq!(may_ask(&waited(0), &told(estimate_s)), want, "{estimate_s:?}");
        };
        check(None, true);
        check(Some(NEAR_S + 1), true);
        check(Some(NEAR_S), false);
        check(Some(0), false);
    }

    #[test]
    fn a_place_without_a_share_of_the_mailbox_hears_so() {
        let check = |answer: Option<&str>, want: Share| {
            assert_eq!(Share::read(answer), want, "{answer:?}");
        };
        check(Some(r#"{"share":true,"told":false}"#), Share::Given);
        check(Some(r#"{"share":false,"told":false}"#), Share::Full);
        check(Some(r#"{"share":true,"told":true}"#), Share::NotNow);
        check(Some(r#"{"pending":0}"#), Share::Given); // an object of the version before
        check(Some("x"), Share::NotNow);
        check(None, Share::NotNow);
    }

    #[test]
    fn a_message_counts_as_taken_unless_the_object_says_no_or_nothing() {
        let check = |answer: &str, want: bool| assert_eq!(is_taken(answer), want, "{answer}");
        check(r#"{"taken":true}"#, true);
        check(r#"{"taken":false}"#, false);
        check(r#"{"pending":0}"#, true); // an object of the version before
        check("x", false);
    }

    #[test]
    fn a_webhook_must_name_the_topic() {
        assert!(!is_told(&json!(null)) && !is_told(&json!([])) && !is_told(&json!([{}])));
        assert!(!is_told(&json!([{ "topics": ["queueing", "event"] }])));
        assert!(is_told(&json!([{ "topics": ["queueing"] }, { "topics": ["save", "turn"] }])));
    }
}
