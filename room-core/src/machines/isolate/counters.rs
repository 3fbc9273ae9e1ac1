//! What an isolate has learned of its data center's counters from their answers. It knows how many
//! share the requests, and which visitors each of them would refuse.

use crate::base::id::{AdmissionId, IsolateId};
use crate::base::sorted::SortedMap;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::capacity::slots::SlotClass;
use crate::machines::wire::{RefusalHint, Shard};
use crate::order::order_key::OrderKey;

/// How long the number of counters holds after counter 0 has told it, in milliseconds. After that
/// only counter 0 is asked.
const KNOWN_MS: u64 = MINUTE_MS;

/// The counters of one room in the isolate's data center.
#[derive(Clone, Debug)]
pub(super) struct Counters {
    /// How many share the requests, and when counter 0 said so.
    of: u16,
    told_at: Timestamp,
    /// Per counter: the lowest key of called visitors whom it would refuse, and until when.
    held: SortedMap<u16, (OrderKey, Timestamp)>,
}

impl Default for Counters {
    fn default() -> Self {
        Self { of: 1, told_at: Timestamp::default(), held: SortedMap::new() }
    }
}

impl Counters {
    /// Returns the number of the counter to ask.
    ///
    /// For newcomers it depends on the isolate, since they share its batch of slots. For called
    /// visitors it depends on the ticket. So a repeated request from any isolate reaches the
    /// counter that knows the slot given before.
    pub(super) fn pick(
        &self,
        now: Timestamp,
        class: SlotClass,
        isolate: IsolateId,
        admission: AdmissionId,
    ) -> u16 {
        let of = if now.since_ms(self.told_at) < KNOWN_MS { self.of } else { 1 };
        let drawn = match class {
            SlotClass::New => isolate.0,
            SlotClass::Queued => admission.0,
        };
        u16::try_from(drawn % u64::from(of.max(1))).unwrap_or_default()
    }

    /// Takes in a counter's answer.
    pub(super) fn on_reply(&mut self, now: Timestamp, shard: Shard, held: Option<RefusalHint>) {
        if shard.of > 0 {
            (self.of, self.told_at) = (shard.of, now);
        }
        if let Some(held) = held {
            self.held.insert(shard.number, (held.from, now + held.for_ms));
        }
    }

    /// Whether this counter has said lately that it would refuse a called visitor with this key.
    pub(super) fn would_refuse(&self, now: Timestamp, counter: u16, key: OrderKey) -> bool {
        self.held.get(&counter).is_some_and(|(from, until)| key >= *from && now < *until)
    }
}

#[cfg(test)]
mod tests {
    use super::{Counters, KNOWN_MS};
    use crate::base::id::{AdmissionId, IsolateId};
    use crate::base::time::Timestamp;
    use crate::capacity::slots::SlotClass;
    use crate::machines::wire::{RefusalHint, Shard};
    use crate::order::order_key::OrderKey;

    const NOW: Timestamp = Timestamp(1_000_000);

    #[test]
    fn newcomers_go_by_isolate_and_tickets_by_themselves_while_the_number_is_known() {
        let check = |class: SlotClass, later_ms: u64, want: u16| {
            let mut counters = Counters::default();
            counters.on_reply(NOW, Shard { number: 0, of: 4 }, None);
            counters.on_reply(NOW, Shard { number: 3, of: 0 }, None); // does not know
            let got = counters.pick(NOW + later_ms, class, IsolateId(5), AdmissionId(7));
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
        let held = Some(RefusalHint { from: OrderKey(9), for_ms: 500 });
        counters.on_reply(NOW, Shard { number: 2, of: 0 }, held);
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
