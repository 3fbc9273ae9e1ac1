//! Which newcomers are called at once when a burst of them fills the room and closes it, so that
//! newcomers wait in line from then on.
//!
//! Some of the slots that counters hold in advance are not used and come back. That happens seconds
//! before a census counts the refused newcomers. Without these calls their places would stay free
//! until then.

use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::state::CLOCK_MS;
use crate::machines::wire::{Pull, named_ranks};
use crate::order::lottery::Round;
use crate::order::order_key::OrderKey;
use crate::queue::{Queue, SLOW_ROOM_PER_MINUTE};
use crate::room::settings::{QueueingMethod, Settings};

/// The newcomers who joined within a second after the first who was refused at the last close. It
/// is not stored, since it lasts only a second.
#[derive(Clone, Debug, Default)]
pub(super) struct Burst {
    /// The end of that second. A newcomer who joins at or after it does not belong to the burst.
    ends_at: Timestamp,
    /// How many more of the burst may be called: as many as slots were out at the close and may
    /// come back.
    left: usize,
    /// Slots that were granted for no newcomer in particular, by their end.
    ahead: Vec<(Timestamp, u64)>,
}

impl Burst {
    /// Notes that so many slots which end at `until` were granted for newcomers yet to come. Those
    /// that newcomers wait for are used, and do not come back.
    pub(super) fn note_ahead(&mut self, now: Timestamp, until: Timestamp, slots: u64) {
        self.ahead.retain(|(until, _)| now < *until);
        match self.ahead.last_mut() {
            Some((last, ahead)) if last.seconds() == until.seconds() => *ahead += slots,
            _ => self.ahead.push((until, slots)),
        }
    }

    /// Returns how many slots that are out may come back.
    fn may_come_back(&self, now: Timestamp, outstanding_new: u64) -> usize {
        let lasting = self.ahead.iter().filter(|(until, _)| now < *until);
        let ahead: u64 = lasting.map(|(_, slots)| slots).sum();
        usize::try_from(ahead.min(outstanding_new)).unwrap_or(usize::MAX)
    }

    /// Refuses all newcomers of `pull` but the first `admitted`. Closes the room, and calls the
    /// first of those refused, who enter next.
    ///
    /// In a fast room whose method is `fifo`, over this pull and the next ones, as many of the
    /// burst are called as slots for newcomers are still out (`outstanding_new`). Returns whether
    /// the opening or the threshold of the line changed, which must be stored.
    pub(super) fn refuse(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        queue: &mut Queue,
        outstanding_new: u64,
        pull: &Pull,
        admitted: usize,
    ) -> bool {
        let ranks = named_ranks(pull.new_waiting as usize);
        let keys = pull.keys.iter().map(|key| joined_by(now, *key));
        let last = keys.clone().next_back();
        let named = ranks.zip(keys).map(|(rank, key)| (rank + 1, key));
        let mut refused = named.filter(|(rank, _)| *rank > admitted).peekable();
        let closes = queue.is_open();
        if closes {
            let first = refused.peek().map(|(_, key)| *key).or(last);
            let first = first.unwrap_or(OrderKey::fifo(now));
            queue.close(now, first);
            // In a lottery nobody is called for having come first.
            let is_fifo = settings.queueing_method == QueueingMethod::Fifo;
            let is_fast = settings.new_users_per_minute >= SLOW_ROOM_PER_MINUTE && is_fifo;
            let ends_at = Timestamp(first.0.saturating_add(SECOND_MS));
            (self.ends_at, self.left) = if is_fast {
                (ends_at, self.may_come_back(now, outstanding_new))
            } else {
                (Timestamp::default(), 0)
            };
        }
        if settings.admits_nobody() {
            return closes;
        }
        let last = admitted.saturating_add(self.left);
        let called = refused
            .take_while(|(rank, key)| *rank <= last && *key < OrderKey::fifo(self.ends_at))
            .last();
        let Some((rank, key)) = called else { return closes };
        self.left = last - rank;
        queue.call_at_once(key) || closes
    }

    /// Returns until when newcomers ask for slots although the room is closed. A moment long past
    /// if they do not.
    pub(super) fn names_until(&self, queue: &Queue) -> Timestamp {
        let asks = self.left > 0 && !queue.is_open();
        if asks { self.ends_at } else { Timestamp::default() }
    }
}

/// Returns the key of a visitor, but of a moment not later than `now` plus the tolerance for
/// clocks. With a later key all who join until then would be called at once.
fn joined_by(now: Timestamp, key: OrderKey) -> OrderKey {
    if Round::of(key).is_some() { key } else { key.min(OrderKey::fifo(now + CLOCK_MS)) }
}
