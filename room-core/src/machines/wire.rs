//! Messages between the isolates and the Durable Objects of a room, as versioned JSON.
//!
//! An isolate asks its data center's counters for slots. It reports to the data center's
//! aggregator, which counts visitors. Both objects talk to the room's one global aggregator: it
//! grants slots to counters and sends back a [`View`], the state of the room by which isolates
//! decide.
//!
//! Additive changes carry a serde default, so that two versions of the Worker can run side by side
//! during a deploy. A text that is unreadable or of another version is treated like a timeout
//! ("silence"), never as an error.

mod counted;
mod ended;
mod logged;
mod pull;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::base::id::{AdmissionId, AggregatorCode, Colo, Incarnation, IsolateId, VisitorId};
use crate::base::time::Timestamp;
use crate::capacity::holds::UnheardMove;
use crate::capacity::slots::{GrantId, SlotClass, SlotEnd, Slots};
use crate::capacity::state::{Contribution, Node, NodeIncarnation, RevokedVisitor};
use crate::machines::history::Period;
use crate::order::census::Presence;
use crate::order::order_key::OrderKey;
use crate::queue::view::View;
use crate::ticket::bucket::Bucket;

pub use counted::CountedFacts;
pub use ended::{EndedMark, EndedPage};
pub use logged::{Limits, Logged, limits};
pub use pull::{NAMED_MAX, Pull, named_ranks};

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
        /// Slots given back so far, per grant, as running totals: a repeated message changes
        /// nothing.
        left: Vec<(GrantId, u32)>,
    },
}

/// A request for one slot, made on behalf of one visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotRequest {
    /// Whether the visitor is a newcomer or a waiting visitor whose turn has come.
    pub class: SlotClass,
    /// Identifies the admission. It is derived from the ticket, so that a repeated request gets the
    /// same slot and not a second one.
    pub admission: AdmissionId,
    /// The visitor's place in the line; lower keys enter first.
    pub key: OrderKey,
    /// The isolate that asks. Batches are divided among the isolates that asked lately.
    pub isolate: IsolateId,
    /// Version of the view by which the isolate decided to ask; 0 if it had none.
    pub view_version: u64,
    /// When the isolate sent the request, by its own clock. The ends of the slots that it gets are
    /// measured from it. `None` from an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<Timestamp>,
    /// The aggregator that will hear of the admission. An earlier version does not say.
    #[serde(default, skip_serializing_if = "AggregatorCode::is_none")]
    pub counted_by: AggregatorCode,
    /// Length of the session that begins with the slot, in milliseconds; after it the ticket is
    /// worth nothing. 0 from an earlier version, whose tickets are forgotten sooner.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub session_ms: u64,
    /// Newcomers who entered at the isolate with slots of its own since its last request.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spent: u64,
    /// Newcomers who reach the isolate, per 1,000 seconds, over about the last minute.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub demand_per_1000_s: u64,
    /// Newcomers who wait at the isolate for the answer to this request, besides its own: they get
    /// slots as a batch. An earlier version sends all of them here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub behind: u32,
}

fn is_zero<Number: Default + PartialEq>(number: &Number) -> bool {
    *number == Number::default()
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
        /// The class for which the slot was granted.
        ///
        /// It may differ from the class asked for. A visitor may ask as a newcomer, miss the answer
        /// and ask again when called: then the first slot is given again.
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
        /// The counter that answers.
        #[serde(default, skip_serializing_if = "Shard::is_only")]
        shard: Shard,
        /// Whether the slot was given before to an isolate of another data center. That one counts
        /// the visitor, and this is one more copy of the ticket.
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
        /// The counter that answers.
        #[serde(default, skip_serializing_if = "Shard::is_only")]
        shard: Shard,
        /// Whether the ticket has had its slot and the session that began with it is over. Its
        /// holder is then a newcomer.
        #[serde(default, skip_serializing_if = "is_false")]
        spent: bool,
    },
    /// Confirms that the slots given back have been taken in.
    Returned,
    /// Says that no answer is possible. The global aggregator did not answer the counter, or too
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
    /// How many counters should share the requests, from 1 to 16. Only counter 0 measures that; the
    /// others send 0, for "not known".
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
    /// Version of the isolate's view if that view asks for the full pace; 0 otherwise. An
    /// aggregator with an older view learns of the full pace by it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub view_version: u64,
    /// Visitors of whom the isolate asks whether their sessions were ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check: Vec<VisitorId>,
    /// Counts besides the events. `None` from an earlier version, and while there is nothing to
    /// tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<CountedFacts>,
    /// Records for the room's journal, as text. They go only with a report that is sent anyway.
    /// None from an earlier version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub journal: String,
}

/// What an isolate says of a visitor who was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admission {
    /// The visitor.
    pub visitor: VisitorId,
    /// Activity bucket (the second of expiry) in which the visitor is counted from now on.
    pub bucket: Bucket,
    /// When the visitor was admitted, in seconds since the Unix epoch. With a slot the time is
    /// in ledger time or later; without one it is by the isolate's clock.
    pub second: u64,
    /// Whether that was in the first half of the second, in ledger time. False if it is not
    /// known: the visitor then counts in the rate for half a second more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub early: bool,
    /// Whether the slot was one for newcomers or one for called visitors.
    pub class: SlotClass,
    /// How long the visitor waited in the line, in seconds. `None` without a wait, and from an
    /// earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_s: Option<u32>,
    /// The wait that was shown to the visitor, in seconds. `None` if none was shown, and from
    /// an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_s: Option<u32>,
    /// Whether the visitor had missed a check-in while the turn was kept.
    #[serde(default, skip_serializing_if = "is_false")]
    pub turn_kept: bool,
    /// Grant of the slot. `None` for a visitor who entered without one, for example by
    /// `keep_flowing` while no object answered.
    pub grant: Option<GrantId>,
    /// What the transparency log says besides; `None` in a room without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged: Option<Logged>,
}

impl Admission {
    /// Makes an admission without a slot, and without a wait before it.
    pub fn new(visitor: VisitorId, bucket: Bucket, second: u64, class: SlotClass) -> Self {
        Self {
            visitor,
            bucket,
            second,
            early: false,
            class,
            waited_s: None,
            told_s: None,
            turn_kept: false,
            grant: None,
            logged: None,
        }
    }
}

/// An event in an isolate that changes how visitors are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IsolateEvent {
    /// A visitor was admitted.
    Admitted(Admission),
    /// A session was renewed: the visitor is now counted in another activity bucket.
    Moved {
        /// The visitor.
        visitor: VisitorId,
        /// Bucket in which the visitor was counted until now.
        from: Bucket,
        /// Bucket in which the visitor is counted from now on.
        to: Bucket,
        /// The aggregator that heard how the visitor came into `from`; none if the ticket did not
        /// say.
        #[serde(default, skip_serializing_if = "AggregatorCode::is_none")]
        counted_by: AggregatorCode,
    },
    /// A waiting visitor checked in, and is expected to check in again.
    Present(Presence),
    /// The origin ended a session with `revoke`.
    Revoked {
        /// The visitor.
        visitor: VisitorId,
        /// Bucket in which the visitor was counted, according to the ticket. Another request may
        /// have renewed the session since.
        from: Bucket,
    },
}

/// The answer of a data center's aggregator to a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportReply {
    /// Incarnation of the aggregator. After it changes the isolate sends all events again that are
    /// not durable yet, since a restarted aggregator has lost them.
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
    /// The moment up to which the aggregator knows all ended sessions of the room. `None` if it
    /// does not, and from an earlier version.
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
    Sync(Box<Sync>),
    /// An isolate sends what it could not report. An earlier version cannot read it, and does not
    /// answer.
    Hold(Hold),
    /// An operator asks for the room's numbers.
    Status,
    /// An operator asks for the room's history.
    History(Period),
    /// An operator asks for a part of the room's journal: a `journal::Query` as text.
    Journal(String),
    /// A visitor transfers a place to another device: a `moves::MoveRequest` as text.
    Move(String),
    /// An operator asks about webhooks, or has changed something that they report: `look`,
    /// `deliveries`, or `test` and the id of one. `webhooks/` answers it.
    Webhooks(String),
}

/// A message with which a data center's aggregator brings its counts up to date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sync {
    /// The aggregator and its incarnation.
    pub source: NodeIncarnation,
    /// All counts of this incarnation, as absolute values. The newest message replaces the others.
    pub contribution: Contribution,
    /// Whether this is the first sync of an incarnation. The answer then tells which events earlier
    /// incarnations have contributed, so that none is counted twice.
    pub hello: bool,
    /// The ended sessions that the aggregator knows: the answer brings the others. `None` from an
    /// earlier version, which does not ask for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<EndedMark>,
    /// Records for the room's journal, as text. None from an earlier version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub journal: String,
}

/// Renewals that an isolate could not report to its aggregator. The global aggregator holds the
/// places of these visitors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The isolate that sends it.
    pub isolate: IsolateId,
    /// All unreported moves up to this event number have been sent, now or before.
    pub through: u64,
    /// The moves that have not been confirmed yet, in the order of their numbers.
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
        /// Grants named in the pull's `extend` whose slots may be used once more, each with its new
        /// end.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        extended: Vec<(GrantId, SlotEnd)>,
        /// The newest view.
        view: View,
        /// How long the counter must wait before its next pull, in milliseconds from the answer.
        /// More than 0 only under load.
        #[serde(default)]
        rest_ms: u64,
    },
    /// Answers a sync.
    Synced {
        /// Sequence number of the newest contribution of this source that is stored for good.
        durable: u64,
        /// In the answer to a first sync: per isolate, the number of the last event that earlier
        /// incarnations of the source have contributed.
        included: Vec<(IsolateId, u64)>,
        /// The newest view.
        view: View,
        /// Ended sessions that the aggregator does not know, if it asked for them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<EndedPage>,
        /// Visitors whom the aggregator counts and whose tickets are used elsewhere. It names them
        /// from now on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        used_elsewhere: Vec<VisitorId>,
    },
    /// Confirms that the moves up to this number are held and stored.
    Held {
        /// The number, as in the [`Hold`].
        through: u64,
    },
    /// Answers an operator.
    Status(Status),
    /// Answers an operator with the text of [`Period::told`].
    History(String),
    /// Answers an operator with rows of the journal: `journal::Rows` as text.
    Journal(String),
    /// Answers a transfer to another device: a `moves::MoveReply` as text.
    Move(String),
    /// Answers an operator about the last webhook messages, as JSON by webhook.
    Webhooks(String),
}

/// The numbers of a room that are shown to operators.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Whether newcomers enter without waiting.
    pub open: bool,
    /// Visitors counted as inside.
    pub active: u64,
    /// Waiting visitors who still check in.
    pub waiting: u64,
    /// Seconds until the last visitor in the line is expected to enter; `None` if that is not
    /// known.
    pub longest_wait_s: Option<u32>,
    /// Seconds until the next visitor is expected to enter; `None` if nobody waits or that is not
    /// known.
    pub next_admission_s: Option<u32>,
    /// The data centers with traffic whose syncs are missing, each with the seconds since the last.
    /// None from an earlier version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<(Colo, u64)>,
}
