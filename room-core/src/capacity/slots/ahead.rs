//! Slots that were granted by a clock that was ahead and has been set right since.

use super::{BIN_MS, Ledger};
use crate::base::sorted::SortedMap;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::ticket::bucket::Bucket;

/// The longest lease of all rooms, that of a calm one, in milliseconds.
pub(super) const LEASE_MS_MAX: u64 = 79 * SECOND_MS;

impl Ledger {
    /// Counts slots whose grant lies in the future as granted at `now`: they were granted before,
    /// and nobody knows when. So they leave the rate after a minute, and not once the clock has
    /// come to the time of their grant. None is out for longer than `LEASE_MS_MAX`.
    pub fn bring_back(&mut self, now: Timestamp) {
        let until = now + LEASE_MS_MAX;
        for grant in self.grants.values_mut() {
            grant.granted_at = grant.granted_at.min(now);
            if grant.until > until {
                // Whoever settles the grant names its bucket anew.
                (grant.until, grant.bucket) = (until, Bucket::default());
            }
        }
        self.queued_at = self.queued_at.min(now);
        for by_bin in [&mut self.queued_by_bin, &mut self.new_by_bin] {
            bring_back_bins(by_bin, now);
        }
    }
}

fn bring_back_bins(by_bin: &mut SortedMap<u64, u32>, now: Timestamp) {
    let present = now.0 / BIN_MS;
    while let Some(ahead) = by_bin.from_key(&(present + 1)).next().map(|(bin, _)| *bin) {
        let granted = by_bin.remove(&ahead).unwrap_or(0);
        let counted: &mut u32 = by_bin.get_or_default(present);
        *counted = counted.saturating_add(granted);
    }
}
