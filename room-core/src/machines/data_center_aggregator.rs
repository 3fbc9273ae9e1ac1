//! The state machine of a data center's aggregator, the object that stands between the isolates of
//! one data center and the room's global aggregator.
//!
//! It merges the isolates' reports (admissions, renewed sessions, waiting visitors), sends their
//! sums upward in a *sync* every 2 s, and hands the *view* that comes back to the isolates. Each
//! move of a visitor counts once within the data center, however many requests reported it
//! (invariant I7 of `docs/algorithm.md`).

mod asked;
mod contribution;
mod guests;
mod logged;
mod visitors;

use crate::base::id::{Incarnation, IsolateId};
use crate::base::sorted::SortedMap;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::state::{Contribution, Node, NodeIncarnation, REPORT_MS, SYNC_MS};
use crate::machines::journal::Pending;
use crate::machines::turn::{Incident, RequestId, Turn, earlier};
use crate::machines::wire::{
    CountedFacts, EndedMark, EndedPage, GlobalReply, IsolateEvent, Report, ReportReply, Sync,
};
use crate::queue::view::{View, keep_newer};
use crate::room::settings::Settings;

pub use asked::sync_request;
use asked::{UNHEARD_MS, is_sync_request};
use contribution::{Counts, SKEW_MS};
use logged::Logged;

/// Reports that one aggregator takes in per second. With more than 50 isolates each isolate reports
/// less often than every [`REPORT_MS`].
const REPORTS_PER_S: u64 = 200;
/// Milliseconds without a report after which an isolate no longer counts as live. The others may
/// then report more often.
const ISOLATE_MS: u64 = 60 * SECOND_MS;
/// Milliseconds by which a report may be overdue before its isolate counts as without news.
const LATE_MS: u64 = 5 * SECOND_MS;
/// Milliseconds between the syncs for reports that wait for ledger time. Their isolates wait for
/// 3 s at most, and the global aggregator hears no more syncs from this data center.
const BEHIND_MS: u64 = 500;
/// The most isolates remembered. Reports of further isolates are not taken in.
const ISOLATES_MAX: usize = 4_096;
/// The most sent syncs remembered while the global aggregator has not confirmed their storage.
const SYNCS_MAX: usize = 16;
/// The most syncs per second of all data centers together that only free the places of ended
/// sessions, if nobody renews and sessions end evenly. It bounds how few visitors such a sync may
/// be for.
const FREEING_PER_S: u64 = 40;

/// What the machine returns for each event: answers to reports, and the sync to send upward.
pub type AggregatorTurn = Turn<ReportReply, Sync>;

/// The aggregator of one data center for one room: what its isolates reported, and the newest view.
///
/// It reads no clock and performs no calls; each event comes with the time, and the returned
/// [`AggregatorTurn`] says what to send.
#[derive(Clone, Debug)]
pub struct DataCenterAggregator {
    source: NodeIncarnation,
    counts: Counts,
    isolates: SortedMap<IsolateId, Isolate>,
    /// Per isolate, the last event that earlier incarnations have contributed. `None` until the
    /// first sync is answered; no report is taken in before that.
    base: Option<SortedMap<IsolateId, u64>>,
    view: Option<View>,
    ended: Ended,
    waiting: Vec<(RequestId, Report)>,
    syncing: bool,
    synced_at: Timestamp,
    news: News,
    /// Whether an isolate reported an event since the last sync.
    reported: bool,
    /// Whether the last sync said that nobody reports and nobody waits.
    told_quiet: bool,
    /// Sent syncs by sequence number, with the last event of each isolate that they include.
    sent: SortedMap<u64, SortedMap<IsolateId, u64>>,
    durable: SortedMap<IsolateId, u64>,
    journal: Pending,
    /// Admissions that are not handed out for the transparency log yet.
    logged: Logged,
}

/// How urgent it is to tell the global aggregator of events that no sync has told it yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum News {
    None,
    /// There are some; they go with the next sync that is due.
    Some,
    /// There are some that must be told at once, in a sync of their own.
    Urgent,
}

/// What this incarnation knows of the sessions that the room's site has ended.
#[derive(Clone, Copy, Debug, Default)]
struct Ended {
    mark: EndedMark,
    /// The moment up to which all ended sessions are known; `None` if none is.
    until: Option<Timestamp>,
    /// Whether the last answer left no further ended sessions to fetch.
    is_whole: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Isolate {
    received: u64,
    /// The number of the isolate's [`CountedFacts`] that were taken in last.
    facts_received: u64,
    seen: Timestamp,
    /// How long the isolate was told to wait until its next report, in milliseconds.
    rests_ms: u64,
}

impl DataCenterAggregator {
    /// Makes an aggregator that starts at `now`.
    ///
    /// `copy` is what an earlier incarnation left. It names the visitors whose moves are counted
    /// already, so that their repeated requests are not counted again. The aggregator works without
    /// it.
    pub fn new(node: Node, copy: Option<&str>, now: Timestamp, incarnation: Incarnation) -> Self {
        Self {
            source: NodeIncarnation { node, incarnation },
            counts: Counts::restore(node, copy, now),
            isolates: SortedMap::new(),
            base: None,
            view: None,
            ended: Ended::default(),
            waiting: Vec::new(),
            syncing: false,
            synced_at: Timestamp::default(),
            news: News::None,
            reported: false,
            told_quiet: true,
            sent: SortedMap::new(),
            durable: SortedMap::new(),
            journal: Pending::default(),
            logged: Logged::default(),
        }
    }

    /// Returns the text to keep in the data center's cache (Cache API), for the next incarnation.
    pub fn copy(&self) -> String {
        self.counts.copy(self.source.node)
    }

    /// Takes in the report of an isolate.
    ///
    /// It is answered in this turn if the view is fresh, and otherwise after the next sync. Events
    /// that were taken in before are skipped, so a report may be repeated. They are taken in after
    /// the next sync, too, while the clock is behind ledger time: only its answer tells that time.
    pub fn on_report(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        id: RequestId,
        mut report: Report,
    ) -> AggregatorTurn {
        let mut turn = AggregatorTurn::default();
        // Also of a report that is not taken in: its isolate need not tell it twice.
        self.journal.add(&std::mem::take(&mut report.journal));
        if is_sync_request(&report) {
            // Whoever asks has not heard the one in flight, unless that is quite new.
            self.syncing &= now.since_ms(self.synced_at) < UNHEARD_MS;
        } else if self.base.is_some() && !self.is_behind(now) {
            self.take_in(now, settings, &report, &mut turn);
        }
        let is_fresh = |view: &View| !view.is_sync_due(now) && view.version >= report.view_version;
        let fresh = self.view.as_ref().is_some_and(is_fresh);
        let knows = report.check.is_empty() || self.ended.is_whole;
        if self.base.is_some() && fresh && knows && !self.is_behind(now) {
            let reply = self.reply(now, &report);
            turn.replies.push((id, reply));
        } else {
            self.waiting.push((id, report));
        }
        self.finish(now, settings, &mut turn);
        turn
    }

    /// Takes in the answer to the sync in flight, and answers the reports that waited for it.
    ///
    /// `None` says that the global aggregator did not answer. Isolates then get the last view, and
    /// the next sync repeats everything.
    pub fn on_synced(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        reply: Option<GlobalReply>,
    ) -> AggregatorTurn {
        let mut turn = AggregatorTurn::default();
        self.syncing = false;
        self.journal.on_answer(reply.is_some());
        let was_hello = self.base.is_none();
        let mut more_follows = false;
        if let Some(GlobalReply::Synced { durable, included, view, ended, used_elsewhere }) = reply
        {
            if self.counts.hear_used_elsewhere(&used_elsewhere) {
                self.news = self.news.max(News::Some);
            }
            if self.counts.hear_revoked(&view.revoked) {
                self.news = self.news.max(News::Some);
            }
            if let Some(page) = ended {
                self.hear_ended(&page, view.made_at);
                more_follows = !page.is_last;
            }
            keep_newer(&mut self.view, view);
            if self.base.is_none() {
                self.durable = included.iter().copied().collect();
                self.base = Some(self.durable.clone());
                if !self.durable.is_empty() {
                    self.counts.note_predecessor();
                }
            }
            self.note_durable(durable);
        } else {
            turn.incidents.push(Incident::AboveSilent);
            self.counts.note_unanswered(now);
            // What the lost sync said is said again: contributions are absolute.
            self.news = self.news.max(News::Some);
        }
        for (id, report) in std::mem::take(&mut self.waiting) {
            if more_follows && !report.check.is_empty() {
                self.waiting.push((id, report));
                continue;
            }
            if self.base.is_some() && !is_sync_request(&report) {
                self.take_in(now, settings, &report, &mut turn);
            }
            let reply = self.reply(now, &report);
            turn.replies.push((id, reply));
        }
        if was_hello && self.is_calm() && self.news == News::Some {
            // Before the object falls asleep again, and forgets what it was told.
            self.news = News::Urgent;
        }
        self.finish(now, settings, &mut turn);
        turn
    }

    /// Returns admissions for the transparency log, to be stored before a sync leaves: a text for
    /// each limits under which there are some. They are handed out once.
    pub fn take_logged(&mut self) -> Vec<String> {
        self.logged.take()
    }

    /// Handles the wake-up that an earlier turn asked for: sends a sync if one is due.
    pub fn on_alarm(&mut self, now: Timestamp, settings: &Settings) -> AggregatorTurn {
        let mut turn = AggregatorTurn::default();
        self.finish(now, settings, &mut turn);
        turn
    }

    /// Returns the number of the isolate's last event that this or an earlier incarnation has taken
    /// in.
    fn received(&self, isolate: IsolateId) -> u64 {
        let base = self.base.as_ref().and_then(|base| base.get(&isolate)).copied();
        let own = self.isolates.get(&isolate).map(|isolate| isolate.received);
        own.max(base).unwrap_or(0)
    }

    fn take_in(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        report: &Report,
        turn: &mut AggregatorTurn,
    ) {
        if !self.isolates.contains_key(&report.isolate) && self.isolates.len() >= ISOLATES_MAX {
            turn.incidents.push(Incident::BoundReached);
            return;
        }
        let received = self.received(report.isolate).max(report.durable);
        let is_calm = self.is_calm();
        // What counts in ledger time must not be counted in the past of a clock that is behind.
        let counted_at = self.view.as_ref().map_or(now, |view| now.max(view.made_at));
        let isolate = self.isolates.get_or_default(report.isolate);
        isolate.seen = now;
        isolate.received = received;
        if let Some(CountedFacts { number, facts }) = &report.counted
            && *number > isolate.facts_received
        {
            isolate.facts_received = *number;
            // No news: they go upward with what goes anyway.
            self.counts.add_facts(now, facts);
        }
        let next = received + 1;
        if report.first > next {
            // An earlier incarnation of this object took in what lies between and lost it: the
            // answer says from where on everything is needed again.
            return;
        }
        for event in report.events.iter().skip((next - report.first) as usize) {
            isolate.received += 1;
            let mut news = self.counts.take_in(counted_at, settings, event);
            if news > News::None {
                self.logged.add(settings, event);
            }
            if is_calm && matches!(event, IsolateEvent::Revoked { .. }) {
                // Ends the calm: others must hear soon whose tickets are void.
                news = News::Urgent;
            }
            self.news = self.news.max(news);
            self.reported = true;
        }
    }

    /// Takes in the ended sessions as known at `now`. Asks for the next page if there is one.
    fn hear_ended(&mut self, page: &EndedPage, now: Timestamp) {
        if self.counts.hear_revoked(&page.visitors) {
            self.news = self.news.max(News::Some);
        }
        self.ended.mark = page.mark;
        self.ended.is_whole = page.is_last;
        if page.is_last {
            self.ended.until = self.ended.until.max(Some(now));
        } else {
            self.news = News::Urgent;
        }
    }

    /// Whether the clock was set back, or is behind ledger time by more than clocks may differ.
    fn is_behind(&self, now: Timestamp) -> bool {
        self.view.as_ref().is_some_and(|view| view.made_at.since_ms(now) > SKEW_MS)
    }

    /// Returns a moment that has passed also by ledger time: a clock that is ahead must not forget
    /// who is still inside.
    fn surely_passed(&self, now: Timestamp) -> Timestamp {
        self.view.as_ref().map_or(now, |view| now.min(view.made_at + SKEW_MS))
    }

    fn is_calm(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.cadence.is_calm())
    }

    fn reply(&mut self, now: Timestamp, report: &Report) -> ReportReply {
        let isolate = report.isolate;
        let report_interval_ms = self.report_ms(now);
        if let Some(known) = self.isolates.get_mut(&isolate) {
            known.rests_ms = report_interval_ms;
        }
        let known = self.isolates.get(&isolate);
        ReportReply {
            incarnation: self.source.incarnation,
            received: if self.base.is_some() { self.received(isolate) } else { 0 },
            durable: self.durable.get(&isolate).copied().unwrap_or(0),
            report_interval_ms,
            view: self.view.clone(),
            revoked: self.counts.revoked_among(&report.events, &report.check),
            ended_until: self.ended.until,
            facts_received: known.map_or(0, |known| known.facts_received),
        }
    }

    /// Returns how long each isolate waits between two reports, in milliseconds.
    fn report_ms(&self, now: Timestamp) -> u64 {
        let live = |isolate: &&Isolate| now.since_ms(isolate.seen) < ISOLATE_MS;
        let isolates = self.isolates.values().filter(live).count() as u64;
        let of_cadence_ms = self.view.as_ref().map_or(REPORT_MS, |view| view.cadence.report_ms());
        (isolates * 1_000 / REPORTS_PER_S).max(of_cadence_ms)
    }

    /// Returns the longest wait that an isolate which may have news was told, in milliseconds.
    fn longest_rest_ms(&self, now: Timestamp) -> u64 {
        let rests = |isolate: &&Isolate| now.since_ms(isolate.seen) < isolate.rests_ms + LATE_MS;
        let rests_ms = self.isolates.values().filter(rests).map(|isolate| isolate.rests_ms);
        rests_ms.max().unwrap_or(0).max(self.report_ms(now))
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

    /// Whether the global aggregator has stored every event taken in. Isolates then keep none.
    fn is_all_durable(&self) -> bool {
        let durable = |isolate| self.durable.get(isolate).copied().unwrap_or(0);
        self.isolates.iter().all(|(isolate, state)| state.received <= durable(isolate))
    }

    /// Ends a turn: syncs if that is due, or asks for a wake-up when it will be.
    fn finish(&mut self, now: Timestamp, settings: &Settings, turn: &mut AggregatorTurn) {
        let sync_ms = self.view.as_ref().map_or(SYNC_MS, |view| view.cadence.sync_ms());
        // A clock that was set back would not reach the old time for as long.
        self.synced_at = self.synced_at.min(now);
        let due_at = self.synced_at + sync_ms;
        if self.syncing {
            return;
        }
        // The last sync before a quiet spell says so, and needs no new event for it.
        let changed = self.news > News::None || !self.told_quiet || !self.is_all_durable();
        let next_at = if changed { Some(due_at) } else { self.tells_end_at(now, due_at) };
        let next_at = earlier(next_at, self.knows_renewals_at(now));
        let next_at = earlier(next_at, self.frees_at(now, settings));
        let next_at = next_at.filter(|next_at| now >= *next_at || !self.is_calm());
        let next_at = earlier(next_at, self.tells_time_at(now));
        if self.has_cause(now) || next_at.is_some_and(|next_at| now >= next_at) {
            turn.send = Some(self.sync(now, settings));
        } else {
            turn.wake_at = next_at;
        }
    }

    /// Returns when a quiet data center tells that an activity bucket has ended, so that its places
    /// are free. `None` in a calm room, which learns of it late.
    fn tells_end_at(&self, now: Timestamp, due_at: Timestamp) -> Option<Timestamp> {
        let at = self.counts.tells_end_at(self.longest_rest_ms(now), 1)?;
        (!self.is_calm()).then_some(at.max(due_at))
    }

    /// Returns when a sync can free the places of an activity bucket that has ended, while people
    /// wait for them. `None` if few leave here at once, and until a new incarnation knows all
    /// renewals.
    fn frees_at(&self, now: Timestamp, settings: &Settings) -> Option<Timestamp> {
        let is_awaited = self.view.as_ref().is_some_and(|view| !view.open) && !self.is_calm();
        let rest_ms = || self.longest_rest_ms(now);
        if !is_awaited || self.counts.knows_renewals_at(rest_ms).is_some() {
            return None;
        }
        let leave = u64::from(settings.total_active_users) * SECOND_MS;
        let many = leave.div_ceil(FREEING_PER_S * settings.session_ms());
        self.counts.tells_end_at(rest_ms(), i64::try_from(many).unwrap_or(i64::MAX).max(1))
    }

    /// Returns when a new incarnation can tell that it knows all renewals. Places whose sessions
    /// have ended meanwhile wait for that. `None` in a calm room, and before the first sync is
    /// answered.
    fn knows_renewals_at(&self, now: Timestamp) -> Option<Timestamp> {
        let is_hurried = self.base.is_some() && !self.is_calm();
        let report_ms = || self.longest_rest_ms(now);
        if is_hurried { self.counts.knows_renewals_at(report_ms) } else { None }
    }

    /// Returns when a sync asks for ledger time. `None` if no report waits for that.
    fn tells_time_at(&self, now: Timestamp) -> Option<Timestamp> {
        let waits = self.is_behind(now) && !self.waiting.is_empty();
        waits.then_some(self.synced_at + BEHIND_MS)
    }

    /// Whether a sync is needed at once: a report waits for its answer, and not only for ledger
    /// time, or an event is urgent.
    fn has_cause(&self, now: Timestamp) -> bool {
        let is_urgent = |(_, report): &(_, Report)| !self.is_behind(now) || is_sync_request(report);
        self.news == News::Urgent || self.waiting.iter().any(is_urgent)
    }

    fn sync(&mut self, now: Timestamp, settings: &Settings) -> Sync {
        let hello = self.base.is_none();
        let passed = self.surely_passed(now);
        self.counts.prune(passed, settings);
        self.isolates.retain(|_, isolate| passed.since_ms(isolate.seen) < 10 * ISOLATE_MS);
        let included: SortedMap<IsolateId, u64> =
            self.isolates.iter().map(|(isolate, state)| (*isolate, state.received)).collect();
        let quiet = !self.reported;
        let report_ms = self.longest_rest_ms(now);
        let contribution = self.counts.contribution(now, included.clone(), quiet, report_ms);
        let contribution = Contribution { tells_ends: !self.is_calm(), ..contribution };
        self.told_quiet = contribution.quiet;
        self.sent.insert(contribution.seq, included);
        while self.sent.len() > SYNCS_MAX {
            self.sent.take_first();
        }
        self.syncing = true;
        self.synced_at = now;
        (self.news, self.reported) = (News::None, false);
        let ended = settings.sessions_end_early.then_some(self.ended.mark);
        let journal = self.journal.for_message();
        Sync { source: self.source, contribution, hello, ended, journal }
    }
}

#[cfg(test)]
mod tests;
