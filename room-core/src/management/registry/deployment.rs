//! What a deployment allows by its variables, which no call of the API changes.

use crate::room::zones::Zones;

/// The most that the registry takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most rooms of one zone.
    pub rooms_per_zone: usize,
    /// Most events of one room, finished ones included.
    pub events_per_room: usize,
    /// Most bypass rules of one room.
    pub rules_per_room: usize,
    /// Whether webhooks may have any address, including inner ones and `http`: for tests.
    pub webhooks_anywhere: bool,
}

impl Default for Bounds {
    /// Returns our bounds. Cloudflare allows one room by default and 5 events, and publishes no
    /// bound for rules.
    fn default() -> Self {
        Self {
            rooms_per_zone: 1_000,
            events_per_room: 100,
            rules_per_room: 100,
            webhooks_anywhere: false,
        }
    }
}

/// A deployment as its variables describe it.
#[derive(Debug)]
pub struct Deployment {
    /// The most that the registry takes in.
    pub bounds: Bounds,
    /// The existing zones, with their hosts.
    pub zones: Zones,
    /// Whether the deployment has Turnstile's site key and secret.
    pub can_challenge: bool,
}
