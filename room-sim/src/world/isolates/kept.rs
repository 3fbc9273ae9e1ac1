//! Visitors whose sessions are ended, and copies of their cookies that are used afterwards.

use std::collections::BTreeMap;

use room_core::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use room_core::machines::isolate::Outcome;
use room_core::ticket::Ticket;
use room_core::visit;

use crate::visitor::{Cookie, VisitorState};
use crate::world::World;
use crate::world::address::Place;
use crate::world::event::WorldEvent;
use crate::world::network::{Asking, Reply, WaitingCheck};

/// Time between two uses of a copy, in milliseconds.
const USED_EVERY_MS: u64 = 20 * SECOND_MS;
/// How long after the end of the session a copy may still reach the site, in milliseconds (I11 of
/// `docs/algorithm.md`).
const SERVED_MS: u64 = MINUTE_MS;

/// The copy of one visitor's cookie.
#[derive(Clone, Debug)]
struct KeptCopy {
    ticket: Ticket,
    /// When the session was ended.
    ended_at: Timestamp,
    /// Until when it holds a place by its last use later than a minute after the end.
    holds_until: Timestamp,
    /// Whether the end died unreported with its isolate. The room then never hears of it.
    is_unheard: bool,
}

/// The kept copies, and what came of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptCopies {
    /// The copies by visitor.
    copies: BTreeMap<usize, KeptCopy>,
    /// Uses later than a minute after the end, if that did not die unreported with its isolate.
    pub(crate) late_uses: u64,
    /// Those that reached the site.
    pub(crate) late_served: u64,
}

impl KeptCopies {
    /// Notes that what the visitor's isolate had not reported died with it.
    pub(crate) fn lose_end(&mut self, visitor: usize) {
        if let Some(copy) = self.copies.get_mut(&visitor) {
            copy.is_unheard = true;
        }
    }
}

impl KeptCopy {
    /// Whether no use may reach the site any more.
    fn is_late(&self, now: Timestamp) -> bool {
        now.since_ms(self.ended_at) > SERVED_MS
    }
}

impl World {
    /// Ends the visitor's session by the origin's answer. The visitor does not come back.
    pub(super) fn revoke(&mut self, place: Place, visitor: usize) {
        let now = self.now;
        let Some(browser) = self.visitors.get_mut(visitor) else { return };
        let cookie = std::mem::replace(&mut browser.cookie, Cookie::None);
        browser.standing = VisitorState::Revoked;
        self.truth.revoke(browser.session_ends);
        let Cookie::Ticket(ticket) = cookie else { return };
        if self.scenario.habits.keeps_copies {
            self.keep_copy(visitor, &ticket);
        }
        if let Some(row) = self.isolates.get_mut(place.data_center)
            && let Some(instance) = row.present(place)
        {
            let local = now + instance.ahead_ms;
            visit::end_session(local, &self.settings, &mut instance.machine, &ticket);
            instance.renewals.note(visitor);
        }
    }

    /// Keeps a copy of the cookie of a visitor who leaves now.
    fn keep_copy(&mut self, visitor: usize, ticket: &Ticket) {
        let (ticket, ended_at) = (ticket.clone(), self.now);
        let holds_until = Timestamp::default();
        let copy = KeptCopy { ticket, ended_at, holds_until, is_unheard: false };
        self.kept.copies.insert(visitor, copy);
        self.event_queue.enter(self.now + USED_EVERY_MS, WorldEvent::Kept(visitor));
    }

    /// Uses a copy in a data center that is drawn, until its session would have been over.
    pub(crate) fn use_kept(&mut self, visitor: usize) {
        let now = self.now;
        let Some(copy) = self.kept.copies.get(&visitor).cloned() else { return };
        let is_counted = copy.is_late(now) && !copy.is_unheard;
        let ticket = copy.ticket;
        if !ticket.counted_bucket.is_live(now) {
            self.kept.copies.remove(&visitor);
            return;
        }
        let last = self.isolates.len().saturating_sub(1) as u64;
        let drawn = self.chance.visitors.between(0, last);
        self.event_queue.enter(now + USED_EVERY_MS, WorldEvent::Kept(visitor));
        self.kept.late_uses += u64::from(is_counted);
        let random = self.chance.product.random();
        let Some(place) = usize::try_from(drawn).ok().and_then(|drawn| self.pick(drawn)) else {
            return;
        };
        let (asked_at, passed, is_echo, is_kept) = (now, None, true, true);
        let asking = Asking { place, visitor, asked_at, random, passed, is_echo, is_kept };
        self.decide(asking, Some(ticket), None);
    }

    /// Notes whether a copy reached the site. A new ticket takes its place.
    pub(super) fn note_kept(&mut self, visitor: usize, outcome: &Outcome) {
        let Some(copy) = self.kept.copies.get_mut(&visitor) else { return };
        if let Outcome::PassWith(ticket) = outcome {
            copy.ticket = ticket.clone();
        }
        let is_served = matches!(outcome, Outcome::Pass | Outcome::PassWith(_));
        // Before, the room has heard of the end and only some isolates have not: the place is free.
        if is_served && copy.is_late(self.now) {
            self.kept.late_served += u64::from(!copy.is_unheard);
            copy.holds_until = self.truth.serve_copy(self.now, copy.holds_until);
        }
    }

    /// Goes on with a visit whose session was checked, or could not be.
    pub(crate) fn checked(&mut self, check: WaitingCheck, reply: Option<Reply>) {
        let WaitingCheck { asking, ticket } = check;
        let reply = match reply {
            Some(Reply::Aggregator(reply)) => Some(reply),
            _ => None,
        };
        let now = self.now;
        let Some(instance) = self.instance(asking.place) else {
            return self.ask_later(&asking);
        };
        let known = instance.machine.on_ended_reply(now + instance.ahead_ms, reply);
        self.decide(asking, Some(ticket), Some(known));
    }

    /// Makes a visitor whose isolate died come again. Others with the cookie do not.
    fn ask_later(&mut self, asking: &Asking) {
        if !asking.is_echo {
            let event = WorldEvent::Visit(asking.visitor);
            self.event_queue.enter(self.now + super::AGAIN_MS, event);
        }
    }
}
