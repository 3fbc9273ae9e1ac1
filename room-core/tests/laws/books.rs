//! I2 and I15: the ledger adds up from absolute reports alone, and merging them never depends on
//! order, repetition or grouping.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, proptest};
use proptest::sample::Index;
use room_core::base::id::{Colo, Incarnation, IsolateId, VisitorId};
use room_core::base::sorted::SortedMap;
use room_core::base::time::Timestamp;
use room_core::capacity::slots::{ANSWER_MS, GrantId, LEASE_MS, Ledger, SlotClass, WRITE_OFF_MS};
use room_core::capacity::state::{Contribution, Contributions, Node, NodeIncarnation, StoredPart};
use room_core::order::census::Epoch;
use room_core::order::order_key::OrderKey;
use room_core::ticket::bucket::Bucket;

use crate::escrow::{config, limits};

const NOW: Timestamp = Timestamp(1_000_000);

/// What is known of one grant: absolute totals, whatever reports said them.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    n: u32,
    used: u32,
    returned: u32,
    until: Timestamp,
}

fn contribution(seq: u64) -> impl Strategy<Value = Contribution> {
    let pairs = || vec((0..6_u32, 0..5_u32), 0..6);
    (pairs(), pairs(), pairs(), any::<bool>()).prop_map(move |(activity, line, used, quiet)| {
        let second = |n: u32| NOW.seconds() - u64::from(n);
        let bins = |pairs: &[(u32, u32)]| pairs.iter().map(|(k, n)| (second(*k), *n)).collect();
        let grant = |number: u32| GrantId { incarnation: Incarnation(1), number: number.into() };
        Contribution {
            tells_ends: true,
            seq,
            activity: activity
                .iter()
                .map(|(bucket, n)| (Bucket(1_005 + bucket), i64::from(*n) - 2))
                .collect(),
            // Uses only grow within the incarnation of a source.
            used: used.iter().map(|(id, n)| (grant(*id), n + 5 * seq as u32)).collect(),
            admitted: bins(&activity),
            entered: bins(&line),
            // Not stored either: all count for the whole second.
            entered_early: SortedMap::default(),
            joined: bins(&used),
            census: [(Epoch(198), line.iter().map(|(k, n)| (OrderKey((*k).into()), *n)).collect())]
                .into(),
            // Not stored: after a restart all of the census count until the next sync.
            away: SortedMap::default(),
            // The same is true of sessions that were ended.
            revoked: (0..seq)
                .map(|visitor| (VisitorId(visitor), Bucket(1_005 + seq as u32)))
                .collect(),
            // These are taken into account in what is counted.
            named: SortedMap::default(),
            through: Epoch(198),
            included: [(IsolateId(1), seq)].into(),
            quiet,
            told_until: (!quiet).then(|| NOW - 500 * seq),
            report_ms: 250 * seq,
            facts: bins(&line),
        }
    })
}

/// Contributions of up to three sources, each with several sequence numbers.
fn contributions() -> impl Strategy<Value = Vec<(NodeIncarnation, Contribution)>> {
    let source = (0..2_u16, 0..2_u64).prop_map(|(shard, incarnation)| {
        let node = Node { colo: Colo::UNKNOWN, shard };
        NodeIncarnation { node, incarnation: Incarnation(incarnation) }
    });
    let one = (source, 1..5_u64);
    let one = one.prop_flat_map(|(source, seq)| (Just(source), contribution(seq)));
    vec(one, 1..12).prop_map(|all| {
        // A sequence number names one contribution.
        let unique: BTreeMap<_, _> =
            all.into_iter().map(|(source, one)| ((source, one.seq), (source, one))).collect();
        unique.into_values().collect()
    })
}

fn merged<'a>(all: impl Iterator<Item = &'a (NodeIncarnation, Contribution)>) -> Contributions {
    let mut book = Contributions::default();
    all.for_each(|(source, one)| {
        book.merge(NOW, *source, one.clone());
    });
    book
}

/// Everything a book can be asked.
fn answers(book: &mut Contributions) -> String {
    let settings = limits(100, 100);
    let nodes = [0, 1].map(|shard| book.included(Node { colo: Colo::UNKNOWN, shard }));
    let counts: Vec<u64> =
        (0..8_000).step_by(1_000).map(|ms| book.counted(NOW + ms, &settings)).collect();
    let from = NOW - 3_000;
    format!(
        "{counts:?} {nodes:?} {:?} {:?} {:?} {} {} {} {}",
        book.waiters(Epoch(198), 0),
        book.seqs(),
        book.reported_epoch(NOW),
        book.admitted_since(from),
        book.entered_since(from, NOW),
        book.joined_since(from),
        book.used_of(|_| true),
    )
}

proptest! {
    #![proptest_config(config())]

    /// I2: n = used + returned + written off + outstanding for each grant, at each moment.
    #[test]
    fn i2_every_slot_is_in_exactly_one_place(
        grants in vec((1..20_u32, any::<bool>()), 1..6),
        reports in vec((any::<Index>(), 0..25_u32, any::<bool>(), 0..8_000_u64), 0..40),
    ) {
        let settings = limits(100, 100);
        let mut ledger = Ledger::new(Incarnation(1));
        let mut known: BTreeMap<GrantId, Known> = BTreeMap::new();
        for (n, is_new) in grants {
            let class = if is_new { SlotClass::New } else { SlotClass::Queued };
            let slots = ledger.grant(NOW, &settings, class, n, LEASE_MS);
            let until = slots.until;
            known.insert(slots.grant, Known { n, until, ..Known::default() });
        }
        let ids: Vec<GrantId> = known.keys().copied().collect();
        let mut now = NOW;
        for (which, total, is_use, pause_ms) in reports {
            let id = ids[which.index(ids.len())];
            let one = known.get_mut(&id).expect("a grant of this test");
            if is_use {
                ledger.set_used(id, total);
                one.used = one.used.max(total.min(one.n));
                one.returned = one.returned.min(one.n - one.used);
            } else {
                ledger.set_returned(id, total);
                one.returned = one.returned.max(total.min(one.n - one.used));
            }
            ledger.settle(now, &settings);
            let rest = |one: &Known| u64::from(one.n - one.used - one.returned);
            let is_over = |one: &&Known| now >= one.until + WRITE_OFF_MS;
            let written_off: u64 = known.values().filter(is_over).map(rest).sum();
            let all: u64 = known.values().map(rest).sum();
            assert_eq!(ledger.outstanding(), all - written_off, "outstanding at {now}");
            let holds = |one: &&Known| now < settings.bucket_at(one.until + ANSWER_MS).expires_at();
            let written_off: u64 = known.values().filter(is_over).filter(holds).map(rest).sum();
            assert_eq!(ledger.written_off_slots(now), written_off, "written off at {now}");
            // Accounted for, a grant is forgotten after its end; late reports change nothing.
            known.retain(|_, one| now < one.until || rest(one) > 0);
            if known.len() < ids.len() {
                break;
            }
            now = now + pause_ms;
        }
    }

    /// I15: any order, any repetition, any grouping: the same book.
    #[test]
    fn i15_merging_is_commutative_associative_and_idempotent(
        all in contributions(),
        order in vec(any::<Index>(), 0..24),
        cut in any::<Index>(),
    ) {
        let want = answers(&mut merged(all.iter()));
        // Every contribution once at least, in another order, some of them again.
        let again = order.iter().map(|index| &all[index.index(all.len())]);
        let mut shuffled = merged(again.clone().chain(all.iter().rev()).chain(again));
        assert_eq!(answers(&mut shuffled), want);
        // Stored and read back in between: the same as merging what the parts held.
        let (early, late) = all.split_at(cut.index(all.len()));
        let early = merged(early.iter());
        let mut stored = Contributions::default();
        for part in early.parts().keys() {
            let part = early.stored_part(*part, Epoch(198));
            let text = serde_json::to_string(&part).expect("plain data");
            let part: Option<StoredPart> = serde_json::from_str(&text).expect("what was written");
            stored.restore(part.expect("a part of the book"));
        }
        for (source, one) in late {
            stored.merge(NOW, *source, one.clone());
        }
        assert_eq!(answers(&mut stored), want);
    }

    /// I15: the total of each bucket is the sum of the newest of each source, clamped at 0.
    #[test]
    fn i15_the_newest_of_each_source_counts(all in contributions()) {
        let mut newest: BTreeMap<NodeIncarnation, &Contribution> = BTreeMap::new();
        for (source, one) in &all {
            let held = newest.entry(*source).or_insert(one);
            if held.seq < one.seq {
                *held = one;
            }
        }
        let mut sums: BTreeMap<Bucket, i64> = BTreeMap::new();
        for (bucket, count) in newest.values().flat_map(|one| &one.activity) {
            *sums.entry(*bucket).or_default() += count;
        }
        let mut revoked: BTreeMap<VisitorId, Bucket> = BTreeMap::new();
        for (visitor, bucket) in newest.values().flat_map(|one| &one.revoked) {
            let last = revoked.entry(*visitor).or_default();
            *last = bucket.max(last).to_owned();
        }
        for bucket in revoked.into_values() {
            *sums.entry(bucket).or_default() -= 1;
        }
        let want: u64 = sums.values().map(|sum| (*sum).max(0).unsigned_abs()).sum();
        assert_eq!(merged(all.iter()).counted(NOW, &limits(1, 1)), want);
    }
}
