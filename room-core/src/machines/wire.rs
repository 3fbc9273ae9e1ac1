//! Messages between the isolates and the Durable Objects of a room, as versioned JSON.
//!
//! An isolate asks its data center's counters for slots and reports to the data center's
//! aggregator, which counts visitors. Both talk to the room's one global aggregator: it grants
//! slots to counters and sends back a [`View`], the state of the room by which isolates decide.
//!
//! Additive changes carry a serde default, so that two versions of the Worker can run side by
//! side during a deploy. A text that is unreadable or of another version is treated like a missing
//! answer ("silence"), never as an error.

mod ended;
mod named;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::base::id::{AdmissionId, AggregatorCode, Incarnation, IsolateId, VisitorId};
use crate::base::time::Timestamp;
use crate::capacity::facts::Facts;
use crate::capacity::holds::UnheardMove;
use crate::capacity::slots::{GrantId, SlotClass, SlotEnd, Slots};
use crate::capacity::state::{Contribution, Node, NodeIncarnation, RevokedVisitor};
use crate::machines::history::Period;
use crate::order::census::Presence;
use crate::order::order_key::OrderKey;
use crate::queue::view::View;
use crate::ticket::bucket::Bucket;

pub use ended::{EndedMark, EndedPage};
pub use named::{NAMED_MAX, named_ranks};

/// The version of the messages this build writes; it reads no other.
pub const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    v: u32,
    m: T,
}

/// Returns a message as the JSON text that [`decode`] reads.
pub fn encode<T: Serialize>(message: &T) -> String {
    let envelope = Envelope { v: VERSION, m: message };
    // Writing plain data to a string cannot fail; an empty text is read as silence.
    serde_json::to_string(&envelope).unwrap_or_default()
}

/// Reads a message. `None`, for an unreadable text or another version, counts as no answer.
pub fn decode<T: DeserializeOwned>(text: &str) -> Option<T> {
    let envelope: Envelope<T> = serde_json::from_str(text).ok()?;
    (envelope.v == VERSION).then_some(envelope.m)
}

/// A request of an isolate to a counter of its data center.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterRequest {
    /// Asks for one slot, with which one visitor may enter.
    Take(SlotRequest),
    /// Gives back the slots of the isolate's batches that it has not used.
    Return {
        /// The isolate that gives them back.
        isolate: IsolateId,
        /// Slots given back so far, per grant. They are running totals, so a repeated message
        /// changes nothing.
        left: Vec<(GrantId, u32)>,
    },
}

/// A request for one slot, made on behalf of one visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotRequest {
    /// Whether the visitor is a newcomer or a waiting visitor whose turn has come.
    pub class: SlotClass,
    /// Identifies the admission. It follows from the ticket, so that a ticket that asks again
    /// gets the same slot and not a second one.
    pub admission: AdmissionId,
    /// The visitor's place in the line; lower keys enter first.
    pub key: OrderKey,
    /// The isolate that asks. Batches are divided among the isolates that asked lately.
    pub isolate: IsolateId,
    /// Version of the view by which the isolate decided to ask; 0 if it had none.
    pub view_version: u64,
    /// When the isolate sent it, by its own clock, from which it measures the end of what it gets.
    /// An earlier version does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<Timestamp>,
    /// The aggregator that is to hear of the admission. An earlier version does not say.
    #[serde(default, skip_serializing_if = "AggregatorCode::is_none")]
    pub counted_by: AggregatorCode,
    /// How long the session lasts that begins with the slot, in milliseconds: later the ticket is
    /// worth nothing. 0 in a request of an earlier version, whose tickets are forgotten sooner.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub session_ms: u64,
    /// How many newcomers have entered at the isolate with slots of its own since it asked last.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spent: u64,
    /// Newcomers who reach the isolate, per 1,000 seconds, over about the last minute.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub demand_per_1000_s: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it by reference")]
fn is_false(is: &bool) -> bool {
    !*is
}

/// The answer of a counter to an isolate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterReply {
    /// Gives one slot to this admission.
    Granted {
        /// The grant to which the slot belongs.
        grant: GrantId,
        /// The class for which the slot was granted. It differs from the class asked for when a
        /// visitor asked as a newcomer, missed the answer and asks again when called: such a
        /// visitor gets the first slot again.
        class: SlotClass,
        /// When the slot was handed out. A repeated answer carries the first moment.
        granted_at: Timestamp,
        /// The end of the lease by the isolate's clock: the visitor must be admitted less than
        /// [`ANSWER_MS`](crate::capacity::slots::ANSWER_MS) later. `None` from or to an earlier
        /// version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end: Option<SlotEnd>,
        /// More slots, which the isolate may give to its next newcomers without asking.
        batch: Option<Slots>,
        /// The counter's view, if it is newer than the one the isolate decided by.
        view: Option<View>,
        /// Who answers.
        #[serde(default, skip_serializing_if = "Shard::is_only")]
        shard: Shard,
        /// Whether the slot was given before to an isolate of another data center, which counts
        /// the visitor: this is one more copy of the ticket.
        #[serde(default, skip_serializing_if = "is_false")]
        shared: bool,
    },
    /// Refuses the slot: the visitor waits.
    Refused {
        /// The view that says why: the room is closed, or it is not this visitor's turn.
        view: Option<View>,
        /// Tells which other called visitors need not ask for a while, since they would be
        /// refused too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        held: Option<RefusalHint>,
        /// Who answers.
        #[serde(default, skip_serializing_if = "Shard::is_only")]
        shard: Shard,
        /// Whether the ticket has had its slot, and the session that began with it is over: its
        /// holder is a newcomer.
        #[serde(default, skip_serializing_if = "is_false")]
        spent: bool,
    },
    /// Confirms that the slots given back have been taken in.
    Returned,
    /// Says that no answer is possible: the global aggregator did not answer the counter, or too
    /// many requests wait for it. The room's `when_silent` decides what the visitor gets.
    Silent,
}

/// One of the counters that share the requests of a data center.
///
/// A counter that is the only one (the default) is left out of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Number of this counter, counted from 0.
    pub number: u16,
    /// How many counters should share the requests, from 1 to 16, in answers of counter 0. Only it
    /// measures that; the other counters send 0, for "not known".
    pub of: u16,
}

impl Default for Shard {
    fn default() -> Self {
        Self { number: 0, of: 1 }
    }
}

impl Shard {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it by reference")]
    fn is_only(&self) -> bool {
        *self == Self::default()
    }
}

/// A request together with the counter to which it must be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterCall {
    /// The counter. A waiting ticket asks the same one from every data center.
    pub counter: Node,
    /// The request to send.
    pub request: CounterRequest,
}

/// Says which called visitors a counter would refuse at once, without asking the global
/// aggregator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusalHint {
    /// Lowest refused key: visitors with this key or a higher one are refused.
    pub from: OrderKey,
    /// How long that holds, in milliseconds from the answer.
    pub for_ms: u64,
}

/// A report of an isolate to its data center's aggregator: the events that the aggregator does not
/// have yet. A report without events only asks for the newest view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The isolate that reports.
    pub isolate: IsolateId,
    /// Number of the first event in `events`; the isolate numbers its events from 1.
    pub first: u64,
    /// Events up to this number are stored for good; the isolate no longer keeps them.
    #[serde(default)]
    pub durable: u64,
    /// The events, oldest first, numbered without gaps from `first`.
    pub events: Vec<IsolateEvent>,
    /// Version of the isolate's view, where that says that all is told at the full pace: an
    /// aggregator whose view is older does not know. 0 otherwise.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub view_version: u64,
    /// Visitors of whom the isolate asks whether their sessions were ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check: Vec<VisitorId>,
    /// What the isolate has counted besides. An earlier version does not say, and asks for it in
    /// vain until its minutes are over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<CountedFacts>,
}

/// Facts that an isolate has counted and that no event of a visitor says: how challenges went, and
/// what was not answered. They go with a report that goes anyway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedFacts {
    /// Their number: what is said again has the same one, and counts once.
    pub number: u64,
    /// How often what happened in which minute, since those of the number before.
    pub facts: Facts,
}

/// An event in an isolate that changes how visitors are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IsolateEvent {
    /// A visitor was admitted.
    Admitted {
        /// The visitor.
        visitor: VisitorId,
        /// Activity bucket (the second of expiry) in which the visitor is counted from now on.
        bucket: Bucket,
        /// When the visitor was admitted, in seconds since the Unix epoch: for one with a slot by
        /// the clock of the books, or later, else by the isolate's.
        second: u64,
        /// Whether the slot was one for newcomers or one for called visitors.
        class: SlotClass,
        /// How long the visitor has waited in the line, in seconds; `None` for one who has not, and
        /// from an earlier version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waited_s: Option<u32>,
        /// How long a visitor who has waited was told to wait, in seconds; `None` for one who was
        /// told nothing, and from an earlier version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told_s: Option<u32>,
        /// Whether the visitor had missed a check-in, and the turn was kept meanwhile.
        #[serde(default, skip_serializing_if = "is_false")]
        turn_kept: bool,
        /// Grant of the slot; `None` for a visitor who entered without one, for example by
        /// `keep_flowing` while no object answered.
        grant: Option<GrantId>,
    },
    /// A session was renewed: the visitor is now counted in another activity bucket.
    Moved {
        /// The visitor.
        visitor: VisitorId,
        /// Bucket in which the visitor was counted until now.
        from: Bucket,
        /// Bucket in which the visitor is counted from now on.
        to: Bucket,
        /// The aggregator that was to hear how the visitor came into `from`; none where the ticket
        /// did not say.
        #[serde(default, skip_serializing_if = "AggregatorCode::is_none")]
        counted_by: AggregatorCode,
    },
    /// A waiting visitor checked in, and is expected to come again.
    Present(Presence),
    /// The origin ended a session with `revoke`.
    Revoked {
        /// The visitor.
        visitor: VisitorId,
        /// Bucket in which the visitor was counted, according to the ticket; another request may
        /// have renewed the session since.
        from: Bucket,
    },
}

/// The answer of a data center's aggregator to a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportReply {
    /// Incarnation of the aggregator. After a change of it the isolate sends all events again that
    /// are not durable yet, since a restarted aggregator has lost them.
    pub incarnation: Incarnation,
    /// Events up to this number have been received by this incarnation, in memory at least.
    pub received: u64,
    /// Events up to this number are stored for good and survive every restart.
    pub durable: u64,
    /// How long the isolate waits before its next report, in milliseconds.
    pub report_interval_ms: u64,
    /// The newest view the aggregator has, if any.
    pub view: Option<View>,
    /// Visitors named in this report whose sessions were ended: their tickets are void.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revoked: Vec<RevokedVisitor>,
    /// The moment up to which the aggregator knows every session of the room that has ended; `None`
    /// if it does not, and from an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_until: Option<Timestamp>,
    /// The number of the [`CountedFacts`] that were taken in last; 0 from an earlier version.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub facts_received: u64,
}

/// A request to the room's global aggregator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GlobalRequest {
    /// A counter asks for slots or gives some back.
    Pull(Pull),
    /// A data center's aggregator sends its counts.
    Sync(Sync),
    /// An isolate tells what it could not report. To an earlier version it is no message: silence.
    Hold(Hold),
    /// An operator asks for the room's numbers.
    Status,
    /// An operator asks for the room's history.
    History(Period),
    /// A visitor moves to another device: a `moves::MoveRequest` as text.
    Move(String),
    /// An operator has changed something that webhooks are told of, or asks about them: `look`,
    /// `deliveries`, or `test` and the id of one. `webhooks/` answers it.
    Webhooks(String),
}

/// A request of a counter for slots, in which it also gives back those it could not use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pull {
    /// The counter that asks.
    pub node: Node,
    /// Number of the pull. It rises with each pull, also across restarts; a pull that is repeated
    /// for want of an answer keeps its number, so that it is granted once.
    pub number: u64,
    /// Keys of newcomers who wait for the answer, lowest first: those that [`named_ranks`] picks.
    pub keys: Vec<OrderKey>,
    /// How many newcomers wait for the answer in all.
    pub new_waiting: u32,
    /// How many slots for newcomers the counter expects to use before they expire; 0 if it wants
    /// none.
    pub new_wanted: u32,
    /// Keys of the waiting visitors who ask for a slot, lowest first, [`NAMED_MAX`] at most. An
    /// isolate with an old view may ask for visitors who have not been called; they get nothing.
    pub queued_keys: Vec<OrderKey>,
    /// The last bits of their admissions, by which visitors who joined in one millisecond are told
    /// apart. An earlier version has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queued_names: Vec<u16>,
    /// How many waiting visitors ask in all.
    pub queued_waiting: u32,
    /// How many slots for called visitors the counter expects to use; 0 if none asks.
    pub queued_wanted: u32,
    /// Slots given back so far, per grant; being running totals, they may be repeated.
    pub returned: Vec<(GrantId, u32)>,
    /// Grants that have ended, of which visitors ask again who were given a slot: they may have
    /// missed the answer. Up to [`NAMED_MAX`] count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extend: Vec<GrantId>,
    /// When the counter sent it, by its own clock, from which it measures the end of what it gets.
    /// An earlier version does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<Timestamp>,
    /// Newcomers who reach this counter, per 1,000 seconds (2,500 means 2.5 a second).
    pub demand_per_1000_s: u64,
}

/// A message by which a data center's aggregator brings its counts up to date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sync {
    /// The aggregator and its incarnation.
    pub source: NodeIncarnation,
    /// All counts of this incarnation, as absolute values: the newest message replaces the others.
    pub contribution: Contribution,
    /// Whether this is the first sync of an incarnation. The answer then tells which events earlier
    /// incarnations have contributed, so that none is counted twice.
    pub hello: bool,
    /// The ended sessions that the aggregator knows, so that the answer brings the others. An
    /// earlier version does not ask for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<EndedMark>,
}

/// What an isolate could not report to its aggregator, told to the global aggregator itself, which
/// holds the places of these visitors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The isolate.
    pub isolate: IsolateId,
    /// All such moves among its events up to this number have been told, now or before.
    pub through: u64,
    /// Those that have not been confirmed yet, in the order of their numbers.
    pub moves: Vec<UnheardMove>,
}

/// The answer of the global aggregator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GlobalReply {
    /// Answers a pull.
    Pulled {
        /// Slots for newcomers, if any are granted.
        new: Option<Slots>,
        /// Slots for called visitors, if any are granted.
        queued: Option<Slots>,
        /// Grants that the pull names in `extend` and whose slots may be used once more, each with
        /// its new end.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        extended: Vec<(GrantId, SlotEnd)>,
        /// The newest view.
        view: View,
        /// How long the counter must wait before its next pull, in milliseconds from the answer;
        /// more than 0 only under load.
        #[serde(default)]
        rest_ms: u64,
    },
    /// Answers a sync.
    Synced {
        /// Sequence number of the newest contribution of this source that is stored for good.
        durable: u64,
        /// To a first sync: the number of the last event of each isolate that earlier incarnations
        /// of the source have contributed.
        included: Vec<(IsolateId, u64)>,
        /// The newest view.
        view: View,
        /// Ended sessions that the aggregator does not know, if it has asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<EndedPage>,
        /// Visitors whom the aggregator counts and others have met: it is to name them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        used_elsewhere: Vec<VisitorId>,
    },
    /// Confirms that the moves up to this number are held, for good.
    Held {
        /// The number, as in the [`Hold`].
        through: u64,
    },
    /// Answers an operator.
    Status(Status),
    /// Answers an operator, with what [`Period::told`] writes.
    History(String),
    /// Answers a visitor who moves: a `moves::MoveReply` as text.
    Move(String),
    /// Answers an operator: what became of the last messages, as JSON by webhook.
    Webhooks(String),
}

/// The numbers of a room that are shown to operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Whether newcomers enter without waiting.
    pub open: bool,
    /// Visitors counted as inside.
    pub active: u64,
    /// Waiting visitors who still check in.
    pub waiting: u64,
    /// Seconds until the last visitor in the line is expected to enter; `None` if not known.
    pub longest_wait_s: Option<u32>,
    /// Seconds until the next visitor is expected to enter; `None` if nobody waits or it is not
    /// known.
    pub next_admission_s: Option<u32>,
}
