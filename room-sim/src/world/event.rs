//! The events of a world: everything that can happen in it, and to which part.

use room_core::base::id::Incarnation;

use super::network::{Question, Reply, Shift};
use super::objects::Object;
use super::published::CountsEvent;
use crate::baseline::BaselineAnswer;

/// Something that will happen at a known moment.
#[derive(Debug)]
pub(crate) enum WorldEvent {
    /// A visitor comes for the first time to a data center, among a crowd or not.
    Arrival { data_center: usize, in_crowd: bool },
    /// A visitor asks for a page.
    Visit(usize),
    /// A question reaches an object.
    Question(u64, Box<Question>),
    /// An object has time for a waiting question.
    Served(u64, Box<Question>),
    /// An answer reaches its caller.
    Reply(u64, Box<Reply>),
    /// The answer to a visit's question is late. The question may be repeated.
    Late(u64),
    /// A caller's timeout ends, or its call failed.
    Silence(u64),
    /// The timer of an object goes off, if the object is still in this incarnation.
    Wake(Object, Incarnation),
    /// A request continues with an isolate's reports after its own answer.
    Work(Shift),
    /// A report of an isolate is still unanswered. Something may have to be held.
    Unanswered(u64, Shift),
    /// An isolate dies with what it has not reported. Another one takes its place.
    Death { data_center: usize, isolate: usize },
    /// The fault of this number happens.
    Fault(usize),
    /// The copies for the fault of this number are taken.
    Copies(usize),
    /// Counts of a published design move from or to the global object.
    Counts(CountsEvent),
    /// The counts of an isolate of a published design reach its data center.
    Flush { data_center: usize, isolate: usize },
    /// A visitor is answered by a published design, after the calls of the visit.
    Answer(usize, BaselineAnswer),
    /// A second has passed.
    Second,
}
