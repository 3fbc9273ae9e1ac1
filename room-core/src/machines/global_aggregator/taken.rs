//! What takes the places of a room and the slots of a minute, by kind. It decides nothing: it tells
//! why some of them stand empty.

use super::GlobalAggregator;
use crate::base::time::Timestamp;
use crate::room::settings::Settings;

/// What takes one of the two limits of a room at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// All that takes it: visitors, slots that are out, and all below.
    pub all: u64,
    /// Ended sessions that may have been renewed without a report yet. 0 in the limit per minute.
    pub may_renew: u64,
    /// Slots that were written off.
    pub written_off: u64,
}

impl GlobalAggregator {
    /// Returns what takes the places at `now`, and what takes the slots of a minute.
    pub fn taken(&self, now: Timestamp, settings: &Settings) -> (Taken, Taken) {
        let ledger = self.books.ledger();
        let places = Taken {
            all: self.books.taken(now, settings),
            may_renew: self.books.may_renew(now, settings),
            written_off: ledger.written_off_slots(now),
        };
        let rate = Taken {
            all: self.books.granted_in_rate_window(now),
            may_renew: 0,
            written_off: ledger.written_off_in_rate(now),
        };
        (places, rate)
    }
}
