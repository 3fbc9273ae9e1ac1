//! What really happened, seen from outside, and the laws that each moment must keep.

use std::collections::{BTreeMap, BTreeSet};

use room_core::admission::Ask;
use room_core::base::id::{AdmissionId, VisitorId};
use room_core::base::time::{MINUTE_MS, Timestamp};
use room_core::capacity::slots::{ANSWER_MS, GrantId, LEASE_MS, SlotClass};
use room_core::machines::isolate::Outcome;
use room_core::machines::wire::{CounterReply, CounterRequest, GlobalReply};
use room_core::order::lottery::Round;
use room_core::order::order_key::OrderKey;
use room_core::queue::view::View;
use room_core::room::settings::Settings;
use room_core::ticket::bucket::Bucket;
use room_core::ticket::{NO_ESTIMATE, Ticket, TicketState};

use crate::flight::slots_in;

#[derive(Clone, Copy, Debug)]
struct Grant {
    class: SlotClass,
    /// Its end by the clock of its counter.
    until: Timestamp,
    /// The true time from which on nobody may enter with it.
    ends_at: Timestamp,
    view_version: u64,
}

/// What the books say right after an answer.
#[derive(Clone, Copy, Debug)]
pub struct Booked {
    pub places: u64,
    pub in_rate: u64,
    pub is_learning: bool,
}

/// Longer than anybody stays who is inside or has a slot at one moment: a lease, the widest bucket
/// and the longest session of these tests, 3 minutes.
const LONGEST_STAY_MS: u64 = 6 * MINUTE_MS;

/// The admissions, grants and views of one room.
#[derive(Debug, Default)]
pub struct Truth {
    places: u64,
    per_minute: usize,
    /// The highest R there was.
    most_per_minute: usize,
    /// True while nobody new may enter.
    holds: bool,
    /// How many the settings before these may have let in, and until when they may be inside.
    carried: (u64, Timestamp),
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
    grants: BTreeMap<GrantId, Grant>,
    /// By which keys slots were asked for: others after a change of the method.
    asked: BTreeMap<AdmissionId, BTreeSet<OrderKey>>,
    views: Vec<View>,
    /// True while the room may have been open since the last view.
    unheard: bool,
}

impl Truth {
    pub fn new(settings: &Settings) -> Self {
        let mut truth = Self { is_strict: true, ..Self::default() };
        truth.obey(settings);
        truth
    }

    fn obey(&mut self, settings: &Settings) {
        self.places = u64::from(settings.total_active_users);
        self.per_minute = settings.new_users_per_minute as usize;
        if settings.admits_everybody() {
            (self.places, self.per_minute) = (u64::MAX, usize::MAX);
        }
        self.most_per_minute = self.most_per_minute.max(self.per_minute);
        self.holds = settings.admits_nobody();
        self.is_strict &= settings.disable_session_renewal;
    }

    /// From now on these settings count; `booked` are inside or may enter by what was granted.
    pub fn change(&mut self, now: Timestamp, settings: &Settings, booked: u64) {
        let carried = booked.max(self.live(now)).max(self.places);
        self.carried = (carried, now + LONGEST_STAY_MS);
        self.obey(settings);
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
        let ends_at = grant.and_then(|grant| self.grants.get(&grant)).map(|grant| grant.ends_at);
        assert!(ends_at.is_none_or(|at| now < at), "I5: entered at {now}, {ends_at:?}");
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
    pub fn check_inside(&self, now: Timestamp) {
        let live = self.live(now);
        let (carried, until) = self.carried;
        let most = if now < until { self.places.max(carried) } else { self.places };
        assert!(!self.is_strict || live <= most, "I1: {live} inside at {now}");
    }

    /// When the last visitor entered.
    pub fn last_entry(&self) -> Option<Timestamp> {
        self.entered.last().copied()
    }

    /// I1 from outside: never more than R in any 60 s of true time.
    pub fn check_rate(&self) {
        for (index, last) in self.entered.iter().enumerate().skip(self.most_per_minute) {
            let first = self.entered[index - self.most_per_minute];
            let span_ms = last.since_ms(first);
            assert!(span_ms >= MINUTE_MS, "I1: R + 1 admissions within {span_ms} ms");
        }
    }

    /// What the global aggregator said at a true time and by its own clock, with its books right
    /// after.
    pub fn check_said(
        &mut self,
        at: Timestamp,
        now: Timestamp,
        reply: &GlobalReply,
        booked: Booked,
    ) {
        let view = match reply {
            GlobalReply::Pulled { view, .. } | GlobalReply::Synced { view, .. } => view,
            GlobalReply::Held { .. }
            | GlobalReply::Status(_)
            | GlobalReply::History(_)
            | GlobalReply::Journal(_)
            | GlobalReply::Move(_)
            | GlobalReply::Webhooks(_) => return,
        };
        self.check_view(now, view);
        if let GlobalReply::Pulled { extended, .. } = reply {
            for (grant, _) in extended {
                if let Some(grant) = self.grants.get_mut(grant) {
                    grant.ends_at = grant.ends_at.max(at + LEASE_MS + ANSWER_MS);
                }
            }
        }
        for (class, slots) in slots_in(reply) {
            if let Some(before) = self.grants.get(&slots.grant) {
                // The answer to a pull that came again: nothing new is granted.
                assert_eq!((before.class, before.until), (class, slots.until), "{slots:?}");
                continue;
            }
            let Booked { places, in_rate, is_learning } = booked;
            assert!(places <= self.places, "I1: {places} places after a grant");
            assert!(in_rate <= self.per_minute as u64, "I1: {in_rate} in the rate after a grant");
            assert!(!is_learning, "I13: a grant while learning");
            assert!(!self.holds, "a grant while everybody new is held");
            // From the grant of a slot to the last moment at which anybody may enter with it.
            let is_new = class == SlotClass::New;
            let lease_ms = if is_new { view.cadence.lease_ms() } else { LEASE_MS };
            let ends_at = at + lease_ms + ANSWER_MS;
            let (until, view_version) = (slots.until, view.version);
            self.grants.insert(slots.grant, Grant { class, until, ends_at, view_version });
        }
    }

    /// I3: `T` never goes back, and while closed never calls an epoch that is not reported, but for
    /// the second after a burst closed the room.
    pub fn check_view(&mut self, now: Timestamp, view: &View) {
        if let Some(before) = self.views.last() {
            assert!(view.version > before.version, "I3: view {} again", view.version);
            // Another order begins where it was left.
            let is_same_order =
                Round::of(view.threshold).is_some() == Round::of(before.threshold).is_some();
            assert!(!is_same_order || view.threshold >= before.threshold, "I3: T went back");
            // One turn may open the room and close it again.
            let is_same_line = is_same_order && before.closed_at == view.closed_at;
            let stayed_closed = is_same_line && !before.open && !view.open && !self.unheard;
            if stayed_closed && view.threshold > before.threshold {
                let callable = before.names_until.max(now - 8_000);
                let round = Round::of(view.threshold);
                let last = round.map_or(OrderKey::fifo(callable), |round| round.late(callable));
                let passed = view.threshold >= last;
                assert!(!passed, "I3: T passed the reported epoch");
            }
        }
        self.views.push(view.clone());
        self.unheard = false;
    }

    /// A write failed: the room may have opened, and nobody was told.
    pub fn lose_view(&mut self) {
        self.unheard = true;
    }

    /// I5: no slot leaves a counter at or after the end of its lease.
    pub fn check_handed_out(&self, now: Timestamp, reply: &CounterReply) {
        if let CounterReply::Granted { grant, granted_at, batch, .. } = reply {
            let until = self.grants.get(grant).map_or(Timestamp(0), |grant| grant.until);
            assert!(*granted_at < until, "I5: handed out at {granted_at}, until {until}");
            assert!(batch.is_none() || now < until, "I5: a batch at {now}, until {until}");
        }
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
            !(is_called && is_first) || available == 0 || self.holds,
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
        let grant = grant.and_then(|grant| self.grants.get(&grant));
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
