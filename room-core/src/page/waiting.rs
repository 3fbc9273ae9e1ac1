//! The facts for a visitor who does not enter, from the ticket, the view and the settings in force.
//! `page` turns them into texts.

use crate::admission::{self, Standing, confirmation, infinite_queue};
use crate::base::time::{SECOND_MS, Timestamp};
use crate::order::shuffle::Receipt;
use crate::page::invitation::Invitation;
use crate::page::place::PlaceMove;
use crate::page::words::told_step;
use crate::queue::estimate;
use crate::queue::view::View;
use crate::room::Room;
use crate::room::event::{InForce, Stage};
use crate::room::settings::{Maintenance, QueueingMethod};
use crate::ticket::reference::Reference;
use crate::ticket::{NO_ESTIMATE, Ticket, TicketState};

/// The facts about one waiting visitor at the moment when the page is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that hold independently of each other")]
pub struct Waiting {
    /// Seconds until the visitor is likely to enter; `None` if that is unknown.
    pub estimate_s: Option<u32>,
    /// The time range in seconds in which half of all visitors in the same place enter; a quarter
    /// enters sooner, a quarter later.
    pub quartiles_s: Option<(u32, u32)>,
    /// When the visitor checked in last (a visit that was counted).
    pub last_updated: Timestamp,
    /// Seconds until the next check-in is due; in an event stream the whole interval. 0 if the page
    /// does not check in again by itself.
    pub refresh_interval_s: u32,
    /// What apps are told instead, which count from `last_updated`: the whole time between two
    /// check-ins. 0 where they must not ask again by themselves.
    pub interval_s: u32,
    /// The room's queueing method.
    pub method: QueueingMethod,
    /// Whether the room lets nobody new in, even if places are free.
    pub queue_all: bool,
    /// Whether visitors inside get the queue page too: `maintenance: hold`.
    pub is_held: bool,
    /// Whether the wait is a day or longer. The page then says that the line is full.
    pub queue_is_full: bool,
    /// Whether the request submitted something (a form), which was not passed on to the site.
    pub submitted_nothing: bool,
    /// How many visitors enter before this one; `None` if the room does not show it.
    pub people_ahead: Option<u64>,
    /// How many entered in the last minute; `None` if the room does not show it.
    pub entered_last_minute: Option<u64>,
    /// The part of the wait that is over, in percent. `None` if there is no wait or its length is
    /// unknown.
    pub progress_percent: Option<u8>,
    /// Whether this page starts the wait. It is then unknown whether the browser takes cookies.
    pub is_first: bool,
    /// Whether the wait reads longer than on the page before.
    pub takes_longer: bool,
    /// Whether the turn is near and the room offers an event stream that announces it.
    pub event_stream: bool,
    /// The receipt with which the visitor can verify a draw; `None` without a part in one.
    pub draw: Option<Receipt>,
    /// The active event, from its prequeue on; `None` without one.
    pub event: Option<Stage>,
    /// Whether the visitor is in the infinite queue and the owner lets pages say so.
    pub is_infinite: bool,
    /// How the place can be transferred to another device.
    pub place: PlaceMove,
    /// The number that the visitor can quote; `None` without a ticket.
    pub reference: Option<Reference>,
    /// Seconds for which a place is kept until the visitor confirms the turn. `None` before the
    /// turn, and if no confirmation is asked for.
    pub turn_left_s: Option<u32>,
    /// Whether the visitor will have to confirm the turn, and enters only with that.
    pub confirms_turn: bool,
    /// What the visitor is told about invitations.
    pub invitation: Invitation,
}

impl Waiting {
    /// Whether the room is in the prequeue of an event.
    pub fn is_prequeueing(&self) -> bool {
        self.event.as_ref().is_some_and(Stage::is_prequeueing)
    }

    /// Whether the method `reject` gives the visitor no place in the line.
    pub fn is_rejected(&self) -> bool {
        self.method == QueueingMethod::Reject && !self.queue_all && !self.is_prequeueing()
    }

    /// Returns the queueing method's name in the API, like `fifo`.
    pub fn method_name(&self) -> &'static str {
        match self.method {
            QueueingMethod::Fifo => "fifo",
            QueueingMethod::Random => "random",
            QueueingMethod::Passthrough => "passthrough",
            QueueingMethod::Reject => "reject",
        }
    }
}

/// The sources of the facts about any visitor of a room, at one moment.
#[derive(Clone, Copy, Debug)]
pub struct PageContext<'a> {
    /// The moment of the facts.
    pub now: Timestamp,
    /// The room as it is configured.
    pub room: &'a Room,
    /// The settings in force in the room at `now`: its own, or those of the active event.
    pub in_force: &'a InForce<'a>,
    /// What the isolate knows of the line; `None` before its first view.
    pub view: Option<&'a View>,
    /// Whether the request submitted something (a form).
    pub submits: bool,
}

impl PageContext<'_> {
    /// Returns the facts for the holder of a ticket, who waits and checks in again.
    pub fn waiting(&self, ticket: &Ticket) -> Waiting {
        let settings = &self.in_force.settings;
        let due = admission::next_refresh(ticket);
        let turn_left_s = confirmation::left_s(ticket, self.now);
        // Nothing comes of a visit within the window.
        let refresh_s = match turn_left_s {
            Some(left_s) => settings.refresh_interval_s.min(left_s).into(),
            None => due.seconds_since_rounded_up(self.now).min(ticket.interval_s.into()).max(1),
        };
        let refresh_interval_s = u32::try_from(refresh_s).unwrap_or(u32::MAX);
        let shown_s = self.shown_s(ticket).filter(|_| !settings.queue_all);
        let full = shown_s.is_some_and(|shown| shown >= estimate::LONGEST_S);
        let shown_s = shown_s.filter(|_| !full);
        let told = self.view.filter(|_| self.room.show_position && !settings.queue_all && !full);
        Waiting {
            estimate_s: shown_s,
            is_first: ticket.unconfirmed,
            progress_percent: self.progress_percent(ticket, shown_s),
            entered_last_minute: told.and_then(|view| view.entered_last_minute),
            quartiles_s: shown_s.and_then(|shown_s| self.quartiles_s(ticket, shown_s)),
            last_updated: ticket.last_check_in,
            refresh_interval_s,
            interval_s: turn_left_s.map_or(ticket.interval_s.into(), |_| refresh_interval_s),
            queue_is_full: full,
            people_ahead: self.people_ahead(ticket),
            is_infinite: ticket.infinite && self.room.show_infinite_queue,
            place: PlaceMove::of(ticket),
            turn_left_s,
            confirms_turn: confirmation::is_on(settings),
            invitation: Invitation::of(settings, ticket.group),
            event_stream: settings.event_stream
                && matches!(self.standing(ticket), Standing::Near { .. }),
            ..self.common(Some(ticket))
        }
    }

    /// Returns the facts for the holder of a ticket who came with the ticket `before`. They say
    /// whether the wait reads longer than it did.
    pub fn waiting_since(&self, ticket: &Ticket, before: &Ticket) -> Waiting {
        let waiting = self.waiting(ticket);
        let shown_s = self.shown_s(before).filter(|shown_s| *shown_s < estimate::LONGEST_S);
        let takes_longer = waiting
            .estimate_s
            .zip(shown_s)
            .is_some_and(|(now, was)| told_step(now) > told_step(was));
        Waiting { takes_longer, ..waiting }
    }

    /// Returns the estimate that the page of a ticket shows, in seconds; `None` if it shows none.
    fn shown_s(&self, ticket: &Ticket) -> Option<u32> {
        if ticket.infinite {
            return infinite_queue::shown_s(ticket, &self.in_force.settings);
        }
        Some(ticket.shown_estimate_s).filter(|shown_s| *shown_s != NO_ESTIMATE)
    }

    /// Returns the facts for a newcomer who joins the line only with a passed challenge.
    ///
    /// A browser's page comes back with the result of the challenge, and not before, and so do
    /// apps. The visitor does not get `ticket`: it only says what a place would be like.
    pub fn challenged(&self, ticket: &Ticket) -> Waiting {
        let (draw, event_stream) = (None, false);
        let (progress_percent, reference) = (None, None);
        let waiting = self.waiting(ticket);
        Waiting { interval_s: 0, progress_percent, event_stream, draw, reference, ..waiting }
    }

    /// Returns the facts that an event stream sends to the holder of a ticket. The refresh interval
    /// is the whole one and does not count down, so that the text changes only with news.
    pub fn listening(&self, ticket: &Ticket, estimate_s: Option<u32>) -> Waiting {
        let refresh_interval_s = u32::from(ticket.interval_s);
        let waiting = if ticket.infinite {
            // The ticket already holds the estimate that it is told.
            self.waiting(ticket)
        } else {
            let shown_estimate_s = estimate_s.unwrap_or(NO_ESTIMATE);
            self.waiting(&Ticket { shown_estimate_s, ..ticket.clone() })
        };
        Waiting { refresh_interval_s, event_stream: false, ..waiting }
    }

    /// Returns whether the turn of a waiting ticket has come, is near, or is far.
    pub fn standing(&self, ticket: &Ticket) -> Standing {
        admission::standing(self.now, &self.in_force.settings, self.view, ticket)
    }

    /// Returns the facts for somebody who is turned away, a newcomer or the holder of a ticket. The
    /// page does not check in again by itself.
    pub fn rejected(&self, ticket: Option<&Ticket>) -> Waiting {
        Waiting { last_updated: self.now, ..self.common(ticket) }
    }

    /// Returns the facts for the holder of a ticket who needs an invitation and has none.
    pub fn uninvited(&self, ticket: &Ticket) -> Waiting {
        let interval_s = ticket.interval_s.into();
        Waiting { refresh_interval_s: interval_s, interval_s, ..self.rejected(None) }
    }

    fn common(&self, ticket: Option<&Ticket>) -> Waiting {
        Waiting {
            draw: ticket.and_then(|ticket| self.receipt(ticket)),
            reference: ticket.map(|ticket| Reference::of(ticket.id.visitor())),
            invitation: Invitation::of(&self.in_force.settings, 0),
            method: self.in_force.settings.queueing_method,
            // The room's own setting: a prequeue holds everybody too, but its page says when it
            // ends.
            queue_all: self.room.settings.is_paused(),
            is_held: self.room.settings.maintenance == Maintenance::Hold,
            event: self.in_force.stage(self.now),
            submitted_nothing: self.submits,
            ..Waiting::default()
        }
    }

    /// Returns the time range in seconds in which half of all visitors in the same place enter.
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

    /// Returns the part of the wait that is over, in percent, for a ticket with `left_s` seconds to
    /// go. In a lottery nobody comes nearer.
    fn progress_percent(&self, ticket: &Ticket, left_s: Option<u32>) -> Option<u8> {
        let is_in_line = self.in_force.settings.queueing_method != QueueingMethod::Random;
        let left_s = u64::from(left_s.filter(|_| is_in_line)?).max(1);
        let waited_ms = ticket.last_check_in.since_ms(ticket.joined_at);
        let whole_ms = waited_ms.saturating_add(left_s.saturating_mul(SECOND_MS));
        u8::try_from(waited_ms.saturating_mul(100) / whole_ms).ok()
    }

    fn receipt(&self, ticket: &Ticket) -> Option<Receipt> {
        let settings = &self.in_force.settings;
        let is_drawn = ticket.state == TicketState::Queued
            && settings.queueing_method != QueueingMethod::Random;
        let mut random = settings.shuffles.iter().filter(|_| is_drawn);
        random.find_map(|draw| draw.receipt(self.now, ticket))
    }

    /// Returns the number of visitors ahead, in a room that shows it and has an order. There is
    /// none before lots are drawn: a visitor who knew the place could join again for a better one.
    fn people_ahead(&self, ticket: &Ticket) -> Option<u64> {
        let settings = &self.in_force.settings;
        let is_in_line =
            ticket.state == TicketState::Queued && settings.queueing_method == QueueingMethod::Fifo;
        let is_secret = settings.draws_later(self.now);
        let shows = self.room.show_position && is_in_line && !is_secret;
        let view = self.view.filter(|_| shows)?;
        let key = settings.order_key(ticket);
        if ticket.infinite {
            let is_known = ticket.shown_estimate_s != NO_ESTIMATE || view.knows_place(key);
            return is_known.then(|| infinite_queue::people_ahead(ticket));
        }
        view.knows_place(key).then(|| estimate::people_ahead(view, key))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{PageContext, Stage, Waiting};
    use crate::admission::tests::queued;
    use crate::base::time::Timestamp;
    use crate::management::config::parse_rooms;
    use crate::order::order_key::OrderKey;
    use crate::page::Variables;
    use crate::page::template::Value;
    use crate::queue::view::View;
    use crate::room::event::{Phase, in_force};
    use crate::room::settings::QueueingMethod;
    use crate::ticket::{NO_ESTIMATE, Ticket};

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn ticket(shown_estimate_s: u32) -> Ticket {
        let ticket = queued(NOW.0 - 60_000, NOW.0 - 2_000);
        Ticket { shown_estimate_s, unconfirmed: false, ..ticket }
    }

    /// Tells the holder of a ticket behind 100 others, of whom 10 enter per minute.
    fn told(fields: &serde_json::Value, shown_estimate_s: u32) -> Waiting {
        told_by(fields, |known| known.waiting(&ticket(shown_estimate_s)))
    }

    fn told_by(fields: &serde_json::Value, tells: impl Fn(&PageContext<'_>) -> Waiting) -> Waiting {
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
            line: [(OrderKey(1), 100)].into(),
            made_at: NOW,
            next_place_s: Some(6),
            admissions_per_1000_minutes: 10_000,
            ..View::default()
        };
        let in_force = in_force(&room, NOW);
        let view = Some(&view);
        tells(&PageContext { now: NOW, room: &room, in_force: &in_force, view, submits: false })
    }

    #[test]
    fn the_way_behind_a_visitor_is_told_and_where_the_wait_reads_longer_the_page_says_so() {
        let progress = |fields: serde_json::Value, waited_s: u64, left_s: u32| {
            let joined_at = NOW.0 - waited_s * 1_000;
            let ticket = Ticket { shown_estimate_s: left_s, ..queued(joined_at, NOW.0) };
            told_by(&fields, |known| known.waiting(&ticket)).progress_percent
        };
        assert_eq!(progress(json!({}), 0, 600), Some(0));
        assert_eq!(progress(json!({}), 300, 300), Some(50));
        assert_eq!(progress(json!({}), 5_999, 60), Some(99));
        assert_eq!(progress(json!({}), 300, NO_ESTIMATE), None);
        assert_eq!(progress(json!({ "queue_all": true }), 300, 300), None);
        assert_eq!(progress(json!({ "queueing_method": "random" }), 300, 300), None);
        let longer = |was_s: u32, is_s: u32| {
            let before = queued(NOW.0 - 1_000_000, NOW.0 - 20_000);
            let before = Ticket { shown_estimate_s: was_s, ..before };
            let ticket = Ticket { shown_estimate_s: is_s, last_check_in: NOW, ..before.clone() };
            told_by(&json!({}), |known| known.waiting_since(&ticket, &before)).takes_longer
        };
        assert!(!longer(600, 580) && !longer(600, 600));
        assert!(!longer(600, 629), "both read as 10 minutes");
        assert!(longer(600, 630));
        assert!(longer(60, 61), "less than a minute, and a minute");
        assert!(!longer(14_400, 16_169) && longer(14_400, 16_170), "both are told in hours");
        assert!(!longer(NO_ESTIMATE, 660) && !longer(600, NO_ESTIMATE));
        assert!(!longer(24 * 3_600, 600) && !longer(600, 24 * 3_600), "told as no time");
    }

    #[test]
    fn nobody_is_told_to_come_later_than_an_interval_from_now() {
        let ahead = queued(0, NOW.0 + 3_600_000);
        assert_eq!(told_by(&json!({}), |known| known.waiting(&ahead)).refresh_interval_s, 20);
    }

    #[test]
    fn who_entered_in_the_last_minute_is_told_where_the_place_is() {
        let check = |fields: serde_json::Value, want: Option<u64>| {
            let told = told_by(&fields, |known| {
                let view = View { entered_last_minute: Some(7), ..View::default() };
                PageContext { view: Some(&view), ..*known }.waiting(&ticket(600))
            });
            assert_eq!(told.entered_last_minute, want, "{fields}");
        };
        check(json!({}), None);
        check(json!({ "show_position": true }), Some(7));
        check(json!({ "show_position": true, "queueing_method": "random" }), Some(7));
        check(json!({ "show_position": true, "queue_all": true }), None);
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
        // A challenged newcomer has no part in the draw yet.
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
            assert_eq!(value("waitTimeRangeHigh"), Value::Integer(13));
            let range = Value::Text("3 minutes to 13 minutes");
            assert_eq!(value("waitTimeRangeFormatted"), range);
        };
        check(QueueingMethod::Fifo, [0; 3], "7 minutes");
        check(QueueingMethod::Random, [3, 7, 13], "3 minutes to 13 minutes");
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
