//! The order key: a visitor's place in the line as one number, whatever the queueing method.

use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;

/// The length in milliseconds of an epoch and of a key bucket. Waiting visitors are counted once
/// per epoch; the keys of a long line are rounded to key buckets.
pub const EPOCH_MS: u64 = 5_000;
/// The width in milliseconds of a part of a key bucket. A million who come within ten seconds are
/// 2,000 in each part; a room for them calls about as many at a time.
const PART_MS: u64 = 20;

/// How far ahead visitors of a group stand who enter first: 31 years of milliseconds, in whole key
/// buckets. No visitor joined so long before another.
const AHEAD: u64 = 1_000_000_000_000;

/// A visitor's place in the order. The visitor with the lowest key is called first.
///
/// With first come, first served it is the moment of joining, in milliseconds since the Unix epoch.
/// Visitors who take part in a draw have a drawn moment instead. The places of a lottery lie above
/// all moments.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct OrderKey(pub u64);

/// A waiting visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueuedVisitor {
    /// The place in the line.
    pub key: OrderKey,
    /// Some bits of the admission, which tell visitors apart who joined in one millisecond.
    pub name: u16,
}

impl From<OrderKey> for u64 {
    fn from(key: OrderKey) -> Self {
        key.0
    }
}

impl OrderKey {
    /// Returns the place, by first come, first served, of a visitor who joined at `joined_at`.
    pub const fn fifo(joined_at: Timestamp) -> Self {
        Self(joined_at.0)
    }

    /// Returns the place of a visitor of a group that enters first: ahead of everybody without one,
    /// and within the group in the order of these keys.
    #[must_use]
    pub const fn ahead(self) -> Self {
        Self(self.0.saturating_sub(AHEAD))
    }

    /// Whether this is the place of a moment before `moment`, or that of such a moment in a group
    /// that enters first. No place of a lottery is.
    pub fn is_before(self, moment: Timestamp) -> bool {
        let first = Self::fifo(moment);
        self < if self.0 < AHEAD { first.ahead() } else { first }
    }

    /// Returns the last key of this key's bucket. Buckets are [`EPOCH_MS`] keys wide, and all keys
    /// of a bucket round to the same one.
    #[must_use]
    pub const fn coarse(self) -> Self {
        Self(self.0 / EPOCH_MS * EPOCH_MS + (EPOCH_MS - 1))
    }

    /// Returns the last key of this key's part of a bucket. Parts are 20 keys wide (`PART_MS`), and
    /// none ends with a bucket: by the last key alone one can tell which it is.
    #[must_use]
    pub const fn fine(self) -> Self {
        let part = self.0.saturating_add(PART_MS / 2) / PART_MS;
        Self(part.saturating_mul(PART_MS).saturating_add(PART_MS / 2 - 1))
    }
}
