//! What is allowed at a moment, also while the limits of a room change. It knows no visitor.

use std::collections::VecDeque;

use room_core::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use room_core::capacity::slots::{ANSWER_MS, LEASE_MS};
use room_core::room::settings::Settings;

/// How long a slot may be used, in milliseconds since it was granted: its lease, and the answer
/// with it.
pub const SLOTS_END_MS: u64 = LEASE_MS + ANSWER_MS;
/// The same if the room may have been calm, in milliseconds. Its leases are longer, and end when
/// their holder hears of the change. The constant after it is the largest part of the limits that a
/// calm room used.
const CALM_SLOTS_END_MS: u64 = 79 * SECOND_MS + ANSWER_MS;
const CALM: f64 = 0.7;
/// The R from which on a room may be calm.
const FAST_PER_MINUTE: u32 = 60;

/// Who entered in the last minute, and what is allowed while limits change. Nobody is thrown out
/// when they fall.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The limit N in force.
    now: u64,
    /// When the use of the limits was last low enough for a calm room.
    calm_at: Option<Timestamp>,
    /// When the last slots from before the change end.
    slots_end_at: Timestamp,
    /// The visitors allowed inside. Until the last slots end it is the old N, then those already
    /// inside.
    allowed: u64,
    /// Each R, with the moment when the last slots from before it ended.
    rates: VecDeque<(Timestamp, u64)>,
    last_minute: VecDeque<Timestamp>,
}

impl Limits {
    /// Makes the limits of a room that begins.
    pub fn new(now: Timestamp, settings: &Settings) -> Self {
        let (places, rate) = limits(settings);
        Self {
            now: places,
            calm_at: Some(now),
            slots_end_at: now,
            allowed: places,
            rates: [(now, rate)].into(),
            last_minute: VecDeque::new(),
        }
    }

    /// Takes in the used part of the tighter limit.
    pub fn see(&mut self, now: Timestamp, used: f64, settings: &Settings) {
        if used <= CALM && settings.new_users_per_minute >= FAST_PER_MINUTE {
            self.calm_at = Some(now);
        }
    }

    /// Changes the limits while `active` visitors are inside.
    pub fn change(&mut self, now: Timestamp, settings: &Settings, active: u64) {
        let was_calm = self.calm_at.is_some_and(|at| now.since_ms(at) < CALM_SLOTS_END_MS);
        let slots_end_ms = if was_calm { CALM_SLOTS_END_MS } else { SLOTS_END_MS };
        let (places, rate) = limits(settings);
        self.allowed = self.places(now, active).max(places);
        self.now = places;
        let slots_end_at = now + slots_end_ms;
        self.slots_end_at = self.slots_end_at.max(slots_end_at);
        self.rates.push_back((slots_end_at, rate));
    }

    /// Counts an entry, which the room books at `booked_at`. Returns how many entries beyond R
    /// there are in the 60 s before `now`.
    pub fn enter(&mut self, now: Timestamp, booked_at: Timestamp) -> u64 {
        self.last_minute.push_back(booked_at);
        self.entered(now).saturating_sub(self.rate(now))
    }

    /// Returns how many entered in the 60 s before `now`. `now` never goes back.
    pub fn entered(&mut self, now: Timestamp) -> u64 {
        while self.last_minute.front().is_some_and(|at| now.since_ms(*at) >= MINUTE_MS) {
            self.last_minute.pop_front();
        }
        self.last_minute.len() as u64
    }

    /// Makes all entries count as `by_ms` milliseconds earlier.
    pub fn shift(&mut self, by_ms: u64) {
        self.last_minute.iter_mut().for_each(|at| *at = *at - by_ms);
    }

    /// Returns how many of the `active` visitors inside are beyond N.
    pub fn over(&mut self, now: Timestamp, active: u64) -> u64 {
        active.saturating_sub(self.places(now, active))
    }

    /// Returns how many visitors may be inside.
    fn places(&mut self, now: Timestamp, active: u64) -> u64 {
        if now >= self.slots_end_at {
            self.allowed = self.allowed.min(active).max(self.now);
        }
        self.allowed
    }

    /// Returns how many visitors may have been admitted in the last 60 s.
    pub fn rate(&mut self, now: Timestamp) -> u64 {
        while self.rates.get(1).is_some_and(|(end, _)| now >= *end + MINUTE_MS) {
            self.rates.pop_front();
        }
        self.rates.iter().map(|(_, rate)| *rate).max().unwrap_or(0)
    }
}

/// Returns N and R. They bind nobody while everybody is admitted.
pub(crate) fn limits(settings: &Settings) -> (u64, u64) {
    if settings.admits_everybody() {
        return (u64::MAX, u64::MAX);
    }
    (u64::from(settings.total_active_users), u64::from(settings.new_users_per_minute))
}

#[cfg(test)]
mod tests {
    use super::{CALM_SLOTS_END_MS, Limits, SLOTS_END_MS};
    use room_core::base::time::Timestamp;
    use room_core::room::settings::Settings;

    #[test]
    fn a_fallen_limit_binds_when_the_last_slots_end() {
        let check = |used: f64, after_ms: u64, want: u64| {
            let (start, now) = (Timestamp(600_000), Timestamp(900_000));
            let mut limits = Limits::new(start, &Settings::with_limits(10, 100));
            limits.see(now, used, &Settings::with_limits(10, 100));
            limits.change(now, &Settings::with_limits(2, 100), 10);
            assert_eq!(limits.over(now + after_ms, 4), 0, "those inside may stay");
            assert_eq!(limits.over(now + after_ms, 5), want, "{used}, {after_ms}");
        };
        check(1.0, SLOTS_END_MS - 1, 0);
        check(1.0, SLOTS_END_MS, 1);
        check(0.5, CALM_SLOTS_END_MS - 1, 0);
        check(0.5, CALM_SLOTS_END_MS, 1);
    }
}
