//! The slots that a counter has leased, per grant, and the slots that it gives back.

use crate::base::id::IsolateId;
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::capacity::slots::{GrantId, QUEUED_LEASE_MS, SlotClass, SlotEnd, Slots, WRITE_OFF_MS};

/// How long after the end of a lease the counter wakes to give its slots back, in milliseconds.
/// Isolates return theirs in that time, so that one pull carries all of them.
const GATHER_MS: u64 = 100;

#[derive(Clone, Debug)]
struct Lease {
    class: SlotClass,
    end: SlotEnd,
    /// When slots that have not been handed out go back: at the end, or sooner.
    kept_until: Timestamp,
    /// Slots that can still be handed out.
    tokens: u32,
    /// Slots handed to isolates as batches. No more than these are taken back.
    batches: SortedMap<IsolateId, Batches>,
    /// Slots given back to the global aggregator, as a running total. The two fields after it are
    /// the acknowledged part and the total in the last pull.
    returned: u32,
    acknowledged: u32,
    sent: u32,
}

/// How many slots of a lease one isolate got and gave back, as running totals.
#[derive(Clone, Copy, Debug, Default)]
struct Batches {
    given: u32,
    back: u32,
}

/// All leases of one counter, and whether the last grant was more than one slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Leases {
    held: SortedMap<GrantId, Lease>,
    had_spare: bool,
}

impl Leases {
    /// Adds a lease that came at `now`, unless its grant is held already.
    pub(super) fn add(&mut self, now: Timestamp, class: SlotClass, slots: Slots) {
        let Slots { grant, n: tokens, .. } = slots;
        let end = slots.end();
        let kept_until = match class {
            SlotClass::New => end.until,
            SlotClass::Queued => end.until.min(now + QUEUED_LEASE_MS),
        };
        let (batches, returned, acknowledged, sent) = (SortedMap::new(), 0, 0, 0);
        let lease = Lease { class, end, kept_until, tokens, batches, returned, acknowledged, sent };
        self.had_spare = tokens > 1;
        self.held.get_or_insert_with(grant, || lease);
    }

    /// Takes one slot from the lease that ends first among those valid at `now`.
    pub(super) fn take_one(
        &mut self,
        now: Timestamp,
        class: SlotClass,
    ) -> Option<(GrantId, SlotEnd)> {
        let valid =
            |lease: &Lease| lease.class == class && lease.tokens > 0 && now < lease.kept_until;
        let (grant, lease) = self
            .held
            .iter_mut()
            .filter(|(_, lease)| valid(lease))
            .min_by_key(|(_, lease)| lease.kept_until)?;
        lease.tokens -= 1;
        Some((*grant, lease.end))
    }

    /// Returns how many slots of this grant can be handed out; 0 if it is not held.
    pub(super) fn tokens(&self, grant: GrantId) -> u32 {
        self.held.get(&grant).map_or(0, |lease| lease.tokens)
    }

    /// Returns how many slots for newcomers will still be valid at `moment`.
    pub(super) fn tokens_after(&self, moment: Timestamp) -> u32 {
        let valid = |lease: &&Lease| lease.class == SlotClass::New && moment < lease.kept_until;
        self.held.values().filter(valid).map(|lease| lease.tokens).sum()
    }

    /// Whether the last grant had more than one slot, so that pulling ahead of need pays.
    pub(super) fn had_spare(&self) -> bool {
        self.had_spare
    }

    /// Moves `n` slots of a grant into an isolate's batch. Returns false, and moves none, if there
    /// are fewer.
    pub(super) fn cut_batch(&mut self, isolate: IsolateId, grant: GrantId, n: u32) -> bool {
        let Some(lease) = self.held.get_mut(&grant) else { return false };
        let Some(left) = lease.tokens.checked_sub(n) else { return false };
        lease.tokens = left;
        lease.batches.get_or_default(isolate).given += n;
        true
    }

    /// Takes back what an isolate did not use, as its running total. The slots can be handed out
    /// again while the lease lasts; later they go back to the global aggregator.
    pub(super) fn take_back(
        &mut self,
        now: Timestamp,
        isolate: IsolateId,
        grant: GrantId,
        total: u32,
    ) {
        // One of an earlier incarnation: which of its slots that one handed out again is not known.
        let Some(lease) = self.held.get_mut(&grant) else { return };
        let Some(batches) = lease.batches.get_mut(&isolate) else { return };
        let n = total.min(batches.given).saturating_sub(batches.back);
        batches.back += n;
        if now < lease.kept_until { lease.tokens += n } else { lease.returned += n }
    }

    /// Ends all leases at this moment, or at their own end if that is sooner.
    pub(super) fn shorten(&mut self, until: Timestamp) {
        for lease in self.held.values_mut() {
            lease.kept_until = lease.kept_until.min(until);
        }
    }

    /// Gives back all slots for newcomers that have not been handed out.
    pub(super) fn give_back_new(&mut self) {
        for lease in self.held.values_mut().filter(|lease| lease.class == SlotClass::New) {
            lease.returned += std::mem::take(&mut lease.tokens);
        }
    }

    /// Gives back what is left of ended leases, and forgets leases that the global aggregator has
    /// written off.
    pub(super) fn expire(&mut self, now: Timestamp) {
        for lease in self.held.values_mut().filter(|lease| now >= lease.kept_until) {
            lease.returned += std::mem::take(&mut lease.tokens);
        }
        self.held.retain(|_, lease| now < lease.end.until + WRITE_OFF_MS);
    }

    /// Whether slots have been given back that no answer has acknowledged yet.
    pub(super) fn has_returns(&self) -> bool {
        self.held.values().any(|lease| lease.returned > lease.acknowledged)
    }

    /// Returns the running totals for the next pull: all of them, since a message may be lost.
    pub(super) fn returns(&mut self) -> Vec<(GrantId, u32)> {
        let returned = self.held.iter_mut().filter(|(_, lease)| lease.returned > 0);
        let returned = returned.map(|(grant, lease)| {
            lease.sent = lease.returned;
            (*grant, lease.returned)
        });
        returned.collect()
    }

    /// Notes that the pull with the last totals has been answered.
    pub(super) fn acknowledge_returns(&mut self) {
        for lease in self.held.values_mut() {
            lease.acknowledged = lease.sent;
        }
    }

    /// Returns when to wake for the next lease with slots left: 100 ms after its end.
    pub(super) fn next_end(&self) -> Option<Timestamp> {
        let holds = |lease: &&Lease| lease.tokens > 0;
        self.held.values().filter(holds).map(|lease| lease.kept_until + GATHER_MS).min()
    }
}
