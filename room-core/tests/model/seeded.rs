//! The planted bugs: what the shells do wrong, on purpose, to see that the search finds it. The
//! machines are those of production, untouched.

use room_core::base::id::{IsolateId, VisitorId};
use room_core::capacity::slots::{LEASE_MS, SlotEnd};
use room_core::machines::wire::{CounterReply, CounterRequest, GlobalReply, IsolateEvent, Report};

use crate::room::Bug;
use crate::world::World;

/// How much longer a lease is said to last, in milliseconds.
const LATE_MS: u64 = 5_000;
/// The isolate and the visitor in whose names a move is reported once more.
const NOBODY: u64 = 99;

impl World {
    pub fn planted_lease(&self, reply: GlobalReply) -> GlobalReply {
        match reply {
            GlobalReply::Pulled { mut new, mut queued, extended, view, rest_ms }
                if self.room.bug == Some(Bug::LeaseEndsLate) =>
            {
                for slots in [&mut new, &mut queued].into_iter().flatten() {
                    slots.until = slots.until + LATE_MS;
                }
                GlobalReply::Pulled { new, queued, extended, view, rest_ms }
            }
            reply => reply,
        }
    }

    pub fn planted_repeat(&self, request: &CounterRequest) -> Option<CounterReply> {
        let CounterRequest::Take(take) = request else { return None };
        let given = self.truth.given.iter().find(|(admission, _)| *admission == take.admission);
        let given = given.filter(|_| self.room.bug == Some(Bug::RepeatWithoutRateSlot));
        let CounterReply::Granted { grant, class, granted_at, end, view, shard, shared, .. } =
            given.map(|(_, reply)| reply.clone())?
        else {
            return None;
        };
        // As long a lease as at first, and the second of the first one.
        let until = take.sent_at.unwrap_or_default() + LEASE_MS;
        let end = end.map(|end| SlotEnd { until, ..end });
        Some(CounterReply::Granted {
            grant,
            class,
            granted_at,
            end,
            batch: None,
            view,
            shard,
            shared,
        })
    }

    pub fn planted_report(&self, report: &Report) -> Option<Report> {
        let (visitor, bug) = (VisitorId(NOBODY), self.room.bug);
        let again = report.events.iter().filter_map(|event| match *event {
            IsolateEvent::Moved { from, to, counted_by, .. } => {
                let is_planted = bug == Some(Bug::RenewalCountedTwice);
                is_planted.then_some(IsolateEvent::Moved { visitor, from, to, counted_by })
            }
            IsolateEvent::Revoked { from, .. } => {
                let is_planted = bug == Some(Bug::EndCountedTwice);
                is_planted.then_some(IsolateEvent::Revoked { visitor, from })
            }
            _ => None,
        });
        let events: Vec<_> = again.collect();
        let isolate = IsolateId(NOBODY);
        (!events.is_empty()).then_some(Report {
            isolate,
            first: 1,
            durable: 0,
            events,
            view_version: 0,
            check: Vec::new(),
            counted: None,
            journal: String::new(),
        })
    }
}
