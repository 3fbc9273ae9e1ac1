//! The slots a counter holds, per grant, and what of them goes back. Never invents a slot.

use crate::id::IsolateId;
use crate::slots::{GrantId, SlotClass, Slots, WRITE_OFF_MS};
use crate::sorted::SortedMap;
use crate::time::Timestamp;

/// Batches come back a moment after the lease ended: one pull carries them together.
const GATHER_MS: u64 = 100;

#[derive(Clone, Debug)]
struct Lease {
    class: SlotClass,
    until: Timestamp,
    tokens: u32,
    /// Slots in batches at isolates: no more than these can come back.
    batches: SortedMap<IsolateId, Batches>,
    /// Slots given back, as the running total the global aggregator books.
    returned: u32,
    acknowledged: u32,
    sent: u32,
}

/// What one isolate got of a lease and gave back, as running totals.
#[derive(Clone, Copy, Debug, Default)]
struct Batches {
    given: u32,
    back: u32,
}

/// All leases of one counter.
#[derive(Debug, Default)]
pub(super) struct Leases {
    leases: SortedMap<GrantId, Lease>,
    had_spare: bool,
}

impl Leases {
    pub(super) fn add(&mut self, class: SlotClass, slots: Slots) {
        let Slots { grant, n: tokens, until } = slots;
        let (batches, returned, acknowledged, sent) = (SortedMap::new(), 0, 0, 0);
        let lease = Lease { class, until, tokens, batches, returned, acknowledged, sent };
        self.had_spare = tokens > 1;
        self.leases.get_or_insert_with(grant, || lease);
    }

    /// One slot of a valid lease, the one that ends first.
    pub(super) fn take_one(
        &mut self,
        now: Timestamp,
        class: SlotClass,
    ) -> Option<(GrantId, Timestamp)> {
        let valid = |lease: &Lease| lease.class == class && lease.tokens > 0 && now < lease.until;
        let (grant, lease) = self
            .leases
            .iter_mut()
            .filter(|(_, lease)| valid(lease))
            .min_by_key(|(_, lease)| lease.until)?;
        lease.tokens -= 1;
        Some((*grant, lease.until))
    }

    pub(super) fn tokens(&self, grant: GrantId) -> u32 {
        self.leases.get(&grant).map_or(0, |lease| lease.tokens)
    }

    /// Slots for newcomers that are still valid at `moment`.
    pub(super) fn tokens_after(&self, moment: Timestamp) -> u32 {
        let valid = |lease: &&Lease| lease.class == SlotClass::New && moment < lease.until;
        self.leases.values().filter(valid).map(|lease| lease.tokens).sum()
    }

    /// True if the last grant was more than one slot: leases are being given.
    pub(super) fn had_spare(&self) -> bool {
        self.had_spare
    }

    pub(super) fn cut_batch(&mut self, isolate: IsolateId, grant: GrantId, n: u32) -> bool {
        let Some(lease) = self.leases.get_mut(&grant) else { return false };
        let Some(left) = lease.tokens.checked_sub(n) else { return false };
        lease.tokens = left;
        lease.batches.get_or_default(isolate).given += n;
        true
    }

    /// What an isolate did not use, as its running total: usable again while the lease lasts,
    /// given back after.
    pub(super) fn take_back(
        &mut self,
        now: Timestamp,
        isolate: IsolateId,
        grant: GrantId,
        total: u32,
    ) {
        let Some(lease) = self.leases.get_mut(&grant) else { return };
        let Some(batches) = lease.batches.get_mut(&isolate) else { return };
        let n = total.min(batches.given).saturating_sub(batches.back);
        batches.back += n;
        if now < lease.until { lease.tokens += n } else { lease.returned += n }
    }

    /// Gives back what newcomers have not taken.
    pub(super) fn give_back_new(&mut self) {
        for lease in self.leases.values_mut().filter(|lease| lease.class == SlotClass::New) {
            lease.returned += std::mem::take(&mut lease.tokens);
        }
    }

    /// Turns what is left of ended leases into returns, and forgets what is written off above.
    pub(super) fn expire(&mut self, now: Timestamp) {
        for lease in self.leases.values_mut().filter(|lease| now >= lease.until) {
            lease.returned += std::mem::take(&mut lease.tokens);
        }
        self.leases.retain(|_, lease| now < lease.until + WRITE_OFF_MS);
    }

    pub(super) fn has_returns(&self) -> bool {
        self.leases.values().any(|lease| lease.returned > lease.acknowledged)
    }

    /// Running totals for the next pull: all of them, since an answer may be lost.
    pub(super) fn returns(&mut self) -> Vec<(GrantId, u32)> {
        let returned = self.leases.iter_mut().filter(|(_, lease)| lease.returned > 0);
        returned
            .map(|(grant, lease)| {
                lease.sent = lease.returned;
                (*grant, lease.returned)
            })
            .collect()
    }

    pub(super) fn acknowledge_returns(&mut self) {
        for lease in self.leases.values_mut() {
            lease.acknowledged = lease.sent;
        }
    }

    /// When the next lease with slots left ends.
    pub(super) fn next_end(&self) -> Option<Timestamp> {
        let holds = |lease: &&Lease| lease.tokens > 0;
        self.leases.values().filter(holds).map(|lease| lease.until + GATHER_MS).min()
    }
}
