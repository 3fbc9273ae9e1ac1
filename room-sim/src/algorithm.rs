//! What may decide who enters a simulated room: the production core, or a published design.

use crate::baseline::Published;
use crate::scenario::Scenario;

/// The algorithm that decides who enters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    /// The production core: escrow slots and one threshold.
    Escrow,
    /// One of the published earlier designs.
    Published(Published),
}

impl Algorithm {
    /// Returns why the algorithm cannot run this scenario; `None` if it can.
    pub fn hindrance(self, scenario: &Scenario) -> Option<&'static str> {
        match self {
            Self::Published(_) if scenario.settings.queue_all => {
                Some("the published designs hold nobody until a start")
            }
            Self::Published(_) if scenario.settings.challenge_required => {
                Some("the published designs challenge nobody (infinite queue)")
            }
            Self::Published(_) if scenario.habits.revoked > 0.0 => {
                Some("the published designs take no place back (revocation)")
            }
            Self::Published(_) if scenario.habits.shared > 0.0 => {
                Some("the published designs know no ticket (one for many)")
            }
            _ => None,
        }
    }
}
