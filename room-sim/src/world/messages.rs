//! The messages that reach the global object, as texts. They can be sent to a real one, which then
//! has as much to do.

use room_core::base::time::Timestamp;
use room_core::machines::wire::{self, GlobalRequest};

use super::{START, World};

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
    pub(crate) fn note(&mut self, at: Timestamp, request: &GlobalRequest) {
        if let Some(heard) = &mut self.0 {
            heard.push(Heard { at, text: wire::encode(request) });
        }
    }
}

impl World {
    /// Plays the story up to `from_ms` after its beginning, and for `for_ms` more. Returns what
    /// reached the global object in that time.
    pub fn heard(&mut self, from_ms: u64, for_ms: u64) -> Vec<Heard> {
        self.run_until(START + from_ms);
        self.objects.recorder = Recorder(Some(Vec::new()));
        self.run_until(START + from_ms + for_ms);
        std::mem::take(&mut self.objects.recorder).0.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{START, World};
    use crate::scenario::Scenario;
    use crate::world::Algorithm;
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
