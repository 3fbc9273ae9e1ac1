//! What a visitor who does not enter is told: from the ticket, the view and what is in force.
//! Decides nothing; `page` turns it into texts.

use crate::admission;
use crate::estimate;
use crate::event::InForce;
use crate::page::Waiting;
use crate::room::Room;
use crate::settings::QueueingMethod;
use crate::ticket::{NO_ESTIMATE, Ticket, TicketState};
use crate::time::{SECOND_MS, Timestamp};
use crate::view::View;

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
        let shown_s = Some(ticket.shown_estimate_s)
            .filter(|shown| *shown != NO_ESTIMATE && !settings.queue_all);
        let full = shown_s.is_some_and(|shown| shown >= estimate::LONGEST_S);
        Waiting {
            estimate_s: shown_s.filter(|_| !full),
            last_updated: ticket.last_check_in,
            refresh_interval_s: u32::try_from(refresh_s).unwrap_or(u32::MAX),
            queue_is_full: full,
            people_ahead: self.people_ahead(ticket),
            ..self.common()
        }
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
            event: self.in_force.stage(self.now),
            submitted_nothing: self.submits,
            ..Waiting::default()
        }
    }

    /// Where an owner wants it told and there is an order.
    fn people_ahead(&self, ticket: &Ticket) -> Option<u64> {
        let settings = &self.in_force.settings;
        let is_in_line =
            ticket.state == TicketState::Queued && settings.queueing_method == QueueingMethod::Fifo;
        let view = self.view.filter(|_| self.room.show_position && is_in_line)?;
        Some(estimate::people_ahead(view, settings.order_key(ticket)))
    }
}
