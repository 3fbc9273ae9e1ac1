//! Which visitors the room's journal follows (`machines::journal`).

use serde::{Deserialize, Serialize};

/// The highest level. A reference has 50 bits.
pub const LEVEL_MAX: u8 = 48;

/// How many visitors the journal follows, as powers of two: 3 means one in 8. Which ones depends on
/// their references alone, so that a visitor is followed from the first record to the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Levels(u16);

impl Levels {
    /// Makes the levels of visitors who wait, and of those who enter.
    pub fn new(waits: u8, entered: u8) -> Self {
        Self(u16::from_be_bytes([waits, entered]))
    }

    /// Returns the level of visitors who wait.
    pub fn waits(self) -> u8 {
        self.0.to_be_bytes()[0]
    }

    /// Returns the level of visitors who enter.
    pub fn entered(self) -> u8 {
        self.0.to_be_bytes()[1]
    }

    /// Whether all visitors are followed.
    pub fn is_all(&self) -> bool {
        self.0 == 0
    }

    /// Whether a visitor with this number of a reference is followed, when waiting or `entered`.
    pub fn follow(self, entered: bool, reference: u64) -> bool {
        let level = if entered { self.entered() } else { self.waits() };
        reference.trailing_zeros() >= level.into()
    }
}
