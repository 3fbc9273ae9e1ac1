//! What the global aggregator reports of its state: views to data centers, a status to operators, a
//! measurement to the history, and why places stand empty to the simulator. It also confirms to
//! isolates that it holds what they could not report.

use super::{GlobalAggregator, GlobalTurn, VERSIONS_PER_MS};
use crate::base::sorted::SortedMap;
use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use crate::capacity::state::NodeIncarnation;
use crate::machines::history::{Row, Sight};
use crate::machines::turn::RequestId;
use crate::machines::wire::{EndedMark, EndedPage, GlobalReply, Hold, Status};
use crate::order::order_key::OrderKey;
use crate::queue::view::{Joined, View};
use crate::room::settings::Settings;

/// The most seconds since the census for which a view lists the newcomers of each second. They take
/// about 20 bytes each, and a view goes to every data center. A census is 4 to 13 s old.
const SECONDS_TOLD_MAX: u64 = 30;

/// What takes one of the two limits of a room at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// All that takes it: visitors, slots that are out, and all below.
    pub all: u64,
    /// Ended sessions that may have been renewed without a report yet. 0 in the limit per minute.
    pub may_renew: u64,
    /// Slots that were written off.
    pub written_off: u64,
}

impl GlobalAggregator {
    /// Returns what takes the places at `now`, and what takes the slots of a minute.
    pub fn taken(&self, now: Timestamp, settings: &Settings) -> (Taken, Taken) {
        let ledger = self.books.ledger();
        let places = Taken {
            all: self.books.taken(now, settings),
            may_renew: self.books.may_renew(now, settings),
            written_off: ledger.written_off_slots(now),
        };
        let rate = Taken {
            all: self.books.granted_in_rate_window(now),
            may_renew: 0,
            written_off: ledger.written_off_in_rate(now),
        };
        (places, rate)
    }

    /// Returns how many slots are granted and neither reported used, nor returned, nor written off.
    pub fn outstanding(&self) -> u64 {
        self.books.ledger().outstanding()
    }

    /// Holds the places of visitors whose renewals an isolate could not report. The answer confirms
    /// that this is stored, so that the isolate need not repeat it. Without an answer it could not
    /// be held.
    pub(super) fn on_hold(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        id: RequestId,
        hold: &Hold,
    ) -> GlobalTurn {
        let mut turn = GlobalTurn::default();
        let changed = self.books.hold(now, hold);
        let is_new = changed == Some(true);
        self.saves.note(is_new);
        let moved = self.tick(now, settings, &mut turn);
        self.finish(now, settings, moved || is_new, &mut turn);
        if changed.is_some() {
            turn.replies.push((id, GlobalReply::Held { through: hold.through }));
        }
        turn
    }

    /// Returns a new view at `now`: the copy of the room's state by which isolates decide without a
    /// call. Its version is higher than that of any view before.
    pub fn view(&mut self, now: Timestamp, settings: &Settings) -> View {
        // Time, so that versions go up across restarts without a write for each; finer than
        // milliseconds, because many views are made in one.
        self.version = (self.version + 1).max(now.0 * VERSIONS_PER_MS);
        let entered = self.books.ledger().queued_since(self.queue.reported().middle());
        View {
            version: self.version,
            made_at: now,
            threshold: self.queue.threshold(),
            called_before: self.queue.called().before,
            open: self.queue.is_open(),
            held: settings.admits_nobody(),
            names_until: self.burst.names_until(&self.queue),
            line: self.queue.curve_without(entered),
            joined: self.joined(now, entered),
            joined_by_second: self.joined_by_second(now, entered),
            leaves_at_once_per_1000: if self.queue.is_open() {
                0
            } else {
                self.forecast_cache.leaves_at_once_per_1000()
            },
            closed_at: self.queue.closed_at(),
            next_place_s: self.books.next_place_s(now, settings),
            admissions_per_1000_minutes: self.books.admissions_per_1000_minutes(now),
            entered_last_minute: Some(
                self.books.contributions().entered_since(now - MINUTE_MS, now),
            ),
            forecast: self.forecast_cache.curve(now, settings, &self.queue, &self.books),
            revoked: self.books.contributions().last_revoked(),
            revoked_since: Some(self.books.contributions().revoked_since()),
            cadence: self.calm.cadence(),
            journal: self.journal.levels(),
        }
    }

    /// Returns the answer to a sync. To a first one (`hello`) it says what is included of earlier
    /// incarnations.
    pub(super) fn synced(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        source: NodeIncarnation,
        hello: bool,
        mark: Option<EndedMark>,
    ) -> GlobalReply {
        let contributions = self.books.contributions();
        let used_elsewhere = contributions.used_elsewhere(now, source);
        let included = if hello { contributions.included(source.node) } else { SortedMap::new() };
        GlobalReply::Synced {
            durable: self.saves.durable(source),
            included: included.into_iter().collect(),
            view: self.view(now, settings),
            ended: mark.map(|mark| self.ended_page(mark)),
            used_elsewhere,
        }
    }

    /// Returns ended sessions that a data center does not know. It begins anew if another
    /// incarnation numbered those that it knows.
    fn ended_page(&self, mark: EndedMark) -> EndedPage {
        let by = self.incarnation;
        let known = if mark.by == by { mark.number } else { 0 };
        let (visitors, number, is_last) = self.books.contributions().ended_after(known);
        EndedPage { mark: EndedMark { by, number }, is_last, visitors }
    }

    /// Returns the room's status for operators: visitors inside and waiting, and the seconds until
    /// the next and the last of them enter.
    pub fn status(&self, now: Timestamp, settings: &Settings) -> Status {
        // The census is some seconds old: who came and who went since then is known as well.
        let line = self.queue.waiting() + self.joined_since_census();
        let waiting = line.saturating_sub(self.called_in_since_census(now));
        let next_place_s = self.books.next_place_s(now, settings);
        let rate = self.books.admissions_per_1000_minutes(now);
        let before_last = waiting.saturating_sub(1);
        let line_s = before_last.saturating_mul(60_000).checked_div(rate);
        let by_rate = next_place_s.zip(line_s).map(|(next, line)| u64::from(next) + line);
        let longest = self.forecast_cache.wait_s(before_last).map(u64::from).or(by_rate);
        Status {
            open: self.queue.is_open(),
            active: self.counted(now, settings),
            waiting,
            longest_wait_s: longest.and_then(|seconds| u32::try_from(seconds).ok()),
            next_admission_s: next_place_s.filter(|_| waiting > 0),
            silent: self.books.contributions().silent(self.calm.until(now), now),
        }
    }

    /// Returns the rows of the history that are not in the storage yet, in the order of time.
    pub fn open_minutes(&mut self, now: Timestamp) -> Vec<Row> {
        self.history.open_rows(now, self.books.contributions())
    }

    /// Notes a measurement of the room, unless the last one is too recent.
    pub(super) fn look(&mut self, now: Timestamp, settings: &Settings) {
        if self.history.is_due(now) {
            let sight = self.sight(now, settings);
            self.history.look(now, sight, self.books.contributions());
        }
    }

    /// Returns a measurement of the room at `now`, for the history.
    fn sight(&self, now: Timestamp, settings: &Settings) -> Sight {
        let Status { active, waiting, longest_wait_s, .. } = self.status(now, settings);
        let told_wait_s = longest_wait_s.filter(|_| waiting > 0).unwrap_or(0);
        Sight {
            active,
            active_limit: settings.total_active_users.into(),
            waiting,
            told_wait_s: (!settings.admits_nobody()).then_some(told_wait_s.into()),
            new_limit: settings.new_users_per_minute.into(),
        }
    }

    /// Returns how many visitors joined since the census and are not in it.
    ///
    /// Joins are counted by the second, and the census is of the middle of a second. A visitor who
    /// came in the half before it is in both. Keys tell them apart where they are times of joining.
    fn joined_since_census(&self) -> u64 {
        let (contributions, epoch) = (self.books.contributions(), self.queue.reported());
        let before = |moment: Timestamp| self.queue.waiting_up_to(OrderKey::fifo(moment - 1));
        let in_census = before(epoch.end()).saturating_sub(before(epoch.start()));
        let others = contributions.joined_since(epoch.start()).saturating_sub(in_census);
        let later = contributions.joined_since(epoch.middle() + SECOND_MS);
        others.max(later).min(contributions.joined_since(epoch.middle()))
    }

    /// Returns how many visitors of the line have entered since the census, by the reports so far.
    /// Granted slots are a worse measure: some are granted before they are needed.
    fn called_in_since_census(&self, now: Timestamp) -> u64 {
        let (contributions, from) = (self.books.contributions(), self.queue.reported().middle());
        contributions.entered_since(from, now).saturating_sub(contributions.admitted_since(from))
    }

    /// Returns the visitors who joined since the census. Of all who `entered` since, those beyond
    /// the census were among them and are left out.
    fn joined(&self, now: Timestamp, entered: u64) -> Joined {
        let contributions = self.books.contributions();
        let from = self.queue.reported().middle().max(self.queue.closed_at());
        // Joins are counted by the second.
        let until = Timestamp::from_seconds(contributions.joins_told_until(now).seconds());
        let joined = contributions.joined_since(from);
        let count = joined.saturating_sub(contributions.joined_since(until));
        let beyond_census = entered.saturating_sub(self.queue.waiting());
        Joined { from, until, count: count.saturating_sub(beyond_census) }
    }

    /// Returns those visitors by the second in which they joined. None if the census is so old that
    /// there are more than [`SECONDS_TOLD_MAX`] seconds.
    fn joined_by_second(&self, now: Timestamp, entered: u64) -> Vec<(u64, u64)> {
        let contributions = self.books.contributions();
        let census_at = self.queue.reported().middle();
        let (from, until) = (census_at.seconds(), contributions.joins_told_until(now).seconds());
        if until.saturating_sub(from) > SECONDS_TOLD_MAX {
            return Vec::new();
        }
        let mut beyond_census = entered.saturating_sub(self.queue.waiting());
        let mut joined = Vec::new();
        for second in from..until {
            let all = contributions.joined_in(second);
            // The census is of the middle of a second: whoever came before is in it.
            let later = if second == from {
                let up_to = |second| {
                    self.queue.waiting_up_to(OrderKey(
                        Timestamp::from_seconds(second).0.saturating_sub(1),
                    ))
                };
                all.saturating_sub(up_to(second + 1).saturating_sub(up_to(second)))
            } else {
                all
            };
            let entered_of_them = beyond_census.min(later);
            beyond_census -= entered_of_them;
            if later > entered_of_them {
                joined.push((second, later - entered_of_them));
            }
        }
        joined
    }
}
