//! What an isolate knows of its data center's counters: how many share the asks, and which of
//! them would refuse whom. Asks nobody.

use crate::id::IsolateId;
use crate::queue::OrderKey;
use crate::slots::SlotClass;
use crate::sorted::SortedMap;
use crate::time::{MINUTE_MS, Timestamp};
use crate::wire::{Held, Shard};

/// So long what the first counter said of the others holds.
const KNOWN_MS: u64 = MINUTE_MS;

/// The counters of one room in the isolate's data center.
#[derive(Debug)]
pub(super) struct Counters {
    of: u16,
    told_at: Timestamp,
    /// By counter: called visitors from this key on would be refused until this moment.
    held: SortedMap<u16, (OrderKey, Timestamp)>,
}

impl Default for Counters {
    fn default() -> Self {
        Self { of: 1, told_at: Timestamp::default(), held: SortedMap::new() }
    }
}

impl Counters {
    /// Whom to ask. All newcomers of an isolate share its batch; a ticket goes to the same counter
    /// from every isolate, which knows what it was given before.
    pub(super) fn pick(
        &self,
        now: Timestamp,
        class: SlotClass,
        isolate: IsolateId,
        admission: u64,
    ) -> u16 {
        let of = if now.since_ms(self.told_at) < KNOWN_MS { self.of } else { 1 };
        let drawn = match class {
            SlotClass::New => isolate.0,
            SlotClass::Queued => admission,
        };
        u16::try_from(drawn % u64::from(of.max(1))).unwrap_or_default()
    }

    /// A counter has answered.
    pub(super) fn hear(&mut self, now: Timestamp, shard: Shard, held: Option<Held>) {
        if shard.of > 0 {
            (self.of, self.told_at) = (shard.of, now);
        }
        if let Some(held) = held {
            self.held.insert(shard.number, (held.from, now + held.for_ms));
        }
    }

    /// True if this counter has said a moment ago that it would refuse such a called visitor.
    pub(super) fn would_refuse(&self, now: Timestamp, counter: u16, key: OrderKey) -> bool {
        self.held.get(&counter).is_some_and(|(from, until)| key >= *from && now < *until)
    }
}

#[cfg(test)]
mod tests {
    use super::{Counters, KNOWN_MS};
    use crate::id::IsolateId;
    use crate::queue::OrderKey;
    use crate::slots::SlotClass;
    use crate::time::Timestamp;
    use crate::wire::{Held, Shard};

    const NOW: Timestamp = Timestamp(1_000_000);

    #[test]
    fn newcomers_go_by_isolate_and_tickets_by_themselves_while_the_number_is_known() {
        let check = |class: SlotClass, later_ms: u64, want: u16| {
            let mut counters = Counters::default();
            counters.hear(NOW, Shard { number: 0, of: 4 }, None);
            counters.hear(NOW, Shard { number: 3, of: 0 }, None); // does not know
            let got = counters.pick(NOW + later_ms, class, IsolateId(5), 7);
            assert_eq!(got, want, "{class:?} {later_ms}");
        };
        check(SlotClass::New, 0, 1);
        check(SlotClass::Queued, 0, 3);
        check(SlotClass::Queued, KNOWN_MS - 1, 3);
        check(SlotClass::Queued, KNOWN_MS, 0);
    }

    #[test]
    fn one_counter_speaks_for_itself_alone() {
        let mut counters = Counters::default();
        let held = Some(Held { from: OrderKey(9), for_ms: 500 });
        counters.hear(NOW, Shard { number: 2, of: 0 }, held);
        let check = |counter: u16, key: u64, later_ms: u64, want: bool| {
            let got = counters.would_refuse(NOW + later_ms, counter, OrderKey(key));
            assert_eq!(got, want, "{counter} {key} {later_ms}");
        };
        check(2, 9, 499, true);
        check(2, 9, 500, false);
        check(2, 8, 0, false);
        check(1, 9, 0, false);
    }
}
