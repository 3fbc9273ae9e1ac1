//! The load of a counter, and how many counters of a data center should share its requests.

use crate::base::rate::Rate;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::machines::wire::Shard;

/// The most calls per second that a counter should get. Up to 500 are possible; the difference is
/// for the time in which isolates have not heard of further counters yet (`docs/algorithm.md`).
const CALLS_PER_S: f64 = 250.0;
/// The most counters that one room has in one data center.
pub const SHARDS_MAX: u16 = 16;
/// Seconds over which the load is averaged, approximately. They are few, since a rush may be over
/// soon.
const LOAD_WINDOW_S: f64 = 0.5;
/// How long fewer counters must have been enough before their number is reduced, in milliseconds.
const CALM_MS: u64 = MINUTE_MS;

/// A counter's measure of its load. From it counter 0 derives how many counters share the requests,
/// assuming that the others get as many calls as itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sharing {
    number: u16,
    of: u16,
    calls: Rate,
    /// Since when fewer counters would be enough.
    calm_since: Option<Timestamp>,
}

impl Sharing {
    /// Returns the state of the counter of this number, which at first takes itself for the only
    /// one.
    pub(super) fn new(number: u16) -> Self {
        Self { number, of: 1, calls: Rate::over_s(LOAD_WINDOW_S), calm_since: None }
    }

    /// Counts a call. More load adds counters at once; less load removes them after a minute.
    pub(super) fn note(&mut self, now: Timestamp) {
        self.calls.add(now);
        let all_per_s = self.calls.per_s(now) * f64::from(self.of);
        let wanted = ((all_per_s / CALLS_PER_S).ceil() as u16).clamp(1, SHARDS_MAX);
        let calm_since = *self.calm_since.get_or_insert(now);
        if wanted >= self.of {
            self.calm_since = None;
        }
        if wanted > self.of || now.since_ms(calm_since) >= CALM_MS {
            self.calls.scale(f64::from(self.of) / f64::from(wanted));
            (self.of, self.calm_since) = (wanted, None);
        }
    }

    /// Returns this counter's number, and how many counters there should be. All but counter 0 give
    /// 0, for "not known".
    pub(super) fn shard(self) -> Shard {
        Shard { number: self.number, of: if self.number == 0 { self.of } else { 0 } }
    }
}

#[cfg(test)]
mod tests {
    use super::{CALM_MS, SHARDS_MAX, Sharing};
    use crate::base::time::Timestamp;

    /// Lets the first counter note its share of `all_per_s` calls per second.
    fn run(sharing: &mut Sharing, from: Timestamp, all_per_s: u64, for_ms: u64) -> Timestamp {
        let mut due = 0.0;
        for passed_ms in 0..for_ms {
            due += all_per_s as f64 / 1_000.0 / f64::from(sharing.of);
            while due >= 1.0 {
                due -= 1.0;
                sharing.note(from + passed_ms);
            }
        }
        from + for_ms
    }

    #[test]
    fn as_many_share_as_the_load_asks_for() {
        let check = |all_per_s: u64, want: std::ops::RangeInclusive<u16>| {
            let mut sharing = Sharing::new(0);
            run(&mut sharing, Timestamp(1_000_000), all_per_s, 5_000);
            assert!(want.contains(&sharing.shard().of), "{all_per_s}: {sharing:?}");
        };
        check(200, 1..=1);
        check(450, 2..=2);
        check(1_000, 4..=6);
        check(1_800, 7..=9);
        check(100_000, SHARDS_MAX..=SHARDS_MAX);
    }

    #[test]
    fn fewer_share_after_a_minute_of_calm() {
        let mut sharing = Sharing::new(0);
        let now = run(&mut sharing, Timestamp(1_000_000), 1_000, 5_000);
        let before = sharing.of;
        let now = run(&mut sharing, now, 100, CALM_MS - 1_000);
        assert_eq!(sharing.of, before);
        run(&mut sharing, now, 100, 10_000);
        assert_eq!(sharing.of, 1);
    }

    #[test]
    fn only_the_first_counter_tells_how_many_there_are() {
        assert_eq!(Sharing::new(0).shard().of, 1);
        assert_eq!(Sharing::new(3).shard().of, 0);
    }
}
