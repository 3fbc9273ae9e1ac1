//! The events of a world: everything that can happen in it, and to which part.

use room_core::base::id::Incarnation;
use room_core::base::time::Timestamp;

use super::address::{Object, Place};
use super::counts::CountsEvent;
use super::network::{Question, Reply, Shift, UnaskedVisit};
use crate::baseline::BaselineAnswer;

/// Something that will happen at a known moment.
#[derive(Debug)]
pub(crate) enum WorldEvent {
    /// A visitor comes for the first time to a data center, among a crowd or not.
    Arrival { data_center: usize, in_crowd: bool },
    /// A visitor asks for a page.
    Visit(usize),
    /// Somebody uses the copy of a cookie that a visitor kept who has left.
    Kept(usize),
    /// A question reaches an object.
    Question(u64, Box<Question>),
    /// An object has time for a waiting question.
    Served(u64, Box<Question>),
    /// An answer reaches its caller.
    Reply(u64, Box<Reply>),
    /// A visit looks whether it may ask a counter.
    Look(Box<UnaskedVisit>),
    /// The answer to a visit's question is late. The question may be repeated.
    Late(u64),
    /// A caller's timeout ends, or its call failed.
    Silence(u64),
    /// The timer of an object goes off, if the object is still in this incarnation.
    Wake(Object, Incarnation),
    /// A request continues with an isolate's reports after its own answer. The fields of a
    /// [`Shift`], which alone would take more room.
    Work { data_center: u16, isolate: u16, incarnation: Incarnation, started_at: Timestamp },
    /// A report of an isolate is still unanswered. Something may have to be held.
    Unanswered(u64),
    /// An isolate dies with what it has not reported. Another one takes its place.
    Death { data_center: usize, isolate: usize },
    /// The fault of this number happens.
    Fault(usize),
    /// The copies for the fault of this number are taken.
    Copies(usize),
    /// Counts of a published design move from or to the global object.
    Counts(Box<CountsEvent>),
    /// The counts of an isolate of a published design reach its data center.
    Flush { data_center: usize, isolate: usize },
    /// A visitor is answered by a published design, after the calls of the visit.
    Answer(usize, Box<BaselineAnswer>),
    /// The idle places are measured.
    Measure,
    /// A second has passed.
    Second,
}

/// Millions of events are on their way: three words for each.
const _: () = assert!(size_of::<WorldEvent>() <= 24);

impl From<Shift> for WorldEvent {
    fn from(Shift { place, started_at }: Shift) -> Self {
        let Place { data_center, isolate, incarnation } = place;
        let (data_center, isolate) = (data_center as u16, isolate as u16);
        Self::Work { data_center, isolate, incarnation, started_at }
    }
}
