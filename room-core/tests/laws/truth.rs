//! What really happened, seen from outside, and the laws that each moment must keep.

use std::collections::{BTreeMap, BTreeSet};

use room_checker::limits::Limits;
use room_checker::promises::{Booked, Broken, Grant, Promises};
use room_core::admission::Ask;
use room_core::base::id::{AdmissionId, VisitorId};
use room_core::base::time::Timestamp;
use room_core::capacity::slots::{GrantId, SlotClass};
use room_core::machines::isolate::Outcome;
use room_core::machines::wire::{CounterReply, CounterRequest, GlobalReply};
use room_core::order::lottery::Round;
use room_core::order::order_key::OrderKey;
use room_core::queue::view::View;
use room_core::room::settings::Settings;
use room_core::ticket::bucket::Bucket;
use room_core::ticket::{NO_ESTIMATE, Ticket, TicketState};

/// The admissions, grants and views of one room.
#[derive(Debug)]
pub struct Truth {
    settings: Settings,
    limits: Limits,
    /// The most who entered within 60 s beyond R.
    over_rate: u64,
    /// False where visitors renew: their reports can die with an isolate, and then more are
    /// inside than the books say, which is measured and not forbidden.
    pub is_strict: bool,
    /// Bucket of each visitor who was ever admitted.
    inside: BTreeMap<VisitorId, Bucket>,
    /// Whose sessions the origin has ended.
    revoked: BTreeSet<VisitorId>,
    /// When the visitor admitted last had joined.
    joined_last: Timestamp,
    /// How many of those who entered had been told a wait.
    pub told: u64,
    /// When each visitor entered, in true time.
    entered: Vec<Timestamp>,
    promises: Promises,
    /// By which keys slots were asked for: others after a change of the method.
    asked: BTreeMap<AdmissionId, BTreeSet<OrderKey>>,
    views: Vec<View>,
}

impl Truth {
    pub fn new(now: Timestamp, settings: &Settings) -> Self {
        Self {
            settings: settings.clone(),
            limits: Limits::new(now, settings),
            over_rate: 0,
            is_strict: settings.disable_session_renewal,
            inside: BTreeMap::new(),
            revoked: BTreeSet::new(),
            joined_last: Timestamp::default(),
            told: 0,
            entered: Vec::new(),
            promises: Promises::default(),
            asked: BTreeMap::new(),
            views: Vec::new(),
        }
    }

    /// From now on these settings count.
    pub fn change(&mut self, now: Timestamp, settings: &Settings) {
        let live = self.live(now);
        // Any room of these tests may be calm.
        self.limits.see(now, 0.0, &self.settings);
        self.limits.change(now, settings, live);
        self.settings = settings.clone();
        self.is_strict &= settings.disable_session_renewal;
    }

    /// A visitor was let in, for the first time or with a renewed session.
    pub fn admit(&mut self, now: Timestamp, ticket: &Ticket, grant: Option<GrantId>) {
        assert_eq!(ticket.state, TicketState::Accepted);
        let visitor = ticket.id.visitor();
        if self.revoked.contains(&visitor) {
            // The answer to a request of before the session ended: its ticket is void already.
            return;
        }
        let bucket = ticket.counted_bucket;
        let before = self.inside.insert(visitor, bucket);
        if let Some(before) = before {
            self.inside.insert(visitor, before.max(bucket));
            return;
        }
        self.joined_last = ticket.joined_at;
        self.entered.push(now);
        self.told += u64::from(ticket.first_told_s().is_some());
        self.over_rate = self.over_rate.max(self.limits.enter(now, now));
        keep(&grant.map_or(Ok(()), |grant| self.promises.enter(now, grant)));
    }

    /// The origin ended a session: its visitor is gone.
    pub fn revoke(&mut self, ticket: &Ticket) {
        let visitor = ticket.id.visitor();
        self.revoked.insert(visitor);
        self.inside.insert(visitor, Bucket(0));
    }

    pub fn has_ended(&self, ticket: &Ticket) -> bool {
        self.revoked.contains(&ticket.id.visitor())
    }

    pub fn admitted(&self) -> usize {
        self.inside.len()
    }

    pub fn joined_last(&self) -> Timestamp {
        self.joined_last
    }

    /// Admissions that count against R at `now`, in whole seconds as the books do.
    pub fn in_last_minute(&self, now: Timestamp) -> usize {
        let first_s = now.seconds() - 60;
        self.entered.iter().filter(|at| at.seconds() >= first_s).count()
    }

    /// Visitors whose buckets are live: what the books should say.
    pub fn live(&self, now: Timestamp) -> u64 {
        self.inside.values().filter(|bucket| bucket.is_live(now)).count() as u64
    }

    /// I1 from outside: never more inside than N, whatever was lost.
    pub fn check_inside(&mut self, now: Timestamp) {
        let live = self.live(now);
        let over = self.limits.over(now, live);
        assert!(!self.is_strict || over == 0, "I1: {live} inside at {now}, {over} too many");
    }

    /// When the last visitor entered.
    pub fn last_entry(&self) -> Option<Timestamp> {
        self.entered.last().copied()
    }

    /// I1 from outside: never more than R in any 60 s of true time.
    pub fn check_rate(&self) {
        assert_eq!(self.over_rate, 0, "I1: admissions beyond R within 60 s");
    }

    /// What the global aggregator said at a true time and by its own clock, with its books right
    /// after.
    pub fn check_said(
        &mut self,
        times: (Timestamp, Timestamp),
        reply: &GlobalReply,
        booked: Booked,
    ) {
        keep(&self.promises.hear(times, reply, booked, &self.settings));
        if let GlobalReply::Pulled { view, .. } | GlobalReply::Synced { view, .. } = reply {
            self.views.push(view.clone());
        }
    }

    /// What anybody who asks would be shown.
    pub fn check_view(&mut self, now: Timestamp, view: View) {
        keep(&self.promises.see(now, &view, &self.settings));
        self.views.push(view);
    }

    /// A write failed: the room may have opened, and nobody was told.
    pub fn lose_view(&mut self) {
        self.promises.lose_view();
    }

    /// What leaves a counter at a true time and by its own clock.
    pub fn check_handed_out(&self, times: (Timestamp, Timestamp), reply: &CounterReply) {
        keep(&self.promises.hand_out(times, reply));
    }

    /// I12: who waits is told at most a tenth more than at the check-in before, whatever happened.
    pub fn check_told(before: Option<&Ticket>, outcome: &Outcome) {
        let (Some(before), Outcome::Wait { ticket, .. }) = (before, outcome) else { return };
        let [shown, now] = [before, ticket].map(|ticket| u64::from(ticket.shown_estimate_s));
        let is_told = shown.max(now) < u64::from(NO_ESTIMATE) && ticket.id == before.id;
        assert!(!is_told || 10 * now <= 11 * shown, "I12: {now} s after {shown} s");
    }

    /// I4: a called visitor at the head of a slow room's line is refused only where no slot is
    /// free. The `first` asked, and `available` slots were free after that.
    pub fn check_refused(&self, first: Option<&OrderKey>, available: u64) {
        let Some((view, key)) = self.views.last().zip(first) else { return };
        let at = view.line.partition_point(|(point, _)| point < key);
        let nobody_left = || view.line.last().is_none_or(|(_, all)| *all == 0);
        // The view of a long line leaves keys out: nobody else may stand up to this one.
        let is_first = view.line.get(at).map_or_else(nobody_left, |(_, ahead)| *ahead <= 1);
        // A lottery keeps slots for those called in the round before.
        let is_called = !view.open && view.called().calls(*key) && Round::of(*key).is_none();
        assert!(
            !(is_called && is_first) || available == 0 || self.settings.admits_nobody(),
            "I4: {key:?} was refused, {available} slots are free"
        );
    }

    /// Notes by which key a counter is asked.
    pub fn note_asked(&mut self, request: &CounterRequest) {
        if let CounterRequest::Take(take) = request {
            self.asked.entry(take.admission).or_default().insert(take.key);
        }
    }

    /// I4: a waiting visitor enters only if some view since the grant was made has called it. The
    /// slot may have been given by the order of before, with an answer that was lost.
    pub fn check_called(&self, ask: &Ask, grant: Option<GrantId>) {
        let grant = grant.and_then(|grant| self.promises.grant(grant));
        // Whoever asked as a newcomer, and did not hear the answer, has that slot.
        let waited = |grant: &&Grant| [ask.class, grant.class] == [SlotClass::Queued; 2];
        let Some(grant) = grant.filter(waited) else { return };
        let keys = self.asked.get(&ask.ticket.id.admission());
        let since = self.views.partition_point(|view| view.version < grant.view_version);
        let is_called =
            |view: &View| keys.into_iter().flatten().any(|key| view.called().calls(*key));
        let calls = |view: &View| view.open || is_called(view);
        assert!(self.views[since..].iter().any(calls), "I4: {:?} was not called", ask.key);
    }
}

/// A broken law fails the test.
fn keep(law: &Result<(), Broken>) {
    assert_eq!(*law, Ok(()));
}
