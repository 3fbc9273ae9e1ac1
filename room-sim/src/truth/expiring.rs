//! A count of things that each end at a known moment. It knows nothing of visitors.

use std::collections::VecDeque;

use room_core::base::time::Timestamp;

/// Counts what has not ended yet, exact to a width in milliseconds: sessions, or waits.
#[derive(Clone, Debug)]
pub struct Expiring {
    width_ms: u64,
    /// The first end that is still ahead, in widths since the epoch.
    first: u64,
    ends: VecDeque<u32>,
    live: u64,
}

impl Expiring {
    /// Makes an empty count that begins at `start`. Ends are rounded up to whole `width_ms`.
    pub fn new(start: Timestamp, width_ms: u64) -> Self {
        Self { width_ms, first: start.0 / width_ms + 1, ends: VecDeque::new(), live: 0 }
    }

    /// Adds one until `end`. One that has ended changes nothing.
    pub fn add(&mut self, end: Timestamp) {
        let Some(index) = self.index(end) else { return };
        if index >= self.ends.len() {
            self.ends.resize(index + 1, 0);
        }
        if let Some(count) = self.ends.get_mut(index) {
            *count += 1;
            self.live += 1;
        }
    }

    /// Removes one that was added with this end, if it has not ended.
    pub fn remove(&mut self, end: Timestamp) {
        let index = self.index(end);
        if let Some(count) = index.and_then(|index| self.ends.get_mut(index))
            && *count > 0
        {
            *count -= 1;
            self.live -= 1;
        }
    }

    /// Counts what has not ended at `now`. `now` never goes back.
    pub fn live(&mut self, now: Timestamp) -> u64 {
        while self.first * self.width_ms <= now.0 {
            self.first += 1;
            self.live -= self.ends.pop_front().map_or(0, u64::from);
        }
        self.live
    }

    fn index(&self, end: Timestamp) -> Option<usize> {
        let index = end.0.div_ceil(self.width_ms).checked_sub(self.first)?;
        usize::try_from(index).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Expiring;
    use room_core::base::time::Timestamp;

    #[test]
    fn each_lives_until_its_end() {
        let mut counts = Expiring::new(Timestamp(100), 1);
        for end in [90, 100, 105, 105, 300] {
            counts.add(Timestamp(end));
        }
        counts.remove(Timestamp(300));
        counts.remove(Timestamp(301));
        let mut check = |now: u64, want: u64| {
            assert_eq!(counts.live(Timestamp(now)), want, "{now}");
        };
        check(100, 2);
        check(104, 2);
        check(105, 0);
        check(1_000, 0);
    }

    #[test]
    fn ends_are_rounded_up_to_the_width() {
        let mut counts = Expiring::new(Timestamp(5_500), 1_000);
        counts.add(Timestamp(6_001));
        assert_eq!(counts.live(Timestamp(6_999)), 1);
        assert_eq!(counts.live(Timestamp(7_000)), 0);
    }
}
