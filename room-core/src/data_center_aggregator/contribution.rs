//! What a data center's isolates reported, as the absolute counts its aggregator contributes.

use super::News;
use super::visitors::Visitors;
use crate::bucket::Bucket;
use crate::census::{Census, EPOCH_MS, Epoch};
use crate::id::IsolateId;
use crate::settings::Settings;
use crate::slots::{GrantId, SlotClass};
use crate::sorted::SortedMap;
use crate::state::{BIN_SECONDS, Contribution, LEFT_OUT_MS, Node, SYNC_MS};
use crate::time::{SECOND_MS, Timestamp};
use crate::wire::Event;

/// Uses of a grant are repeated this long: past its write-off and any restart in between.
const USED_MS: u64 = 120 * SECOND_MS;
/// An isolate's clock may run ahead by this much; more is clamped (`admission.md` section 5).
const SKEW_MS: u64 = SECOND_MS;
/// An epoch is complete when every report of it has had the time to come in.
const REPORT_DELAY_MS: u64 = SECOND_MS;

#[derive(Debug)]
pub(super) struct Counts {
    seq: u64,
    /// The newest contribution that the global aggregator has stored.
    durable: u64,
    activity: SortedMap<Bucket, i64>,
    used: SortedMap<GrantId, (u32, Timestamp)>,
    admitted: SortedMap<u64, u32>,
    entered: SortedMap<u64, u32>,
    joined: SortedMap<u64, u32>,
    census: Census,
    visitors: Visitors,
    pruned_at: Timestamp,
}

impl Counts {
    pub(super) fn restore(node: Node, copy: Option<&str>, now: Timestamp) -> Self {
        Self {
            seq: 0,
            durable: 0,
            activity: SortedMap::new(),
            used: SortedMap::new(),
            admitted: SortedMap::new(),
            entered: SortedMap::new(),
            joined: SortedMap::new(),
            census: Census::default(),
            visitors: Visitors::restore(node, copy, now),
            pruned_at: now,
        }
    }

    pub(super) fn copy(&self, node: Node) -> String {
        self.visitors.copy(node, u32::try_from(self.durable).unwrap_or(u32::MAX))
    }

    /// Contributions up to this one have been stored.
    pub(super) fn note_durable(&mut self, seq: u64) {
        self.durable = self.durable.max(seq);
    }

    /// Counts one event, and says how soon it should reach the global aggregator.
    ///
    /// Whatever session is in force by now: what a ticket promises counts until its end, also
    /// where it was made just before a shorter one.
    pub(super) fn take_in(&mut self, now: Timestamp, event: &Event) -> News {
        let newest = Bucket::last_possible(now + SKEW_MS);
        match *event {
            Event::Admitted { visitor, bucket, second, class, grant } => {
                let bucket = bucket.min(newest);
                // A second admission of one ticket is one visitor and one slot.
                if !self.visitors.admit(visitor, bucket) {
                    return News::None;
                }
                *self.activity.get_or_default(bucket) += 1;
                let second = second.min((now + SKEW_MS).seconds());
                *self.entered.get_or_default(second) += 1;
                if class == SlotClass::New {
                    *self.admitted.get_or_default(second) += 1;
                }
                if let Some(grant) = grant {
                    let used = self.used.get_or_insert_with(grant, || (0, now));
                    *used = (used.0 + 1, now);
                }
            }
            Event::Moved { visitor, from, to } => {
                let to = to.min(newest);
                let Some(left) = self.visitors.step(visitor, from, to) else { return News::None };
                *self.activity.get_or_default(left) -= 1;
                *self.activity.get_or_default(to) += 1;
            }
            Event::Revoked { visitor, from } => {
                if !self.visitors.revoke(visitor, from.min(newest)) {
                    return News::None;
                }
            }
            Event::Present(presence) => {
                if self.census.add(presence) && presence.joined {
                    *self.joined.get_or_default(presence.from.seconds()) += 1;
                }
            }
        }
        news(now, event)
    }

    /// Takes in whose sessions were ended elsewhere; true if that is news for the others too.
    pub(super) fn hear_revoked(&mut self, revoked: &[(u64, Bucket)]) -> bool {
        let news =
            |(visitor, bucket): &(u64, Bucket)| self.visitors.revoked_elsewhere(*visitor, *bucket);
        revoked.iter().map(news).fold(false, |some, news| some | news)
    }

    /// Whose tickets moved on in a report although their sessions had been ended, and until when
    /// the tickets would have counted.
    pub(super) fn revoked_among(&self, events: &[Event]) -> Vec<(u64, Bucket)> {
        let revoked = |event: &Event| match *event {
            Event::Moved { visitor, to, .. } if self.visitors.is_revoked(visitor, to) => {
                Some((visitor, to))
            }
            _ => None,
        };
        events.iter().filter_map(revoked).collect()
    }

    /// Everything so far as one contribution with a new sequence number.
    pub(super) fn contribution(
        &mut self,
        now: Timestamp,
        included: SortedMap<IsolateId, u64>,
        quiet: bool,
    ) -> Contribution {
        self.seq += 1;
        self.visitors.note_sync();
        Contribution {
            seq: self.seq,
            activity: self.activity.clone(),
            used: self.used.iter().map(|(grant, (used, _))| (*grant, *used)).collect(),
            admitted: self.admitted.clone(),
            entered: self.entered.clone(),
            joined: self.joined.clone(),
            census: self.census.report(),
            through: Epoch::newest_ended(now - REPORT_DELAY_MS).unwrap_or_default(),
            included,
            revoked: self.visitors.revoked().clone(),
            quiet: quiet && self.census.is_empty_from(now - EPOCH_MS),
        }
    }

    /// Forgets what is over, once per sync span: urgent syncs follow each other faster, and this
    /// looks at every visitor.
    pub(super) fn prune(&mut self, now: Timestamp, settings: &Settings) {
        if now.since_ms(self.pruned_at) < SYNC_MS {
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
        self.census.prune(now);
        self.visitors.prune(now);
    }
}

/// A move that comes so late that the old bucket could expire before the next sync is urgent:
/// the visitor would be missing from the count for a moment.
fn news(now: Timestamp, event: &Event) -> News {
    match event {
        Event::Moved { from, .. } if from.expires_at() < now + 2 * SYNC_MS => News::Urgent,
        Event::Admitted { .. }
        | Event::Moved { .. }
        | Event::Revoked { .. }
        | Event::Present(_) => News::Some,
    }
}
