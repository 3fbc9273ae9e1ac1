//! The lottery of `queueing_method: random`: in each round of two minutes every waiting visitor has
//! a place that is drawn by chance. Places are computed where they are needed and never stored.
//!
//! A visitor who came back with a cookie before a round takes part in it. The place is a keyed hash
//! of round and ticket. Joining again draws nothing better, and nobody can compute it without the
//! deployment's secret. Visitors who came later stand behind all of them by the time of joining,
//! until the next round.
//!
//! The keys of a round lie above those of the round before, so the threshold up to which visitors
//! are called only ever rises. A visitor who was called in one round and has not come yet stays
//! called through the next one ([`Called`]).

use std::fmt;

use hkdf::hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::base::time::Timestamp;
use crate::order::census::Presence;
use crate::order::order_key::OrderKey;
use crate::ticket::Ticket;

/// The length of a round in milliseconds. It is a whole number of epochs of the census, and equals
/// six default refresh intervals. Cloudflare publishes no value, so this value was chosen here.
pub const ROUND_MS: u64 = 120_000;
/// The lowest key of the lottery. It is above all moments in milliseconds, and keys stay below
/// 2^53, up to which JavaScript's numbers are exact.
const FIRST_KEY: u64 = 5_000_000_000_000_000;
/// The number of keys for visitors who take part in a round; the first is nobody's. They make 200
/// key buckets for a crowd, with few ties among the first 512.
const PLACES: u64 = 1_000_000;
/// The number of keys behind those for visitors who came too late, in milliseconds since the round
/// began. They are more than a round lasts.
const LATE: u64 = 200_000;
/// The number of keys of one round: whole key buckets.
const KEYS: u64 = PLACES + LATE;

/// The secret with which the places of a room's lottery are drawn. Debug output hides it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct LotteryKey([u8; 32]);

impl LotteryKey {
    /// Returns the secret that consists of these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for LotteryKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LotteryKey")
    }
}

/// A round of the lottery, as its number since the Unix epoch; each lasts [`ROUND_MS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Round(u64);

impl Round {
    /// Returns the round that contains `now`.
    pub fn at(now: Timestamp) -> Self {
        Self(now.0 / ROUND_MS)
    }

    /// Returns the round to which a key belongs; `None` for the key of a line without a lottery.
    pub fn of(key: OrderKey) -> Option<Self> {
        key.0.checked_sub(FIRST_KEY).map(|above| Self(above / KEYS))
    }

    /// Returns the first moment of the round.
    pub fn start(self) -> Timestamp {
        Timestamp(self.0.saturating_mul(ROUND_MS))
    }

    fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// Returns the lowest key of the round. It is nobody's place: as a threshold it calls nobody.
    pub fn first(self) -> OrderKey {
        OrderKey(FIRST_KEY.saturating_add(self.0.saturating_mul(KEYS)))
    }

    /// Returns the threshold that on average calls `called` of the `of` visitors who take part.
    pub fn share(self, called: u64, of: u64) -> OrderKey {
        let places = u128::from(PLACES - 1) * u128::from(called.min(of)) / u128::from(of.max(1));
        OrderKey(self.first().0 + u64::try_from(places).unwrap_or(PLACES))
    }

    /// Returns the place of a visitor who joined at this moment, too late for the round. It is
    /// behind all who take part.
    pub fn late(self, joined_at: Timestamp) -> OrderKey {
        let behind = joined_at.since_ms(self.start()).min(LATE - 1);
        OrderKey(self.first().0 + PLACES + behind)
    }

    /// Returns the visitor's place in this round.
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

/// The visitors who have been called: they may enter at their next check-in if a slot is free. They
/// are all up to a threshold, and in a lottery those of the round before up to its last threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called {
    /// The threshold `T`: visitors with this key or a lower one have been called.
    pub threshold: OrderKey,
    /// The threshold at the end of the round before; without meaning outside a lottery.
    pub before: OrderKey,
}

impl Called {
    /// Whether the visitor at this place has been called.
    ///
    /// Never true if the place belongs to a lottery and the threshold does not, or the reverse.
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

/// Returns the visitor's place in the lottery at `now`: that of the present round, or that of the
/// round before if the visitor was called in it.
pub fn place(ticket: &Ticket, now: Timestamp, key: LotteryKey, called: Option<Called>) -> OrderKey {
    let round = Round::at(now);
    let before = round.previous().key_of(ticket, key);
    if called.is_some_and(|called| called.calls(before)) {
        return before;
    }
    round.key_of(ticket, key)
}

/// Cuts a presence where rounds begin, since the visitor has another place in each of them.
pub fn parts(ticket: &Ticket, key: LotteryKey, whole: Presence) -> impl Iterator<Item = Presence> {
    let mut rest = Some(whole);
    std::iter::from_fn(move || {
        let part = rest.take()?;
        let round = Round::at(part.from).next();
        if round.start() >= part.until {
            return Some(part);
        }
        // Another number for each part, the same whenever this promise is cut.
        let check_in = part.check_in.next(round.0);
        let (from, place) = (round.start(), round.key_of(ticket, key));
        rest = Some(Presence { key: place, from, check_in, joined: false, ..part });
        Some(Presence { until: from, ..part })
    })
}

#[cfg(test)]
mod tests;
