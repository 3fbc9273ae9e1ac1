//! What a visitor who does not enter is told: from the ticket, the view and what is in force.
//! Decides nothing; `page` turns it into texts.

use crate::admission::{self, Standing};
use crate::estimate;
use crate::event::{InForce, Phase};
use crate::infinite_queue;
use crate::room::Room;
use crate::settings::{Maintenance, QueueingMethod};
use crate::shuffle::Receipt;
use crate::ticket::{NO_ESTIMATE, Ticket, TicketState};
use crate::time::{SECOND_MS, Timestamp};
use crate::view::View;

/// What is known about a waiting visitor when the page is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that hold independently of each other")]
pub struct Waiting {
    /// Seconds until the visitor is likely to enter; none without data.
    pub estimate_s: Option<u32>,
    /// Seconds between which half of those in the same place enter; a quarter enters sooner.
    pub quartiles_s: Option<(u32, u32)>,
    /// The visitor's last counted check-in.
    pub last_updated: Timestamp,
    /// Seconds from `last_updated` to the next check-in that counts; 0 for no refresh.
    pub refresh_interval_s: u32,
    /// How the room deals with those who wait.
    pub method: QueueingMethod,
    /// Nobody new is let in, whatever is free.
    pub queue_all: bool,
    /// Nobody uses the site: work is done on it.
    pub is_held: bool,
    /// The line takes nobody; this visitor has no place.
    pub queue_is_full: bool,
    /// The request was to change something (a form was sent), and was not passed on.
    pub submitted_nothing: bool,
    /// Visitors who enter before this one; none if the room does not show it.
    pub people_ahead: Option<u64>,
    /// The turn is near enough to be listened for, and the room tells it by an event stream.
    pub event_stream: bool,
    /// What the visitor can verify the drawn order by; none for whoever has no part in it.
    pub draw: Option<Receipt>,
    /// The active event.
    pub event: Option<Stage>,
    /// The visitor is in the infinite queue, and the owner wants that told.
    pub is_infinite: bool,
}

/// Where the active event stands when the page is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Before or after its start.
    pub phase: Phase,
    /// When it starts or started.
    pub starts_at: Timestamp,
    /// Milliseconds until the start; 0 once it came.
    pub starts_in_ms: u64,
    /// Milliseconds until the end.
    pub ends_in_ms: u64,
    /// True when the start draws a new order for all who join before it.
    pub shuffles: bool,
}

impl Stage {
    /// True before the start.
    pub fn is_prequeueing(&self) -> bool {
        self.phase == Phase::Prequeueing
    }
}

impl Waiting {
    /// True before the start of the active event.
    pub fn is_prequeueing(&self) -> bool {
        self.event.as_ref().is_some_and(Stage::is_prequeueing)
    }

    /// True for a visitor who has no place and gets none.
    pub fn is_rejected(&self) -> bool {
        self.method == QueueingMethod::Reject && !self.queue_all && !self.is_prequeueing()
    }

    /// As the API names it.
    pub fn method_name(&self) -> &'static str {
        match self.method {
            QueueingMethod::Fifo => "fifo",
            QueueingMethod::Random => "random",
            QueueingMethod::Passthrough => "passthrough",
            QueueingMethod::Reject => "reject",
        }
    }
}

/// What is known when the page is made.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The moment.
    pub now: Timestamp,
    /// The room as it is configured.
    pub room: &'a Room,
    /// What counts in it now.
    pub in_force: &'a InForce<'a>,
    /// What the isolate knows of the line.
    pub view: Option<&'a View>,
    /// True when the request was to change something.
    pub submits: bool,
}

impl Known<'_> {
    /// For the holder of a ticket, who comes again.
    pub fn waiting(&self, ticket: &Ticket) -> Waiting {
        let settings = &self.in_force.settings;
        let due = admission::next_refresh(ticket);
        let refresh_s = due.since_ms(self.now).div_ceil(SECOND_MS).max(1);
        let shown_s = if ticket.infinite {
            infinite_queue::shown_s(ticket, settings)
        } else {
            Some(ticket.shown_estimate_s).filter(|shown| *shown != NO_ESTIMATE)
        };
        let shown_s = shown_s.filter(|_| !settings.queue_all);
        let full = shown_s.is_some_and(|shown| shown >= estimate::LONGEST_S);
        let shown_s = shown_s.filter(|_| !full);
        Waiting {
            estimate_s: shown_s,
            quartiles_s: shown_s.and_then(|shown_s| self.quartiles_s(ticket, shown_s)),
            last_updated: ticket.last_check_in,
            refresh_interval_s: u32::try_from(refresh_s).unwrap_or(u32::MAX),
            queue_is_full: full,
            people_ahead: self.people_ahead(ticket),
            is_infinite: ticket.infinite && self.room.show_infinite_queue,
            draw: self.receipt(ticket),
            event_stream: settings.event_stream
                && matches!(self.standing(ticket), Standing::Near { .. }),
            ..self.common()
        }
    }

    /// For somebody who joins the line only with a passed challenge. The page comes again with the
    /// answer to that, and not before; nobody keeps the ticket that it was made for.
    pub fn challenged(&self, ticket: &Ticket) -> Waiting {
        let (refresh_interval_s, draw, event_stream) = (0, None, false);
        Waiting { refresh_interval_s, event_stream, draw, ..self.waiting(ticket) }
    }

    /// For the holder of a ticket who listens meanwhile: the interval is the whole one, so that
    /// only news change what is told.
    pub fn listening(&self, ticket: &Ticket, estimate_s: Option<u32>) -> Waiting {
        let refresh_interval_s = u32::from(ticket.interval_s);
        let waiting = if ticket.infinite {
            // What it is told is in the ticket already.
            self.waiting(ticket)
        } else {
            let shown_estimate_s = estimate_s.unwrap_or(NO_ESTIMATE);
            self.waiting(&Ticket { shown_estimate_s, ..ticket.clone() })
        };
        Waiting { refresh_interval_s, event_stream: false, ..waiting }
    }

    /// Where the holder of a ticket that waits stands.
    pub fn standing(&self, ticket: &Ticket) -> Standing {
        admission::standing(self.now, &self.in_force.settings, self.view, ticket)
    }

    /// For a newcomer who gets no place: the page that does not come again.
    pub fn rejected(&self) -> Waiting {
        Waiting { last_updated: self.now, ..self.common() }
    }

    fn common(&self) -> Waiting {
        Waiting {
            method: self.in_force.settings.queueing_method,
            // The room's own: a prequeue tells when it ends.
            queue_all: self.room.settings.is_paused(),
            is_held: self.room.settings.maintenance == Maintenance::Hold,
            event: self.in_force.stage(self.now),
            submitted_nothing: self.submits,
            ..Waiting::default()
        }
    }

    /// Between which moments the half of those in the same place enter.
    fn quartiles_s(&self, ticket: &Ticket, shown_s: u32) -> Option<(u32, u32)> {
        let (settings, view) = (&self.in_force.settings, self.view?);
        let wait = match settings.queueing_method {
            QueueingMethod::Random => estimate::by_lot(view),
            _ if ticket.infinite => estimate::behind(view, infinite_queue::people_ahead(ticket)),
            _ => estimate::in_line(view, settings.order_key(ticket)),
        };
        let wait = wait?.around(shown_s);
        Some((wait.low_s, wait.high_s))
    }

    fn receipt(&self, ticket: &Ticket) -> Option<Receipt> {
        let settings = &self.in_force.settings;
        let is_drawn = ticket.state == TicketState::Queued
            && settings.queueing_method != QueueingMethod::Random;
        let mut draws = settings.shuffles.iter().filter(|_| is_drawn);
        draws.find_map(|draw| draw.receipt(self.now, ticket))
    }

    /// Where an owner wants it told and there is an order; before lots are drawn there is none, and
    /// whoever knew the place could come again for a better one.
    fn people_ahead(&self, ticket: &Ticket) -> Option<u64> {
        let settings = &self.in_force.settings;
        let is_in_line =
            ticket.state == TicketState::Queued && settings.queueing_method == QueueingMethod::Fifo;
        let is_secret = settings.shuffles.iter().any(|draw| draw.covers(self.now));
        let shows = self.room.show_position && is_in_line && !is_secret;
        let view = self.view.filter(|_| shows)?;
        Some(if ticket.infinite {
            infinite_queue::people_ahead(ticket)
        } else {
            estimate::people_ahead(view, settings.order_key(ticket))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Known, Stage, Waiting};
    use crate::admission::tests::queued;
    use crate::config::parse_rooms;
    use crate::event::{Phase, in_force};
    use crate::page::Variables;
    use crate::queue::OrderKey;
    use crate::settings::QueueingMethod;
    use crate::template::Value;
    use crate::ticket::{NO_ESTIMATE, Ticket};
    use crate::time::Timestamp;
    use crate::view::View;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn ticket(shown_estimate_s: u32) -> Ticket {
        let ticket = queued(NOW.0 - 60_000, NOW.0 - 2_000);
        Ticket { shown_estimate_s, unconfirmed: false, ..ticket }
    }

    /// What is told to the holder of a ticket behind 100 others, of whom 10 enter in a minute.
    fn told(fields: &serde_json::Value, shown_estimate_s: u32) -> Waiting {
        told_by(fields, |known| known.waiting(&ticket(shown_estimate_s)))
    }

    fn told_by(fields: &serde_json::Value, tells: impl Fn(&Known<'_>) -> Waiting) -> Waiting {
        let mut room = json!({
            "id": "0123456789abcdef0123456789abcdef",
            "zone_id": "0123456789abcdef0123456789abcdef",
            "name": "shop", "host": "shop.example",
            "total_active_users": 900, "new_users_per_minute": 300,
        });
        for (name, value) in fields.as_object().expect("an object") {
            room[name] = value.clone();
        }
        let room = parse_rooms(&json!([room]).to_string()).expect("valid rooms").remove(0);
        let view = View {
            line: vec![(OrderKey(1), 100)],
            next_place_s: Some(6),
            admissions_per_1000_minutes: 10_000,
            ..View::default()
        };
        let in_force = in_force(&room, NOW);
        let view = Some(&view);
        tells(&Known { now: NOW, room: &room, in_force: &in_force, view, submits: false })
    }

    #[test]
    fn the_place_is_told_where_the_owner_wants_it_and_there_is_an_order() {
        let check = |fields: serde_json::Value, want: Option<u64>| {
            assert_eq!(told(&fields, 600).people_ahead, want, "{fields}");
        };
        check(json!({}), None);
        check(json!({ "show_position": true }), Some(100));
        check(json!({ "show_position": true, "queueing_method": "random" }), None);
        // Until lots are drawn nobody learns what the draw will say.
        let before_the_draw = json!([{
            "id": "0123456789abcdef0123456789abcdef", "name": "sale",
            "prequeue_start_time": "2027-01-15T07:50:00Z",
            "event_start_time": "2027-01-15T08:10:00Z",
            "event_end_time": "2027-01-15T09:00:00Z", "shuffle_at_event_start": true,
        }]);
        let fields = json!({ "show_position": true, "events": before_the_draw });
        check(fields.clone(), None);
        let receipt = told(&fields, 600).draw.expect("takes part");
        assert_eq!(receipt.drawn, None);
        assert_eq!(told(&json!({}), 600).draw, None);
        // Who is challenged has no part in it yet.
        assert_eq!(told_by(&fields, |known| known.challenged(&ticket(600))).draw, None);
    }

    #[test]
    fn only_who_has_a_place_near_the_head_is_offered_a_stream() {
        // Called already: nobody stands nearer.
        let first = Ticket { joined_at: Timestamp(0), ..ticket(60) };
        let check = |fields: serde_json::Value, at_head: bool, after_challenge: bool| {
            let waiting = told_by(&fields, |known| known.waiting(&first));
            let challenged = told_by(&fields, |known| known.challenged(&first));
            assert_eq!(waiting.event_stream, at_head, "{fields}");
            assert_eq!(challenged.event_stream, after_challenge, "{fields}");
        };
        check(json!({}), false, false);
        check(json!({ "event_stream_enabled": true }), true, false);
        assert!(!told(&json!({ "event_stream_enabled": true }), 600).event_stream);
    }

    #[test]
    fn the_quarters_lie_around_what_is_shown_and_a_hold_tells_no_time() {
        let check = |fields: serde_json::Value, shown: u32, want: Option<(u32, u32)>| {
            let told = told(&fields, shown);
            assert_eq!(told.quartiles_s, want, "{fields} {shown}");
            assert_eq!(told.estimate_s.is_some(), want.is_some());
        };
        let lottery = json!({ "queueing_method": "random" });
        check(lottery.clone(), 395, Some((164, 789)));
        check(lottery, NO_ESTIMATE, None);
        check(json!({}), 606, Some((522, 696)));
        check(json!({ "maintenance": "hold" }), 606, None);
        check(json!({ "queue_all": true }), 606, None);
        assert!(told(&json!({}), 24 * 3_600).queue_is_full);
        assert!(told(&json!({ "maintenance": "drain" }), 606).queue_all);
    }

    #[test]
    fn a_lottery_has_percentiles_and_a_line_only_a_range() {
        let check = |method: QueueingMethod, want: [u64; 3], formatted: &str| {
            let (estimate_s, quartiles_s) = (Some(395), Some((164, 789)));
            let waiting = Waiting { estimate_s, quartiles_s, method, ..Waiting::default() };
            let variables = Variables::of(&waiting);
            let value = |name: &str| variables.value(name).unwrap();
            for (part, want) in ["25", "50", "75"].iter().zip(want) {
                let name = format!("waitTime{part}Percentile");
                assert_eq!(value(&name), Value::Integer(want), "{name}");
            }
            assert_eq!(value("waitTime"), Value::Integer(7));
            assert_eq!(value("waitTimeFormatted"), Value::Text(formatted));
            assert_eq!(value("waitTimeRangeKnown"), Value::Bool(true));
            assert_eq!(value("waitTimeRangeLow"), Value::Integer(3));
            assert_eq!(value("waitTimeRangeHigh"), Value::Integer(14));
            let range = Value::Text("3 minutes to 14 minutes");
            assert_eq!(value("waitTimeRangeFormatted"), range);
        };
        check(QueueingMethod::Fifo, [0; 3], "7 minutes");
        check(QueueingMethod::Random, [3, 7, 14], "3 minutes to 14 minutes");
        let held = Waiting {
            method: QueueingMethod::Random,
            estimate_s: Some(395),
            quartiles_s: Some((164, 789)),
            queue_all: true,
            ..Waiting::default()
        };
        let variables = Variables::of(&held);
        assert_eq!(variables.value("waitTime25Percentile"), Some(Value::Integer(0)));
        assert_eq!(variables.value("waitTimeRangeKnown"), Some(Value::Bool(false)));
    }

    #[test]
    fn each_method_has_its_name_and_its_flag() {
        let check = |method: QueueingMethod, name: &str, flag: &str| {
            let variables = Variables::of(&Waiting { method, ..Waiting::default() });
            assert_eq!(variables.value("queueingMethod"), Some(Value::Text(name)));
            for one in ["isFIFOQueue", "isRandomQueue", "isPassthroughQueue", "isRejectQueue"] {
                assert_eq!(variables.value(one), Some(Value::Bool(one == flag)), "{name} {one}");
            }
        };
        check(QueueingMethod::Fifo, "fifo", "isFIFOQueue");
        check(QueueingMethod::Random, "random", "isRandomQueue");
        check(QueueingMethod::Passthrough, "passthrough", "isPassthroughQueue");
        check(QueueingMethod::Reject, "reject", "isRejectQueue");
    }

    #[test]
    fn a_wait_longer_than_the_event_says_so() {
        let check = |estimate_s: u32, want: bool| {
            let event = Some(Stage {
                phase: Phase::Running,
                starts_at: Timestamp(0),
                starts_in_ms: 0,
                ends_in_ms: 600_000,
                shuffles: false,
            });
            let estimate_s = Some(estimate_s);
            let variables = Variables::of(&Waiting { estimate_s, event, ..Waiting::default() });
            let seen = variables.value("waitTimeExceedsEvent");
            assert_eq!(seen, Some(Value::Bool(want)), "{estimate_s:?}");
        };
        check(600, false);
        check(601, true);
    }
}
