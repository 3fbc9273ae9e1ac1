//! Messages between isolates and objects while they are on their way. Delivers nothing.

use room_core::admission::{Ask, RandomInputs};
use room_core::base::id::Incarnation;
use room_core::machines::wire::{
    CounterReply, CounterRequest, GlobalReply, GlobalRequest, Hold, Report, ReportReply,
};

/// A message on its way.
#[derive(Clone, Debug)]
pub enum Flight {
    Ask { data_center: usize, request: CounterRequest, asker: Option<Asker> },
    CounterAnswer { asker: Asker, reply: Option<CounterReply> },
    Report { data_center: usize, report: Report, reporter: Option<Reporter> },
    Reported { reporter: Reporter, reply: Option<ReportReply> },
    Up { from: Below, request: GlobalRequest },
    Hold { hold: Hold, reporter: Reporter },
    Held { reporter: Reporter, through: Option<u64> },
    Down { from: Below, reply: Option<GlobalReply> },
}

/// A request of an isolate that waits for the counter.
#[derive(Clone, Debug)]
pub struct Asker {
    pub reporter: Reporter,
    /// The visit that waits for it; none where only a batch goes back.
    pub visit: Option<(usize, Ask, RandomInputs)>,
}

/// One incarnation of an isolate.
#[derive(Clone, Copy, Debug)]
pub struct Reporter {
    pub isolate: usize,
    pub incarnation: Incarnation,
}

/// One incarnation of an object that asks the global aggregator; incarnation 0 is nobody.
#[derive(Clone, Copy, Debug)]
pub struct Below {
    pub data_center: usize,
    pub incarnation: Incarnation,
    /// The number of a counter's pull; 0 for an aggregator.
    pub pull: u64,
}

/// A message that gets lost: whoever waits for it hears nothing.
pub fn lost(flight: Flight) -> Option<Flight> {
    match flight {
        Flight::Ask { asker, .. } => {
            asker.map(|asker| Flight::CounterAnswer { asker, reply: None })
        }
        Flight::CounterAnswer { asker, .. } => Some(Flight::CounterAnswer { asker, reply: None }),
        Flight::Report { reporter, .. } => {
            reporter.map(|reporter| Flight::Reported { reporter, reply: None })
        }
        Flight::Reported { reporter, .. } => Some(Flight::Reported { reporter, reply: None }),
        Flight::Hold { reporter, .. } | Flight::Held { reporter, .. } => {
            Some(Flight::Held { reporter, through: None })
        }
        Flight::Up { from, .. } | Flight::Down { from, .. } => {
            Some(Flight::Down { from, reply: None })
        }
    }
}

/// The same message once more, with nobody who waits for the answer; answers come once.
pub fn repeated(flight: &Flight) -> Option<Flight> {
    match flight.clone() {
        Flight::Ask { data_center, request, .. } => {
            Some(Flight::Ask { data_center, request, asker: None })
        }
        Flight::Report { data_center, report, .. } => {
            Some(Flight::Report { data_center, report, reporter: None })
        }
        Flight::Up { from, request } => {
            Some(Flight::Up { from: Below { incarnation: Incarnation(0), ..from }, request })
        }
        Flight::CounterAnswer { .. }
        | Flight::Reported { .. }
        | Flight::Hold { .. }
        | Flight::Held { .. }
        | Flight::Down { .. } => None,
    }
}
