//! How many of a plan's visitors are played, and how their figures become those of all.
//!
//! One of `k` visitors comes, to a room of a `k`-th. Waits stay the same: the line is `k` times
//! shorter, and moves `k` times more slowly. `room-sim/tests/sample.rs` measures how far it is off.

use room_core::room::settings::Settings;

use crate::measure::Cost;

/// So many visitors are played by default, where the limits allow it: some ten seconds of a
/// processor.
const PLAYED: f64 = 100_000.0;
/// The smallest limits of a sample. Smaller rooms differ by chance, and what is lost by rounding
/// would be more than a three-hundredth.
const PLACES_MIN: u32 = 1_000;
const PER_MINUTE_MIN: u32 = 300;

/// One of how many visitors is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OneIn(u32);

impl OneIn {
    /// Everybody is played.
    pub const ALL: Self = Self(1);

    /// What is wrong with a sample that is too small.
    pub const WRONG: &str = "must be 1 to play everybody, or leave 1,000 places and 300 entries a \
                             minute";

    /// One of so many; `None` if the room would be too small.
    pub fn exactly(one_in: u32, settings: &Settings) -> Option<Self> {
        let sample = Self(one_in);
        sample.is_large_enough(settings).then_some(sample)
    }

    /// The largest sample of at most [`PLAYED`] visitors. Where the room would be too small for it,
    /// the smallest sample that is not.
    pub fn of(visitors: f64, settings: &Settings) -> Self {
        let wanted = (visitors / PLAYED).ceil().max(1.0) as u32;
        let sizes = (1..=wanted).rev().map(Self);
        sizes.into_iter().find(|one| one.is_large_enough(settings)).unwrap_or(Self::ALL)
    }

    fn is_large_enough(self, settings: &Settings) -> bool {
        let Self(one_in) = self;
        let has = |limit: u32, min: u32| limit.checked_div(one_in) >= Some(min);
        one_in == 1
            || has(settings.total_active_users, PLACES_MIN)
                && has(settings.new_users_per_minute, PER_MINUTE_MIN)
    }

    /// Returns the settings of the smaller room.
    pub fn room(self, settings: &Settings) -> Settings {
        let part = |limit: u32| limit.checked_div(self.0).unwrap_or(limit);
        Settings {
            total_active_users: part(settings.total_active_users),
            new_users_per_minute: part(settings.new_users_per_minute),
            ..settings.clone()
        }
    }

    /// Returns how many isolates so many are in the sample: each has as much to do.
    pub fn isolates(self, isolates: usize) -> usize {
        isolates.checked_div(self.0 as usize).unwrap_or(isolates).max(1)
    }

    /// Returns one of how many is played.
    pub fn get(self) -> u32 {
        self.0
    }

    /// Returns how many visitors so many of the sample stand for.
    pub fn all(self, played: u64) -> u64 {
        played.saturating_mul(u64::from(self.0))
    }

    /// As [`OneIn::all`], for visitors of one moment.
    pub fn all_now(self, played: u32) -> u32 {
        played.saturating_mul(self.0)
    }

    /// Returns the cost of all. Visits, and the calls that isolates make for them, grow with the
    /// visitors. Calls of data centers at the global object and the registry grow with the time,
    /// and so does the time awake.
    pub fn cost(self, played: Cost) -> Cost {
        let by_visits = played.calls.saturating_sub(played.global_calls);
        Cost {
            page_views: self.all(played.page_views),
            entries: self.all(played.entries),
            calls: self.all(by_visits).saturating_add(played.global_calls),
            entry_calls: self.all(played.entry_calls),
            ..played
        }
    }
}
