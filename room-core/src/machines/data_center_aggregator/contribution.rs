//! The counts that a data center's aggregator contributes to the room.
//!
//! They are absolute values since the incarnation began, not differences, so that a sync may be
//! lost or repeated without harm.

use super::News;
use super::guests::Step;
use super::visitors::Visitors;
use crate::base::id::{AggregatorCode, IsolateId, VisitorId};
use crate::base::sorted::SortedMap;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::facts::{self, Fact, Facts};
use crate::capacity::slots::{GrantId, RATE_BINS, SlotClass};
use crate::capacity::state::{
    BIN_SECONDS, CLOCK_MS, Contribution, LEFT_OUT_MS, Node, REPORT_ANSWER_MS, RevokedVisitor,
    SYNC_MS,
};
use crate::machines::wire::{Admission, IsolateEvent};
use crate::order::census::{Census, Epoch};
use crate::order::order_key::EPOCH_MS;
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

/// How long each sync repeats how many slots of a grant were used, in milliseconds: past the
/// write-off of the grant and any restart in between.
const USED_MS: u64 = 120 * SECOND_MS;
/// How far an isolate's clock or ledger time may run ahead of the aggregator's clock, in
/// milliseconds. Later times are clamped (`docs/algorithm.md`).
pub(super) const SKEW_MS: u64 = 5 * SECOND_MS;
/// How long after its end a census epoch counts as complete, in milliseconds: its last reports have
/// then come in.
const REPORT_DELAY_MS: u64 = SECOND_MS;

/// Everything that the isolates of one data center reported to this incarnation.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// The name of this aggregator in tickets.
    code: AggregatorCode,
    /// The sequence number of the last contribution; 0 before the first.
    seq: u64,
    /// The sequence number of the newest contribution that the global aggregator has stored.
    durable: u64,
    activity: SortedMap<Bucket, i64>,
    used: SortedMap<GrantId, (u32, Timestamp)>,
    admitted: SortedMap<u64, u32>,
    entered: SortedMap<u64, u32>,
    entered_early: SortedMap<u64, u32>,
    joined: SortedMap<u64, u32>,
    facts: Facts,
    census: Census,
    visitors: Visitors,
    /// The moment up to which the last contribution reported all renewals.
    told_until: Timestamp,
    started_at: Timestamp,
    /// Whether an earlier incarnation has counted anybody.
    has_predecessor: bool,
    pruned_at: Timestamp,
}

impl Counts {
    /// Makes counts of zero that know the visitors of an earlier incarnation's `copy`.
    pub(super) fn restore(node: Node, copy: Option<&str>, now: Timestamp) -> Self {
        Self {
            code: node.code(),
            seq: 0,
            durable: 0,
            activity: SortedMap::new(),
            used: SortedMap::new(),
            admitted: SortedMap::new(),
            entered: SortedMap::new(),
            entered_early: SortedMap::new(),
            joined: SortedMap::new(),
            facts: Facts::new(),
            census: Census::default(),
            visitors: Visitors::restore(node, copy, now),
            told_until: Timestamp::default(),
            started_at: now,
            has_predecessor: false,
            pruned_at: now,
        }
    }

    /// Returns the text of the copy for the next incarnation: the visitors whose counts are stored.
    pub(super) fn copy(&self, node: Node) -> String {
        self.visitors.copy(node, u32::try_from(self.durable).unwrap_or(u32::MAX))
    }

    /// Notes that an earlier incarnation has counted visitors.
    pub(super) fn note_predecessor(&mut self) {
        self.has_predecessor = true;
    }

    /// Notes that the global aggregator has stored all contributions up to number `seq`.
    pub(super) fn note_durable(&mut self, seq: u64) {
        self.durable = self.durable.max(seq);
    }

    /// Counts one event, and returns how soon the global aggregator should hear of it.
    ///
    /// A visitor is counted until the end of the session that the ticket promises, even if the
    /// room's sessions have been shortened since.
    pub(super) fn take_in(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        event: &IsolateEvent,
    ) -> News {
        let newest = Bucket::last_possible(now + SKEW_MS);
        match *event {
            IsolateEvent::Admitted(admission) => {
                return self.admit(now, settings, admission, newest);
            }
            IsolateEvent::Moved { visitor, from, to, counted_by } => {
                return self.move_on(now, settings, visitor, from, to.min(newest), counted_by);
            }
            IsolateEvent::Revoked { visitor, from } => {
                if !self.visitors.revoke(visitor, from.min(newest)) {
                    return News::None;
                }
            }
            IsolateEvent::Present(presence) => {
                if self.census.add(presence) && presence.joined {
                    *self.joined.get_or_default(presence.from.seconds()) += 1;
                    facts::count(&mut self.facts, now, presence.from, Fact::Joined);
                }
            }
        }
        News::Some
    }

    /// Counts an admission, in a bucket not after the `newest`.
    fn admit(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        admission: Admission,
        newest: Bucket,
    ) -> News {
        let Admission { visitor, second, early, class, waited_s, told_s, .. } = admission;
        let bucket = admission.bucket.min(newest);
        // A second admission of one ticket is one visitor and one slot. It ends later if the room's
        // sessions have become longer since.
        if let Some(before) = self.visitors.admit(visitor, bucket, second) {
            return self.move_on(now, settings, visitor, before, bucket, self.code);
        }
        self.visitors.named.count(visitor, bucket, self.code);
        *self.activity.get_or_default(bucket) += 1;
        let told_second = second;
        let second = second.min((now + SKEW_MS).seconds());
        *self.entered.get_or_default(second) += 1;
        if early && second == told_second {
            *self.entered_early.get_or_default(second) += 1;
        }
        if class == SlotClass::New {
            *self.admitted.get_or_default(second) += 1;
        }
        let fact = if waited_s.is_some() { Fact::Called } else { Fact::New };
        let waited = waited_s.map(|seconds| Fact::Waited(seconds.into()));
        let told = told_s.zip(waited_s);
        let told = told.map(|(told_s, waited_s)| Fact::told_error(told_s, waited_s));
        let kept = admission.turn_kept.then_some(Fact::TurnKept);
        for fact in [Some(fact), waited, told, kept].into_iter().flatten() {
            facts::count(&mut self.facts, now, Timestamp::from_seconds(second), fact);
        }
        if let Some(grant) = admission.grant {
            let used = self.used.get_or_insert_with(grant, || (0, now));
            *used = (used.0 + 1, now);
        }
        News::Some
    }

    /// Counts a visitor's move between two buckets. The first is that of an isolate of the data
    /// center `counted_by`.
    fn move_on(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        visitor: VisitorId,
        from: Bucket,
        to: Bucket,
        counted_by: AggregatorCode,
    ) -> News {
        let before = self.visitors.place_of(visitor);
        let left = self.visitors.step(visitor, from, to, counted_by == self.code);
        let Some(left) = left else { return News::None };
        let session_s = settings.session_ms() / SECOND_MS;
        let seen_at = left.expires_at().minus_seconds(session_s);
        let may_be_counted = self.has_predecessor && seen_at < self.started_at + SKEW_MS;
        let step = Step { from, left, to, by: counted_by, may_be_counted };
        self.visitors.named.step(visitor, before, step, self.code);
        *self.activity.get_or_default(left) -= 1;
        *self.activity.get_or_default(to) += 1;
        if from.expires_at() < now + 2 * SYNC_MS { News::Urgent } else { News::Some }
    }

    /// Adds the facts that an isolate has counted besides events.
    pub(super) fn add_facts(&mut self, now: Timestamp, counted: &Facts) {
        facts::add(&mut self.facts, now, counted);
    }

    /// Notes that the global aggregator did not answer.
    pub(super) fn note_unanswered(&mut self, now: Timestamp) {
        facts::count(&mut self.facts, now, now, Fact::Unanswered);
    }

    /// Takes in sessions that were ended in other data centers. Returns whether some of these
    /// visitors had moved on here. Then the next sync tells that their sessions ended here too.
    pub(super) fn hear_revoked(&mut self, revoked: &[RevokedVisitor]) -> bool {
        let news = |one: &RevokedVisitor| self.visitors.revoked_elsewhere(one.visitor, one.bucket);
        revoked.iter().map(news).fold(false, |some, news| some | news)
    }

    /// Takes in visitors counted here whose tickets are used elsewhere. Returns whether the next
    /// sync has something new to say of them.
    pub(super) fn hear_used_elsewhere(&mut self, visitors: &[VisitorId]) -> bool {
        self.visitors.hear_used_elsewhere(visitors, self.code)
    }

    /// Returns two kinds of visitors whose sessions were ended.
    ///
    /// The first are those whom `events` moved on nevertheless, each with the bucket of the ticket
    /// that must no longer count. The second are those of `asked`.
    pub(super) fn revoked_among(
        &self,
        events: &[IsolateEvent],
        asked: &[VisitorId],
    ) -> Vec<RevokedVisitor> {
        let revoked = |event: &IsolateEvent| match *event {
            IsolateEvent::Moved { visitor, to, .. } if self.visitors.is_revoked(visitor, to) => {
                Some(RevokedVisitor { visitor, bucket: to })
            }
            _ => None,
        };
        let ended = |visitor: &VisitorId| {
            let bucket = self.visitors.ended_in(*visitor)?;
            Some(RevokedVisitor { visitor: *visitor, bucket })
        };
        events.iter().filter_map(revoked).chain(asked.iter().filter_map(ended)).collect()
    }

    /// Returns everything counted so far as one contribution with the next sequence number.
    ///
    /// `included` names the last event of each isolate that is in it. `quiet` says that no isolate
    /// reported anything since the last sync. `report_ms` is the report interval of isolates.
    pub(super) fn contribution(
        &mut self,
        now: Timestamp,
        included: SortedMap<IsolateId, u64>,
        quiet: bool,
        report_ms: u64,
    ) -> Contribution {
        self.seq += 1;
        self.visitors.note_sync();
        let told_until = self.told_until(now, report_ms);
        self.told_until = told_until;
        let nobody_waits = self.census.is_empty_from(now - EPOCH_MS);
        Contribution {
            seq: self.seq,
            activity: self.activity.clone(),
            used: self.used.iter().map(|(grant, (used, _))| (*grant, *used)).collect(),
            admitted: self.admitted.clone(),
            entered: self.entered.clone(),
            entered_early: self.entered_early.clone(),
            joined: self.joined.clone(),
            census: self.census.report(),
            away: self.census.report_away(now + LEFT_OUT_MS),
            through: Epoch::newest_ended(now - REPORT_DELAY_MS).unwrap_or_default(),
            included,
            revoked: self.visitors.revoked(),
            named: self.visitors.named.all(),
            quiet: quiet && nobody_waits && told_until > Timestamp::default(),
            told_until: Some(told_until),
            report_ms,
            facts: self.facts.clone(),
            tells_ends: false,
        }
    }

    /// Returns when a sync can report the end of the first bucket with `many` visitors that none
    /// has reported: no renewal out of it is then missing. `None` if there is none.
    pub(super) fn tells_end_at(&self, report_ms: u64, many: i64) -> Option<Timestamp> {
        let untold = Bucket(u32::try_from(self.told_until.seconds() + 1).unwrap_or(u32::MAX));
        let inside = |(_, count): &(&Bucket, &i64)| **count >= many;
        let (bucket, _) = self.activity.from_key(&untold).find(inside)?;
        Some(bucket.expires_at() + told_late_ms(report_ms))
    }

    /// Returns when a sync can first say up to when this incarnation knows all renewals. `None`
    /// once one has said it: `report_ms`, which looks at every isolate, is not asked for any more.
    pub(super) fn knows_renewals_at(&self, report_ms: impl FnOnce() -> u64) -> Option<Timestamp> {
        let is_told = self.told_until > Timestamp::default();
        (!is_told).then(|| {
            let report_ms = report_ms();
            self.heard_all_at(report_ms) + told_late_ms(report_ms)
        })
    }

    /// Returns the moment by which the isolates have repeated what the incarnation before heard and
    /// did not pass on.
    fn heard_all_at(&self, report_ms: u64) -> Timestamp {
        self.started_at + SYNC_MS.max(report_ms)
    }

    /// Returns the moment up to which all renewals have been reported if no report is lost. 1970
    /// until the isolates have repeated to a new incarnation what the one before did not pass on.
    fn told_until(&self, now: Timestamp, report_ms: u64) -> Timestamp {
        let told = now - told_late_ms(report_ms);
        if told < self.heard_all_at(report_ms) { Timestamp::default() } else { told }
    }

    /// Forgets what no longer counts. It looks at every visitor, so it runs every 2 s at most, even
    /// if urgent syncs follow each other faster.
    pub(super) fn prune(&mut self, now: Timestamp, settings: &Settings) {
        if now >= self.pruned_at && now.since_ms(self.pruned_at) < SYNC_MS {
            return;
        }
        self.pruned_at = now;
        let horizon_ms = 2 * settings.session_ms() + LEFT_OUT_MS;
        self.activity.retain(|bucket, count| *count != 0 && now < bucket.expires_at() + horizon_ms);
        self.used.retain(|_, (_, at)| now.since_ms(*at) < USED_MS);
        let oldest_s = now.seconds().saturating_sub(BIN_SECONDS);
        for bins in [&mut self.admitted, &mut self.entered, &mut self.joined] {
            bins.keep_from(&oldest_s);
        }
        self.entered_early.keep_from(&now.minus_seconds(RATE_BINS).seconds());
        self.facts.keep_from(&facts::first_key(facts::first_open(now)));
        self.census.prune(now);
        for stayed_s in self.visitors.prune(now, settings) {
            facts::count(&mut self.facts, now, now, Fact::Stayed(stayed_s));
        }
    }
}

/// Returns the longest delay between a renewal and the sync that reports it, in milliseconds.
fn told_late_ms(report_ms: u64) -> u64 {
    report_ms + REPORT_ANSWER_MS + CLOCK_MS
}
