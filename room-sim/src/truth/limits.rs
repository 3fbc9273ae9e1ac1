//! What is allowed at a moment while the limits of a room change. Knows no visitor.

use std::collections::VecDeque;

use room_core::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use room_core::room::settings::Settings;

/// After a limit has fallen, slots that were handed out under the old one may still be used.
const LEASES_END_MS: u64 = 5 * SECOND_MS;
/// The same where the room may have been calm: leases are longer then, and end when their holder
/// hears of the change. At most this part of the limits was used then.
const CALM_LEASES_END_MS: u64 = 82 * SECOND_MS;
const CALM: f64 = 0.7;
/// From this R on a room may be calm.
const FAST_PER_MINUTE: u32 = 60;

/// What is allowed at a moment, while limits change: nobody is thrown out when they fall.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// The limit N in force.
    now: u64,
    /// When so little of them was last used that the room may have been calm.
    calm_at: Option<Timestamp>,
    /// When the last leases end that were given before the limits changed.
    leases_end_at: Timestamp,
    /// Until the last leases end the old N counts, then those who are inside already.
    allowed: u64,
    /// R, and when the last leases ended that were given before it was in force.
    rates: VecDeque<(Timestamp, u64)>,
}

impl Limits {
    /// Those of a room that begins.
    pub(super) fn new(now: Timestamp, settings: &Settings) -> Self {
        let places = u64::from(settings.total_active_users);
        let rates = [(now, u64::from(settings.new_users_per_minute))].into();
        Self { now: places, calm_at: Some(now), leases_end_at: now, allowed: places, rates }
    }

    /// This part of the tighter limit is used.
    pub(super) fn see(&mut self, now: Timestamp, used: f64, settings: &Settings) {
        if used <= CALM && settings.new_users_per_minute >= FAST_PER_MINUTE {
            self.calm_at = Some(now);
        }
    }

    /// They change while so many are inside.
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

    /// How many may be inside.
    pub(super) fn places(&mut self, now: Timestamp, active: u64) -> u64 {
        if now >= self.leases_end_at {
            self.allowed = self.allowed.min(active).max(self.now);
        }
        self.allowed
    }

    /// How many may have been admitted in the last 60 s.
    pub(super) fn rate(&mut self, now: Timestamp) -> u64 {
        while self.rates.get(1).is_some_and(|(end, _)| now >= *end + MINUTE_MS) {
            self.rates.pop_front();
        }
        self.rates.iter().map(|(_, rate)| *rate).max().unwrap_or(0)
    }
}
