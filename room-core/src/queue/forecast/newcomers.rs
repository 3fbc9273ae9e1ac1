//! How many newcomers leave as soon as they see the queue page. They count in the line until their
//! first check-in is missing, although nobody waits for them.

use super::{Frequency, RetentionModel};
use crate::base::time::SECOND_MS;
use crate::order::census::Epoch;
use crate::order::order_key::{EPOCH_MS, OrderKey};
use crate::queue::Queue;
use crate::room::settings::Settings;

/// Assumed newcomers before anything is measured, and how many of them left: one in ten.
pub(super) const UNSEEN: Frequency = Frequency { chances: 40.0, events: 4.0 };

impl RetentionModel {
    /// Learns from a line's newest census how many newcomers came to their first check-in, of those
    /// for whom it has just been due. `joined_in` gives the joins of a second.
    pub fn see_newcomers(
        &mut self,
        settings: &Settings,
        queue: &Queue,
        joined_in: impl Fn(u64) -> u64,
    ) {
        let Some(came) = came_in(settings, queue.reported()) else { return };
        let before = |epoch: Epoch| OrderKey(epoch.start().0.saturating_sub(1));
        let (first, last) = (before(came), before(Epoch(came.0 + 1)));
        // Of a part of the line that has been called some have entered.
        let is_whole = !queue.is_open() && queue.closed_at() <= came.start();
        if !settings.orders_by_time(came.start()) || !is_whole || queue.threshold() > first {
            return;
        }
        let seconds = came.start().seconds()..came.end().seconds();
        let joined = seconds.map(joined_in).sum::<u64>() as f64;
        let still = queue.waiting_up_to(last).saturating_sub(queue.waiting_up_to(first));
        self.leaves_at_once.chances += joined;
        self.leaves_at_once.events += (joined - still as f64).max(0.0);
    }

    /// Returns how many newcomers per thousand leave at once, as measured so far.
    pub fn leaves_at_once_per_1000(&self) -> u64 {
        let Frequency { chances, events } = self.leaves_at_once;
        let part = (events + UNSEEN.events) / (chances + UNSEEN.chances);
        (part.clamp(0.0, 1.0) * 1_000.0).round() as u64
    }
}

/// Returns the newest epoch of joins whose first check-ins were all due by the middle of the
/// `reported` epoch; `None` if there is none.
fn came_in(settings: &Settings, reported: Epoch) -> Option<Epoch> {
    let near_ms = u64::from(settings.near_head_refresh_interval_s) * SECOND_MS;
    let first_ms = near_ms + near_ms / 10 + SECOND_MS;
    let epochs = first_ms.saturating_sub(EPOCH_MS / 2).div_ceil(EPOCH_MS) + 1;
    reported.0.checked_sub(epochs).map(Epoch)
}

#[cfg(test)]
mod tests {
    use super::{Epoch, RetentionModel};
    use crate::base::id::EventId;
    use crate::base::time::Timestamp;
    use crate::order::census::EpochCensus;
    use crate::order::order_key::OrderKey;
    use crate::order::shuffle::{DrawKey, Shuffle};
    use crate::queue::Queue;
    use crate::room::settings::Settings;

    /// A hundred came in the epoch 38, and so many of them wait in epoch 40.
    fn after(still: u64, threshold: u64) -> u64 {
        after_in(&Settings::for_tests(), still, threshold)
    }

    fn after_in(settings: &Settings, still: u64, threshold: u64) -> u64 {
        let mut queue = Queue::default();
        queue.close(Timestamp(100_000), OrderKey(threshold));
        let line: EpochCensus = (0..still).map(|one| (OrderKey(190_000 + one), 1)).collect();
        queue.observe(Epoch(40), &line);
        let mut habits = RetentionModel::default();
        let joined = |second| if (190..195).contains(&second) { 20 } else { 0 };
        habits.see_newcomers(settings, &queue, joined);
        habits.leaves_at_once_per_1000()
    }

    #[test]
    fn newcomers_who_miss_their_first_check_in_have_left_at_once() {
        assert_eq!(RetentionModel::default().leaves_at_once_per_1000(), 100);
        assert_eq!(after(100, 150_000), 29);
        assert_eq!(after(50, 150_000), 386);
        // Of those who have been called some have entered.
        assert_eq!(after(50, 190_000), 100);
    }

    #[test]
    fn a_drawn_place_does_not_tell_who_has_just_joined() {
        let (event, key) = (EventId::from_bytes([1; 16]), DrawKey::from_bytes([7; 32]));
        let draw = |from, until| Shuffle { event, from: Timestamp(from), until, key };
        let check = |(from, until): (u64, u64), want: u64| {
            let shuffles = vec![draw(from, Timestamp(until))];
            let settings = Settings { shuffles, ..Settings::for_tests() };
            assert_eq!(after_in(&settings, 50, 150_000), want, "{from} {until}");
        };
        check((100_000, 190_000), 386);
        check((100_000, 190_001), 100);
        check((192_000, 500_000), 100);
    }
}
