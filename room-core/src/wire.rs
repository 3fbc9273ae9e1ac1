//! What isolates and objects say to each other: one tagged enum per object, with a version.
//!
//! Additive changes carry a serde default, so that two versions of the Worker can run side by
//! side during a deploy. An unknown version or an unreadable text is silence, never an error.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::api::{Call, Reply};
use crate::bucket::Bucket;
use crate::census::Presence;
use crate::id::{Incarnation, IsolateId};
use crate::queue::OrderKey;
use crate::slots::{GrantId, SlotClass, Slots};
use crate::state::{Contribution, Node, Source};
use crate::time::Timestamp;
use crate::view::View;

/// The version this build speaks.
pub const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    v: u32,
    m: T,
}

/// Writes a message.
pub fn encode<T: Serialize>(message: &T) -> String {
    let envelope = Envelope { v: VERSION, m: message };
    // Writing plain data to a string cannot fail; an empty text is read as silence.
    serde_json::to_string(&envelope).unwrap_or_default()
}

/// Reads a message; `None` is silence.
pub fn decode<T: DeserializeOwned>(text: &str) -> Option<T> {
    let envelope: Envelope<T> = serde_json::from_str(text).ok()?;
    (envelope.v == VERSION).then_some(envelope.m)
}

/// To a data center's counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterRequest {
    /// A visitor asks for a slot.
    Take(Take),
    /// An isolate gives back what is left of its batches.
    Return {
        /// Who gives back.
        isolate: IsolateId,
        /// Slots left per grant, as running totals: a repeated message changes nothing.
        left: Vec<(GrantId, u32)>,
    },
}

/// A visitor asks for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    /// Newcomer or called visitor.
    pub class: SlotClass,
    /// Names the admission: one ticket gets one slot, however often it asks.
    pub admission: u64,
    /// The visitor's place in the order.
    pub key: OrderKey,
    /// Who asks, so that batches can be sized.
    pub isolate: IsolateId,
    /// Version of the view the isolate decided with, 0 for none.
    pub view_version: u64,
}

/// From a counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterReply {
    /// A slot for this admission.
    Granted {
        /// Where the slot comes from.
        grant: GrantId,
        /// Whom it was granted for: a visitor who asked as a newcomer, heard nothing and asks
        /// again when called gets the slot of the first time.
        class: SlotClass,
        /// When it was given; a repeat carries the moment of the first time.
        granted_at: Timestamp,
        /// More slots for the isolate to hand out itself.
        batch: Option<Slots>,
        /// The newest view the counter knows.
        view: Option<View>,
        /// Who answers.
        #[serde(default, skip_serializing_if = "Shard::is_only")]
        shard: Shard,
    },
    /// No slot now.
    Refused {
        /// The view that says why.
        view: Option<View>,
        /// To a called visitor: who else need not ask, and for how long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        held: Option<Held>,
        /// Who answers.
        #[serde(default, skip_serializing_if = "Shard::is_only")]
        shard: Shard,
    },
    /// The batch was taken back.
    Returned,
    /// The global aggregator did not answer.
    Silent,
}

/// One of the counters that share the asks of a data center.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which one, counted from 0.
    pub number: u16,
    /// How many there are, by the word of the first; 0 from the others, which do not know.
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

/// A request, and which of the data center's counters it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterCall {
    /// Counted from 0.
    pub counter: u16,
    /// What is said to it.
    pub request: CounterRequest,
}

/// Called visitors who would be refused without a pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Those with this key or a later one.
    pub from: OrderKey,
    /// For this long, in milliseconds.
    pub for_ms: u64,
}

/// To a data center's aggregator: what happened since, or nothing and only a view is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Who reports.
    pub isolate: IsolateId,
    /// Number of the first event; they count up from 1 in an isolate's life.
    pub first: u64,
    /// Events up to this number are durable and kept no more.
    #[serde(default)]
    pub durable: u64,
    /// The events, oldest first.
    pub events: Vec<Event>,
}

/// Something that happened in an isolate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A visitor was admitted.
    Admitted {
        /// The visitor.
        visitor: u64,
        /// Where counted from now on.
        bucket: Bucket,
        /// Second of the admission.
        second: u64,
        /// Newcomer or called visitor.
        class: SlotClass,
        /// The slot; none where the room keeps flowing without an answer.
        grant: Option<GrantId>,
    },
    /// A visitor inside moved on to another bucket.
    Moved {
        /// The visitor.
        visitor: u64,
        /// Counted there until now.
        from: Bucket,
        /// Counted there from now on.
        to: Bucket,
    },
    /// A waiting visitor checked in.
    Present(Presence),
    /// The origin ended the visitor's session.
    Revoked {
        /// The visitor.
        visitor: u64,
        /// Counted there until now, as far as the ticket knows.
        from: Bucket,
    },
}

/// From an aggregator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportReply {
    /// The life that answers; another one than before wants everything not durable again.
    pub incarnation: Incarnation,
    /// Events up to this number have been taken in.
    pub received: u64,
    /// Events up to this number survive every restart.
    pub durable: u64,
    /// Wait this long before the next report.
    pub report_interval_ms: u64,
    /// The newest view.
    pub view: Option<View>,
    /// Visitors of this report whose sessions were ended elsewhere: their tickets are void.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revoked: Vec<(u64, Bucket)>,
}

/// To the global aggregator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GlobalRequest {
    /// A counter wants slots, or gives some back.
    Pull(Pull),
    /// An aggregator contributes.
    Sync(Sync),
    /// An operator asks for the numbers.
    Status,
}

/// A counter wants slots, or gives some back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pull {
    /// Which counter asks.
    pub node: Node,
    /// Goes up with each pull, also across lives; the same when it is sent again unanswered.
    pub number: u64,
    /// Keys of the newcomers who wait for the answer, lowest first: of those of [`named_ranks`].
    pub keys: Vec<OrderKey>,
    /// How many newcomers wait for the answer.
    pub new_waiting: u32,
    /// How many slots for newcomers the counter could use until the lease ends.
    pub new_wanted: u32,
    /// Keys of the waiting visitors who ask, lowest first, up to [`NAMED_MAX`]. Isolates
    /// with an old view ask for visitors who have not been called: these get nothing.
    pub queued_keys: Vec<OrderKey>,
    /// How many waiting visitors ask.
    pub queued_waiting: u32,
    /// How many slots for called visitors it could use.
    pub queued_wanted: u32,
    /// Slots given back per grant, as running totals.
    pub returned: Vec<(GrantId, u32)>,
    /// The data center's newcomers per second, in thousandths.
    pub demand_per_1000_s: u64,
}

/// A pull names the keys of this many newcomers at most, and of this many waiting visitors.
pub const NAMED_MAX: usize = 64;
/// So many of the newcomers named are the first ones.
const NAMED_FIRST: usize = NAMED_MAX / 2;

/// Which of `waiting` newcomers a pull names, by their rank in the order of keys from 0: everybody
/// up to [`NAMED_MAX`]; of more the first half of that, and as many at even distances to the last.
pub fn named_ranks(waiting: usize) -> impl Iterator<Item = usize> {
    (0..waiting.min(NAMED_MAX)).map(move |named| match (named + 1).checked_sub(NAMED_FIRST) {
        Some(step) if waiting > NAMED_MAX => {
            NAMED_FIRST - 1 + step * (waiting - NAMED_FIRST) / (NAMED_MAX - NAMED_FIRST)
        }
        _ => named,
    })
}

/// An aggregator contributes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sync {
    /// Who contributes.
    pub source: Source,
    /// Everything it has to say.
    pub contribution: Contribution,
    /// True in the first sync of a life: it must learn what earlier lives have contributed.
    pub hello: bool,
}

/// From the global aggregator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GlobalReply {
    /// To a pull.
    Pulled {
        /// Slots for newcomers.
        new: Option<Slots>,
        /// Slots for called visitors.
        queued: Option<Slots>,
        /// The newest view.
        view: View,
        /// The next pull should come no sooner, in milliseconds from the answer.
        #[serde(default)]
        rest_ms: u64,
    },
    /// To a sync.
    Synced {
        /// The sequence number of this source that survives every restart.
        durable: u64,
        /// To a hello: the events of each isolate that earlier lives have contributed.
        included: Vec<(IsolateId, u64)>,
        /// The newest view.
        view: View,
    },
    /// To an operator.
    Status(Status),
}

/// The numbers of a room, for operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// True while newcomers enter without waiting.
    pub open: bool,
    /// Visitors inside, as counted.
    pub active: u64,
    /// Live waiting visitors.
    pub waiting: u64,
    /// Seconds until the last one in the line is expected to enter; none when not known.
    pub longest_wait_s: Option<u32>,
    /// Seconds until the next visitor is expected to enter; none when nobody waits or unknown.
    pub next_admission_s: Option<u32>,
}

/// To the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegistryRequest {
    /// An owner asks or changes something.
    Perform(Call),
    /// An isolate asks for a configuration other than the one it has.
    Configuration {
        /// The version it has; none before the first.
        known: Option<u64>,
    },
    /// Somebody looks at a preview.
    Preview {
        /// Names the preview.
        id: String,
        /// The query of the URL, without `?`: which state to show.
        query: String,
    },
}

/// From the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegistryReply {
    /// To an owner: everything that changed is stored.
    Performed(Reply),
    /// The configuration, as `Configuration::parse` reads it.
    Configuration {
        /// Which one.
        version: u64,
        /// JSON.
        text: String,
    },
    /// The version asked with is the newest.
    Unchanged,
    /// The page of a preview; or why its state makes no sense; or none of this name.
    Preview(Option<Result<String, String>>),
}

/// Which configuration counts, as copied in the Cache API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigurationStamp {
    /// The newest version there was.
    pub version: u64,
    /// When the registry was asked.
    pub confirmed_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::{NAMED_MAX, named_ranks};

    #[test]
    fn of_a_crowd_the_first_are_named_and_more_at_even_distances_to_the_last() {
        let check = |waiting: usize, from: usize, want: &[usize]| {
            let named: Vec<usize> = named_ranks(waiting).collect();
            assert_eq!(named.get(from..from + want.len()), Some(want), "{waiting}: {named:?}");
            assert_eq!(named.len(), waiting.min(NAMED_MAX));
            assert_eq!(named.last().copied(), waiting.checked_sub(1), "{waiting}");
            assert!(named.is_sorted_by(|one, next| one < next), "{named:?}");
        };
        check(0, 0, &[]);
        check(1, 0, &[0]);
        check(40, 30, &[30, 31, 32, 33]);
        check(64, 30, &[30, 31, 32, 33]);
        check(65, 30, &[30, 31, 32, 33]);
        check(96, 30, &[30, 31, 33, 35]);
        check(10_000, 30, &[30, 31, 342, 654]);
    }
}
