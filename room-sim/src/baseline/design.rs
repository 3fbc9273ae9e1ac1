//! What the published designs have in common: an offer of slots, and a rule that divides it.
//! The rules themselves are in `v1`, `v2` and `v3`.

use super::counts::Users;
use super::minute::Minute;
use super::slots::Shares;

/// One isolate ("worker" in the published text) of one data center.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The data center's number.
    pub data_center: usize,
    /// The isolate's number, never used again after [`Baseline::forget`](super::Baseline::forget).
    pub worker: u64,
}

/// Calls to counter objects that one visit waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// To the data center's counter (published: below 10 ms).
    pub data_center: u32,
    /// To the Anywhere counter (published: 60-70 ms).
    pub anywhere: u32,
}

/// What one isolate is offered at this moment, before it is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// The minute for which the slots are offered.
    pub minute: Minute,
    /// Slots that are shared out in this minute, everywhere.
    pub slots: u64,
    /// Which parts of the slots are for the data center, and for all together (Anywhere).
    pub shares: Shares,
    /// Active users divided by the limit; above 1 while the site is over it.
    pub utilisation: f64,
    /// Active isolates of the data center, at least 1.
    pub workers_here: u64,
    /// Active isolates of all data centers, at least 1.
    pub workers_everywhere: u64,
}

/// A rule that divides an [`Offer`] among isolates.
pub trait Design {
    /// Returns how many minutes before the running one the users are counted who make the shares.
    fn history_minutes(&self) -> u64;

    /// The data center's and Anywhere's parts of the slots. `here`, `everywhere`: the users of
    /// the history minute.
    fn shares(&self, here: Users, everywhere: Users, total_active_users: u64) -> Shares;

    /// Whether one more visitor at `place` takes one of the offered slots.
    fn take(&mut self, place: Place, offer: &Offer) -> (bool, Calls);

    /// The isolate is gone, and with it what it counted.
    fn forget(&mut self, place: Place);
}
