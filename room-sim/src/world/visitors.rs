//! The visitors of a world and what they see, with any algorithm. It decides no admission.

use room_core::base::time::Timestamp;
use room_core::ticket::TURN_KEPT_MINUTES_MAX;

use crate::chance::Stream;
use crate::truth::Truth;
use crate::visitor::{Cookie, Habits, Owner, Visitor, VisitorState};

/// All visitors, in order of arrival. A visitor's number is its place in that order.
#[derive(Debug)]
pub(crate) struct Visitors {
    all: Vec<Visitor>,
    habits: Habits,
}

impl Visitors {
    /// Makes the state before anybody has come.
    pub(crate) fn new(habits: Habits) -> Self {
        Self { all: Vec::new(), habits }
    }

    /// Lists all visitors, in order of arrival.
    pub(crate) fn all(&self) -> &[Visitor] {
        &self.all
    }

    /// Finds a visitor by its number.
    pub(crate) fn get(&self, visitor: usize) -> Option<&Visitor> {
        self.all.get(visitor)
    }

    /// Finds a visitor by its number, to change it.
    pub(crate) fn get_mut(&mut self, visitor: usize) -> Option<&mut Visitor> {
        self.all.get_mut(visitor)
    }

    /// Adds a visitor who comes to this data center for the first time. Returns its number.
    pub(crate) fn arrive(
        &mut self,
        now: Timestamp,
        data_center: usize,
        in_crowd: bool,
        stream: &mut Stream,
    ) -> usize {
        let owner = if stream.happens(self.habits.bots) {
            Owner::Bot
        } else if stream.happens(self.habits.shared) {
            Owner::Sharer
        } else if stream.happens(self.habits.ghosts) {
            Owner::Ghost
        } else {
            Owner::Person
        };
        self.all.push(Visitor { owner, ..Visitor::new(data_center, now, in_crowd) });
        self.all.len() - 1
    }

    /// Shows the site to a visitor. Returns when it requests its next page.
    pub(crate) fn show_site(
        &mut self,
        now: Timestamp,
        visitor: usize,
        cookie: Option<Cookie>,
        stream: &mut Stream,
        truth: &mut Truth,
    ) -> Option<Timestamp> {
        let browser = self.all.get_mut(visitor)?;
        if browser.standing == VisitorState::Revoked {
            return None;
        }
        let mut is_new_session = false;
        if let Some(cookie) = cookie {
            is_new_session = cookie.accepted_at() != browser.cookie.accepted_at();
            browser.cookie = cookie;
        }
        let waited_until = match browser.standing {
            VisitorState::Waits(until) => Some(until),
            _ => None,
        };
        if browser.standing == VisitorState::Arrives {
            truth.answer(now.since_ms(browser.arrived_at), browser.in_crowd);
        }
        if browser.entered_at.is_none() {
            browser.enter(now, &self.habits, stream);
            truth.admit(now, visitor, waited_until);
        } else if is_new_session && now >= browser.session_ends {
            truth.admit_again(now);
        }
        // A copy of a ticket whose session another data center counts: it ends with the admission.
        let is_copy = matches!(&browser.cookie, Cookie::Ticket(ticket) if ticket.shared);
        if !is_copy || now >= browser.session_ends {
            browser.session_ends = truth.serve(now, browser.session_ends);
        }
        Some(browser.next_request(now, &self.habits, stream))
    }

    /// Ends the sessions of all visitors of a data center this many milliseconds earlier.
    pub(crate) fn shorten_sessions(
        &mut self,
        now: Timestamp,
        data_center: usize,
        by_ms: u64,
        truth: &mut Truth,
    ) {
        let inside = |one: &&mut Visitor| {
            let runs = one.session_ends > now && one.standing != VisitorState::Revoked;
            runs && one.data_center == data_center
        };
        for browser in self.all.iter_mut().filter(inside).filter(|_| by_ms > 0) {
            browser.session_ends = truth.shorten(now, browser.session_ends, by_ms);
        }
    }

    /// Shows the queue page to a visitor, with an estimate of its wait if one is known.
    pub(crate) fn show_wait(
        &mut self,
        now: Timestamp,
        visitor: usize,
        cookie: Cookie,
        displayed_estimate_s: Option<u32>,
        stream: &mut Stream,
        truth: &mut Truth,
    ) -> Option<()> {
        let browser = self.all.get_mut(visitor)?;
        let is_near = matches!(&browser.cookie, Cookie::Ticket(before)
            if before.shown_estimate_s <= 60 * u32::from(TURN_KEPT_MINUTES_MAX));
        browser.cookie = cookie;
        if let Some(displayed_estimate_s) = displayed_estimate_s {
            browser.hear(now, displayed_estimate_s);
        }
        if browser.standing == VisitorState::Arrives {
            truth.answer(now.since_ms(browser.arrived_at), browser.in_crowd);
            let until = browser.wait(now, &self.habits, stream);
            truth.queue(now, until);
        }
        if browser.owner == Owner::Ghost && is_near {
            browser.standing = VisitorState::Gone;
        }
        Some(())
    }
}
