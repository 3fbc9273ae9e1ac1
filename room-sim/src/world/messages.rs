//! The messages that reach the global object, as texts. They can be sent to a real one, which then
//! has as much to do.

use room_core::base::time::Timestamp;
use room_core::machines::wire::{self, GlobalRequest};

/// A message and the moment at which it came.
#[derive(Clone, Debug)]
pub struct Heard {
    /// The moment in milliseconds since 1970, in the world's own time.
    pub at: Timestamp,
    /// The text on the wire.
    pub text: String,
}

/// Keeps the incoming messages, if they are wanted.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Option<Vec<Heard>>);

impl Recorder {
    /// Keeps what comes from now on.
    pub(crate) fn begin(&mut self) {
        self.0 = Some(Vec::new());
    }

    /// Returns what was kept, and keeps nothing more.
    pub(crate) fn end(&mut self) -> Vec<Heard> {
        self.0.take().unwrap_or_default()
    }

    pub(crate) fn note(&mut self, at: Timestamp, request: &GlobalRequest) {
        if let Some(heard) = &mut self.0 {
            heard.push(Heard { at, text: wire::encode(request) });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::algorithm::Algorithm;
    use crate::scenario::{START, Scenario};
    use crate::world::World;
    use room_core::machines::wire::{self, GlobalRequest};

    #[test]
    fn what_comes_in_that_time_can_be_read_and_nothing_else_is_kept() {
        let scenario = Scenario::named("over").expect("a known name");
        let mut world = World::new(scenario, Algorithm::Escrow, 3, 1);
        let heard = world.heard(60_000, 4_000);
        assert!(heard.len() > 6, "{}", heard.len());
        let within = START + 60_000..=START + 64_000;
        assert!(heard.iter().all(|one| within.contains(&one.at)));
        let known = |text: &str| wire::decode::<GlobalRequest>(text).is_some();
        assert!(heard.iter().all(|one| known(&one.text)));
    }
}
