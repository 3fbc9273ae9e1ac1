//! Old code beside new: what runs the version before, and the messages between it and the present
//! one. It decides nothing.
//!
//! The machines are those of the present version. What the version before cannot say is removed
//! from messages to it and from it: each field that it does not know, and unknown messages.

use room_core::base::id::CheckInId;
use room_core::base::sorted::SortedMap;
use room_core::capacity::cadence::Cadence;
use room_core::capacity::state::Contribution;
use room_core::machines::wire::{
    Admission, CounterReply, CounterRequest, GlobalReply, GlobalRequest, IsolateEvent, Pull,
    Report, ReportReply, SlotRequest, Sync,
};
use room_core::order::census::Presence;
use room_core::queue::levels::Levels;
use room_core::queue::view::View;

use super::address::{Place, data_center_of};
use super::network::{Caller, Question, Reply};
use crate::scenario::Code;

/// What runs the version before.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    global: bool,
    /// Every how many data centers whose objects run it.
    objects: Option<usize>,
    /// Every how many data centers whose isolates run it.
    isolates: Option<usize>,
}

impl Versions {
    /// Sets whether this runs the version before or the present one.
    pub(crate) fn replace(&mut self, of: Code, is_before: bool) {
        let every = |every: usize| is_before.then_some(every);
        match of {
            Code::Global => self.global = is_before,
            Code::DataCenters(one_of) => self.objects = every(one_of),
            Code::Isolates(one_of) => self.isolates = every(one_of),
        }
    }

    /// Whether this isolate can tell the global aggregator what it could not report.
    pub(crate) fn knows_holds(&self, place: Place) -> bool {
        !self.global && !is_one_of(self.isolates, place.data_center)
    }

    /// Returns what arrives of a question; `None` if either side does not know it.
    pub(crate) fn question(&self, caller: &Caller, question: Question) -> Option<Question> {
        if self.global && matches!(caller, Caller::Global(_)) {
            return None;
        }
        if !self.is_old(caller) {
            return Some(question);
        }
        Some(match question {
            Question::Counter(counter, request) => {
                Question::Counter(counter, counter_request(request))
            }
            Question::Aggregator(data_center, asked) => {
                Question::Aggregator(data_center, report(asked))
            }
            Question::Global(request) => Question::Global(global_request(request)?),
        })
    }

    /// Returns what arrives of an answer.
    pub(crate) fn reply(&self, caller: &Caller, reply: Reply) -> Reply {
        if !self.is_old(caller) {
            return reply;
        }
        match reply {
            Reply::Counter(reply) => Reply::Counter(counter_reply(reply)),
            Reply::Aggregator(reply) => Reply::Aggregator(report_reply(reply)),
            Reply::Global(reply) => Reply::Global(global_reply(reply)),
        }
    }

    /// Whether the caller or the called object runs the version before.
    fn is_old(&self, caller: &Caller) -> bool {
        let isolate = |place: Place| is_one_of(self.isolates, place.data_center);
        let objects = |data_center: usize| is_one_of(self.objects, data_center);
        match caller {
            Caller::Visit(visit) => {
                let asked = data_center_of(visit.question.call.counter.colo);
                isolate(visit.asking.place) || objects(asked)
            }
            Caller::Check(check) => {
                let Place { data_center, .. } = check.asking.place;
                isolate(check.asking.place) || objects(data_center)
            }
            Caller::Work(shift) | Caller::Return(shift) => {
                isolate(shift.place) || objects(shift.place.data_center)
            }
            Caller::Hold(shift, _) => isolate(shift.place) || self.global,
            Caller::Counter { counter, .. } => objects(counter.data_center as usize) || self.global,
            Caller::Aggregator { data_center, .. } | Caller::Global(data_center) => {
                objects(*data_center) || self.global
            }
        }
    }
}

fn is_one_of(every: Option<usize>, data_center: usize) -> bool {
    every.is_some_and(|every| data_center.is_multiple_of(every))
}

fn counter_request(request: CounterRequest) -> CounterRequest {
    match request {
        CounterRequest::Take(take) => {
            CounterRequest::Take(SlotRequest { spent: 0, demand_per_1000_s: 0, behind: 0, ..take })
        }
        CounterRequest::Return { .. } => request,
    }
}

fn report(report: Report) -> Report {
    let events = report.events.into_iter().map(event).collect();
    Report {
        events,
        view_version: 0,
        check: Vec::new(),
        counted: None,
        journal: String::new(),
        ..report
    }
}

fn event(event: IsolateEvent) -> IsolateEvent {
    match event {
        IsolateEvent::Admitted(Admission { visitor, bucket, second, class, grant, .. }) => {
            let known = Admission::new(visitor, bucket, second, class);
            IsolateEvent::Admitted(Admission { grant, ..known })
        }
        IsolateEvent::Present(presence) => {
            // Its last bits are those of no visitor.
            let check_in = CheckInId(presence.check_in.0.rotate_left(16));
            IsolateEvent::Present(Presence { check_in, kept_ms: 0, was_kept_ms: None, ..presence })
        }
        IsolateEvent::Moved { .. } | IsolateEvent::Revoked { .. } => event,
    }
}

fn global_request(request: GlobalRequest) -> Option<GlobalRequest> {
    match request {
        GlobalRequest::Sync(sync) => {
            let sync = *sync;
            let contribution = Contribution {
                entered_early: SortedMap::new(),
                away: SortedMap::new(),
                named: SortedMap::new(),
                facts: SortedMap::new(),
                tells_ends: false,
                ..sync.contribution
            };
            let journal = String::new();
            let sync = Sync { contribution, ended: None, journal, ..sync };
            Some(GlobalRequest::Sync(Box::new(sync)))
        }
        GlobalRequest::Pull(pull) => Some(GlobalRequest::Pull(Pull { served: Vec::new(), ..pull })),
        GlobalRequest::Status => Some(request),
        GlobalRequest::Hold(_)
        | GlobalRequest::History(_)
        | GlobalRequest::Journal(_)
        | GlobalRequest::Move(_)
        | GlobalRequest::Webhooks(_) => None,
    }
}

fn view(view: View) -> View {
    View {
        joined_by_second: Vec::new(),
        entered_last_minute: None,
        revoked_since: None,
        cadence: Cadence::FULL,
        journal: Levels::default(),
        ..view
    }
}

fn counter_reply(mut reply: CounterReply) -> CounterReply {
    if let CounterReply::Granted { view: newer, .. } | CounterReply::Refused { view: newer, .. } =
        &mut reply
    {
        *newer = newer.take().map(view);
    }
    reply
}

fn report_reply(reply: ReportReply) -> ReportReply {
    let newer = reply.view.map(view);
    ReportReply { view: newer, ended_until: None, facts_received: 0, ..reply }
}

fn global_reply(mut reply: GlobalReply) -> GlobalReply {
    if let GlobalReply::Pulled { view: newer, .. } | GlobalReply::Synced { view: newer, .. } =
        &mut reply
    {
        *newer = view(std::mem::take(newer));
    }
    if let GlobalReply::Synced { ended, used_elsewhere, .. } = &mut reply {
        (*ended, *used_elsewhere) = (None, Vec::new());
    }
    reply
}
