//! What is allowed at a moment while the limits of a room change. It knows no visitor.

use std::collections::VecDeque;

use room_core::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use room_core::room::settings::Settings;

/// How long after a fall of a limit slots of the old one may still be used, in milliseconds.
const LEASES_END_MS: u64 = 5 * SECOND_MS;
/// The same if the room may have been calm, in milliseconds. Its leases are longer, and end when
/// their holder hears of the change. The constant after it is the largest part of the limits that a
/// calm room used.
const CALM_LEASES_END_MS: u64 = 82 * SECOND_MS;
const CALM: f64 = 0.7;
/// The R from which on a room may be calm.
const FAST_PER_MINUTE: u32 = 60;

/// What is allowed while limits change. Nobody is thrown out when they fall.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// The limit N in force.
    now: u64,
    /// When the use of the limits was last low enough for a calm room.
    calm_at: Option<Timestamp>,
    /// When the last leases from before the change end.
    leases_end_at: Timestamp,
    /// The visitors allowed inside. Until the last leases end it is the old N, then those already
    /// inside.
    allowed: u64,
    /// Each R, with the moment when the last leases from before it ended.
    rates: VecDeque<(Timestamp, u64)>,
}

impl Limits {
    /// Makes the limits of a room that begins.
    pub(super) fn new(now: Timestamp, settings: &Settings) -> Self {
        let places = u64::from(settings.total_active_users);
        let rates = [(now, u64::from(settings.new_users_per_minute))].into();
        Self { now: places, calm_at: Some(now), leases_end_at: now, allowed: places, rates }
    }

    /// Takes in the used part of the tighter limit.
    pub(super) fn see(&mut self, now: Timestamp, used: f64, settings: &Settings) {
        if used <= CALM && settings.new_users_per_minute >= FAST_PER_MINUTE {
            self.calm_at = Some(now);
        }
    }

    /// Changes the limits while `active` visitors are inside.
    pub(super) fn change(&mut self, now: Timestamp, settings: &Settings, active: u64) {
        let was_calm = self.calm_at.is_some_and(|at| now.since_ms(at) < CALM_LEASES_END_MS);
        let leases_end_ms = if was_calm { CALM_LEASES_END_MS } else { LEASES_END_MS };
        let places = u64::from(settings.total_active_users);
        self.allowed = self.places(now, active).max(places);
        self.now = places;
        let leases_end_at = now + leases_end_ms;
        self.leases_end_at = self.leases_end_at.max(leases_end_at);
        self.rates.push_back((leases_end_at, u64::from(settings.new_users_per_minute)));
    }

    /// Returns how many visitors may be inside.
    pub(super) fn places(&mut self, now: Timestamp, active: u64) -> u64 {
        if now >= self.leases_end_at {
            self.allowed = self.allowed.min(active).max(self.now);
        }
        self.allowed
    }

    /// Returns how many visitors may have been admitted in the last 60 s.
    pub(super) fn rate(&mut self, now: Timestamp) -> u64 {
        while self.rates.get(1).is_some_and(|(end, _)| now >= *end + MINUTE_MS) {
            self.rates.pop_front();
        }
        self.rates.iter().map(|(_, rate)| *rate).max().unwrap_or(0)
    }
}
