//! The requests that wait for an answer of the global aggregator, and the pull that asks it.

use crate::base::time::Timestamp;
use crate::machines::round_trip::RoundTrip;
use crate::machines::turn::RequestId;
use crate::machines::wire::{Pull, SlotRequest, named_ranks};
use crate::order::order_key::OrderKey;

/// The longest wait before a pull is repeated, and the wait before anything was measured, in
/// milliseconds. It is more than a round trip takes (60 to 250 ms, `docs/simulation.md`), and less
/// than a call may take.
pub(super) const LONGEST_MS: u64 = 400;
/// The longest usual round trip, in milliseconds: the wait of a hurried pull before anything was
/// measured.
pub(super) const USUAL_MS: u64 = 250;
/// The shortest wait before a pull is repeated, in milliseconds.
const SHORTEST_MS: u64 = 50;

/// A request that waits for a pull.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) id: RequestId,
    pub(super) take: SlotRequest,
    pub(super) came_at: Timestamp,
    /// Whether the pull in flight counts this request.
    pub(super) asked: bool,
}

impl Waiting {
    /// Returns a lower bound of `now` by the isolate's clock: the time when it asked, plus the time
    /// that the request has waited here.
    pub(super) fn asked_at(self, now: Timestamp) -> Option<Timestamp> {
        self.take.sent_at.map(|sent_at| sent_at + now.since_ms(self.came_at))
    }
}

/// Returns the keys of newcomers that a pull names, and how many newcomers wait in all. Those
/// behind a request count with its key: they came at about the same time.
pub(super) fn named_keys(newcomers: &[SlotRequest]) -> (Vec<OrderKey>, u32) {
    let counted = newcomers.iter().scan(0_usize, |sum, take| {
        *sum += 1 + take.behind as usize;
        Some((*sum, take.key))
    });
    let counted: Vec<(usize, OrderKey)> = counted.collect();
    let waiting = counted.last().map_or(0, |(sum, _)| *sum);
    let key = |rank| {
        let (_, key) = counted.get(counted.partition_point(|(sum, _)| *sum <= rank))?;
        Some(*key)
    };
    (named_ranks(waiting).filter_map(key).collect(), u32::try_from(waiting).unwrap_or(u32::MAX))
}

/// The pull that has been sent and not answered yet.
#[derive(Clone, Debug)]
pub(super) struct Pulling {
    pub(super) pull: Pull,
    /// When it was sent first.
    pub(super) sent_at: Timestamp,
    /// When it was sent last.
    last_sent_at: Timestamp,
    sendings: u32,
    pub(super) again_at: Timestamp,
    /// Wait in milliseconds until it is sent again; it doubles each time.
    again_after_ms: u64,
}

impl Pulling {
    /// Makes a pull that is sent at `now`, and again after `again_after_ms`.
    pub(super) fn new(now: Timestamp, pull: Pull, again_after_ms: u64) -> Self {
        let again_at = now + again_after_ms;
        Self { pull, sent_at: now, last_sent_at: now, sendings: 1, again_at, again_after_ms }
    }

    /// Returns how long to wait for an answer before repeating a pull, from 50 to 400 milliseconds.
    /// A pull that `hurries` waits about one round trip; another waits until the answer is
    /// unusually late.
    pub(super) fn again_after_ms(usual: RoundTrip, hurries: bool) -> u64 {
        let (deviations, unknown_ms) = if hurries { (1.0, USUAL_MS) } else { (4.0, LONGEST_MS) };
        let usual_ms = usual.usually_within_ms(deviations);
        usual_ms.map_or(unknown_ms, |usual_ms| usual_ms.clamp(SHORTEST_MS, LONGEST_MS))
    }

    /// Returns the same pull again when it is due. Its number stays the same, so that the global
    /// aggregator grants it only once.
    pub(super) fn again(&mut self, now: Timestamp) -> Option<Pull> {
        (now >= self.again_at).then(|| {
            (self.last_sent_at, self.sendings) = (now, self.sendings + 1);
            self.again_after_ms *= 2;
            self.again_at = now + self.again_after_ms;
            self.pull.sent_at = Some(now);
            self.pull.clone()
        })
    }

    /// Whether an answer at `now` must belong to the first sending. That is so without a
    /// repetition, or if the only one was sent too recently.
    pub(super) fn is_first_answered(&self, now: Timestamp, usual: RoundTrip) -> bool {
        let too_soon = || usual.is_too_soon(now.since_ms(self.last_sent_at));
        self.sendings == 1 || self.sendings == 2 && too_soon()
    }
}
