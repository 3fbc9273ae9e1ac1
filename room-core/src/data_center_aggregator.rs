//! The machine of a data center's aggregator: merges its isolates' reports, syncs, gives the view.
//!
//! It counts each move of a visitor once within its data center (I7). It grants nothing and
//! admits nobody.

mod contribution;
mod visitors;

use crate::id::{Incarnation, IsolateId};
use crate::settings::Settings;
use crate::sorted::SortedMap;
use crate::state::{Node, SYNC_MS, Source};
use crate::time::{SECOND_MS, Timestamp};
use crate::turn::{Fact, RequestId, Turn};
use crate::view::{View, keep_newer};
use crate::wire::{GlobalReply, Report, ReportReply, Sync};

use contribution::Counts;

/// Reports come this soon while few isolates report (`admission.md` section 5).
const REPORT_MS_MIN: u64 = 250;
/// Reports one aggregator takes per second; with more isolates each reports less often.
const REPORTS_PER_S: u64 = 200;
/// An isolate that has not reported for this long is taken for dead.
const ISOLATE_MS: u64 = 60 * SECOND_MS;
/// Isolates remembered at most.
const ISOLATES_MAX: usize = 4_096;
/// Syncs whose durability is still open, at most.
const SYNCS_MAX: usize = 16;

/// What an event of this machine returns.
pub type AggregatorTurn = Turn<ReportReply, Sync>;

/// The state of one aggregator.
#[derive(Debug)]
pub struct DataCenterAggregator {
    source: Source,
    counts: Counts,
    isolates: SortedMap<IsolateId, Isolate>,
    /// What earlier lives have contributed; none until the first sync is answered.
    base: Option<SortedMap<IsolateId, u64>>,
    view: Option<View>,
    waiting: Vec<(RequestId, Report)>,
    syncing: bool,
    synced_at: Timestamp,
    news: News,
    /// True when an isolate reported something since the last sync.
    reported: bool,
    /// True when the last sync said that nobody reports and nobody waits.
    told_quiet: bool,
    /// Sent syncs by sequence number, with the events they include.
    sent: SortedMap<u64, SortedMap<IsolateId, u64>>,
    durable: SortedMap<IsolateId, u64>,
}

/// What the global aggregator has not been told yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum News {
    None,
    /// Goes with the next sync that is due.
    Some,
    /// Must not wait for it.
    Urgent,
}

#[derive(Clone, Copy, Debug, Default)]
struct Isolate {
    received: u64,
    seen: Timestamp,
}

impl DataCenterAggregator {
    /// An aggregator that starts at `now`; the copy of an earlier life tells it which visitors
    /// have moved already, so that their repeated requests are not counted again.
    pub fn new(node: Node, copy: Option<&str>, now: Timestamp, incarnation: Incarnation) -> Self {
        Self {
            source: Source { node, incarnation },
            counts: Counts::restore(node, copy, now),
            isolates: SortedMap::new(),
            base: None,
            view: None,
            waiting: Vec::new(),
            syncing: false,
            synced_at: Timestamp::default(),
            news: News::None,
            reported: false,
            told_quiet: true,
            sent: SortedMap::new(),
            durable: SortedMap::new(),
        }
    }

    /// The text for the Cache API copy.
    pub fn copy(&self) -> String {
        self.counts.copy(self.source.node)
    }

    /// A report of an isolate. It is answered at once when the view is fresh, and otherwise
    /// after the next sync.
    pub fn on_report(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        id: RequestId,
        report: Report,
    ) -> AggregatorTurn {
        let mut turn = AggregatorTurn::default();
        if self.base.is_some() {
            self.take_in(now, &report, &mut turn);
        }
        let fresh = self.view.as_ref().is_some_and(|view| !view.is_due(now));
        if self.base.is_some() && fresh {
            turn.replies.push((id, self.reply(now, &report)));
        } else {
            self.waiting.push((id, report));
        }
        self.finish(now, settings, &mut turn);
        turn
    }

    /// The answer to the sync in flight; `None` if the global aggregator is silent.
    pub fn on_synced(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        reply: Option<GlobalReply>,
    ) -> AggregatorTurn {
        let mut turn = AggregatorTurn::default();
        self.syncing = false;
        if let Some(GlobalReply::Synced { durable, included, view }) = reply {
            if self.counts.hear_revoked(&view.revoked) {
                self.news = self.news.max(News::Some);
            }
            keep_newer(&mut self.view, view);
            if self.base.is_none() {
                self.durable = included.iter().copied().collect();
                self.base = Some(self.durable.clone());
            }
            self.note_durable(durable);
        } else {
            turn.facts.push(Fact::AboveSilent);
            // What the lost sync said is said again: contributions are absolute.
            self.news = self.news.max(News::Some);
        }
        for (id, report) in std::mem::take(&mut self.waiting) {
            if self.base.is_some() {
                self.take_in(now, &report, &mut turn);
            }
            turn.replies.push((id, self.reply(now, &report)));
        }
        self.finish(now, settings, &mut turn);
        turn
    }

    /// The wake-up it asked for: a sync is due.
    pub fn on_alarm(&mut self, now: Timestamp, settings: &Settings) -> AggregatorTurn {
        let mut turn = AggregatorTurn::default();
        self.finish(now, settings, &mut turn);
        turn
    }

    /// Events up to this number of an isolate have been taken in, in this life or before.
    fn received(&self, isolate: IsolateId) -> u64 {
        let base = self.base.as_ref().and_then(|base| base.get(&isolate)).copied();
        let own = self.isolates.get(&isolate).map(|isolate| isolate.received);
        own.max(base).unwrap_or(0)
    }

    fn take_in(&mut self, now: Timestamp, report: &Report, turn: &mut AggregatorTurn) {
        if !self.isolates.contains_key(&report.isolate) && self.isolates.len() >= ISOLATES_MAX {
            turn.facts.push(Fact::BoundReached);
            return;
        }
        let received = self.received(report.isolate).max(report.durable);
        let isolate = self.isolates.get_or_default(report.isolate);
        isolate.seen = now;
        isolate.received = received;
        let next = received + 1;
        if report.first > next {
            // An earlier life of this object took in what lies between and lost it: the answer
            // says from where on everything is needed again.
            return;
        }
        for event in report.events.iter().skip((next - report.first) as usize) {
            isolate.received += 1;
            let news = self.counts.take_in(now, event);
            self.news = self.news.max(news);
            self.reported = true;
        }
    }

    fn reply(&self, now: Timestamp, report: &Report) -> ReportReply {
        let isolate = report.isolate;
        let live = |isolate: &&Isolate| now.since_ms(isolate.seen) < ISOLATE_MS;
        let isolates = self.isolates.values().filter(live).count() as u64;
        ReportReply {
            incarnation: self.source.incarnation,
            received: if self.base.is_some() { self.received(isolate) } else { 0 },
            durable: self.durable.get(&isolate).copied().unwrap_or(0),
            report_interval_ms: (isolates * 1_000 / REPORTS_PER_S).max(REPORT_MS_MIN),
            view: self.view.clone(),
            revoked: self.counts.revoked_among(&report.events),
        }
    }

    fn note_durable(&mut self, seq: u64) {
        self.counts.note_durable(seq);
        if let Some((_, included)) = self.sent.take_before(&(seq + 1)).next_back() {
            for (isolate, number) in included {
                let durable = self.durable.get_or_default(isolate);
                *durable = (*durable).max(number);
            }
        }
    }

    /// True when nothing that an isolate keeps waits for the row above any more.
    fn is_all_durable(&self) -> bool {
        let durable = |isolate| self.durable.get(isolate).copied().unwrap_or(0);
        self.isolates.iter().all(|(isolate, state)| state.received <= durable(isolate))
    }

    /// Ends a turn: syncs if it is time, or says when it will be.
    fn finish(&mut self, now: Timestamp, settings: &Settings, turn: &mut AggregatorTurn) {
        let due_at = self.synced_at + SYNC_MS;
        // The last sync before a quiet spell says so, and needs no new event for it.
        let changed = self.news > News::None || !self.told_quiet || !self.is_all_durable();
        if self.syncing {
            return;
        }
        if self.has_cause() || changed && now >= due_at {
            turn.send = Some(self.sync(now, settings));
        } else if changed {
            turn.wake_at = Some(due_at);
        }
    }

    /// A sync out of turn needs somebody who waits for it or an event that must not be late.
    fn has_cause(&self) -> bool {
        self.news == News::Urgent || !self.waiting.is_empty()
    }

    fn sync(&mut self, now: Timestamp, settings: &Settings) -> Sync {
        let hello = self.base.is_none();
        self.counts.prune(now, settings);
        self.isolates.retain(|_, isolate| now.since_ms(isolate.seen) < 10 * ISOLATE_MS);
        let included: SortedMap<IsolateId, u64> =
            self.isolates.iter().map(|(isolate, state)| (*isolate, state.received)).collect();
        let quiet = !self.reported;
        let contribution = self.counts.contribution(now, included.clone(), quiet);
        self.told_quiet = contribution.quiet;
        self.sent.insert(contribution.seq, included);
        while self.sent.len() > SYNCS_MAX {
            self.sent.take_first();
        }
        self.syncing = true;
        self.synced_at = now;
        (self.news, self.reported) = (News::None, false);
        Sync { source: self.source, contribution, hello }
    }
}

#[cfg(test)]
mod tests;
