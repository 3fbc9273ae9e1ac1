//! The continuous lottery of `queueing_method: random`: rounds of two minutes, in each of which
//! every ticket has one drawn place. Computed wherever it is read; counts and calls nobody.
//!
//! Whoever has come back with a cookie before a round takes part in it, at a place that is a keyed
//! hash of round and ticket: joining again draws nothing better, and nobody can compute it without
//! the deployment's secret. Whoever came later stands behind all of them by the time of joining,
//! until the next round. Rounds follow each other in the order of keys, so the threshold moves on
//! through all of them and never back. A visitor who was called in one round and has not come yet
//! stays called through the next one (`called`), whenever in the round the visitor checks in.

use std::fmt;

use hkdf::hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::census::Presence;
use crate::queue::OrderKey;
use crate::ticket::Ticket;
use crate::time::Timestamp;

/// A round, in milliseconds. Ours; whole epochs of the census, and six default refresh intervals.
pub const ROUND_MS: u64 = 120_000;
/// All drawn keys are above all times, and below 2^53 for the sake of JavaScript.
const FIRST_KEY: u64 = 5_000_000_000_000_000;
/// Places of those who take part, the first of which is nobody's: 200 key buckets for a crowd, and
/// few ties among the first 512.
const PLACES: u64 = 1_000_000;
/// Milliseconds of joining behind them: more than a round.
const LATE: u64 = 200_000;
/// Keys of one round: whole key buckets.
const KEYS: u64 = PLACES + LATE;

/// The secret that a room's places are drawn with.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct LotteryKey([u8; 32]);

impl LotteryKey {
    /// The key in these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for LotteryKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LotteryKey")
    }
}

/// One round, numbered from the epoch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Round(u64);

impl Round {
    /// The round at a moment.
    pub fn at(now: Timestamp) -> Self {
        Self(now.0 / ROUND_MS)
    }

    /// The round of a drawn key; none of a key that is a time.
    pub fn of(key: OrderKey) -> Option<Self> {
        key.0.checked_sub(FIRST_KEY).map(|above| Self(above / KEYS))
    }

    /// Its first moment.
    pub fn start(self) -> Timestamp {
        Timestamp(self.0.saturating_mul(ROUND_MS))
    }

    fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// The key before all of the round, which calls nobody of it.
    pub fn first(self) -> OrderKey {
        OrderKey(FIRST_KEY.saturating_add(self.0.saturating_mul(KEYS)))
    }

    /// The key up to which a share of all who take part is called, on the average.
    pub fn share(self, called: u64, of: u64) -> OrderKey {
        let places = u128::from(PLACES - 1) * u128::from(called.min(of)) / u128::from(of.max(1));
        OrderKey(self.first().0 + u64::try_from(places).unwrap_or(PLACES))
    }

    /// The place of somebody who does not take part and joined at this moment.
    pub fn late(self, joined_at: Timestamp) -> OrderKey {
        let behind = joined_at.since_ms(self.start()).min(LATE - 1);
        OrderKey(self.first().0 + PLACES + behind)
    }

    /// The place of a visitor in this round.
    fn key_of(self, ticket: &Ticket, key: LotteryKey) -> OrderKey {
        let confirmed_at = Timestamp::from_seconds(ticket.confirmed_s.into());
        if ticket.confirmed_s == 0 || confirmed_at >= self.start() {
            return self.late(ticket.joined_at);
        }
        let Ok(mut hash) = Hmac::<Sha256>::new_from_slice(&key.0) else {
            return self.late(ticket.joined_at);
        };
        hash.update(&self.0.to_be_bytes());
        hash.update(ticket.id.as_bytes());
        let digest: [u8; 32] = hash.finalize().into_bytes().into();
        let rank = u64::from_be_bytes(*digest.first_chunk().unwrap_or(&[0; 8]));
        let place = (u128::from(rank) * u128::from(PLACES - 1)) >> u64::BITS;
        OrderKey(self.first().0 + 1 + u64::try_from(place).unwrap_or(0))
    }
}

/// Who has been called: everybody up to a threshold, and in a lottery up to where it stood at the
/// end of the round before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called {
    /// `T`.
    pub threshold: OrderKey,
    /// The last one of the round before that of `T`.
    pub before: OrderKey,
}

impl Called {
    /// Whether somebody with this place has been called. A place in one order says nothing about
    /// a threshold in another.
    pub fn calls(self, key: OrderKey) -> bool {
        match (Round::of(key), Round::of(self.threshold)) {
            (None, None) => key <= self.threshold,
            (Some(round), Some(now)) if round == now => key <= self.threshold,
            (Some(round), Some(now)) if round.next() == now => {
                Round::of(self.before) == Some(round) && key <= self.before
            }
            _ => false,
        }
    }
}

/// The place of a visitor at `now`: that of the round before for who was called in it.
pub fn place(ticket: &Ticket, now: Timestamp, key: LotteryKey, called: Option<Called>) -> OrderKey {
    let round = Round::at(now);
    let before = round.previous().key_of(ticket, key);
    if called.is_some_and(|called| called.calls(before)) {
        return before;
    }
    round.key_of(ticket, key)
}

/// A promise to be there, cut where rounds begin: in each the visitor has another place.
pub fn parts(ticket: &Ticket, key: LotteryKey, whole: Presence) -> impl Iterator<Item = Presence> {
    let mut rest = Some(whole);
    std::iter::from_fn(move || {
        let part = rest.take()?;
        let round = Round::at(part.from).next();
        if round.start() >= part.until {
            return Some(part);
        }
        // Another number for each part, the same whenever this promise is cut.
        let check_in = part.check_in.rotate_left(1) ^ round.0;
        let (from, place) = (round.start(), round.key_of(ticket, key));
        rest = Some(Presence { key: place, from, check_in, joined: false, ..part });
        Some(Presence { until: from, ..part })
    })
}

#[cfg(test)]
mod tests;
