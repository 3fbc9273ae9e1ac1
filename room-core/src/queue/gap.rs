//! Detects that most of a line has gone silent at once. That is a gap in the reports, and the line
//! stays as it was for a while.
//!
//! If a census without these visitors counted, everybody behind would be called in their places,
//! and the threshold never goes back. A lottery would open the room, and all of them would be
//! called at once when they come back.

use super::{Epoch, EpochCensus, Queue, Round};
use crate::base::time::{MINUTE_MS, SECOND_MS};
use crate::order::order_key::{EPOCH_MS, OrderKey};
use crate::queue::forecast::SETTLED_MS;
use crate::room::settings::Settings;

/// Multiple of the usual rate of giving up above which a census is doubted.
const TIMES_AS_MANY: f64 = 5.0;
/// How many more visitors may leave in any case: single visitors of a short line.
const FEW: f64 = 4.0;

impl Queue {
    /// Whether the census of `epoch` is to be doubted: more visitors who had waited for a minute
    /// are missing than can have left. It is then not taken over, for a minute and a refresh
    /// interval at most.
    ///
    /// `entered` have entered since the census before. `give_up_per_s` is the share of such
    /// visitors per second who give up.
    pub fn doubts(
        &mut self,
        settings: &Settings,
        epoch: Epoch,
        waiters: &EpochCensus,
        entered: u64,
        give_up_per_s: f64,
    ) -> bool {
        if self.open || !self.lacks_many(settings, epoch, waiters, entered, give_up_per_s) {
            self.doubted = None;
            return false;
        }
        let doubted = *self.doubted.get_or_insert(epoch);
        let kept_ms = MINUTE_MS + settings.longest_refresh_ms();
        epoch.middle().since_ms(doubted.middle()) <= kept_ms
    }

    fn lacks_many(
        &self,
        settings: &Settings,
        epoch: Epoch,
        waiters: &EpochCensus,
        entered: u64,
        give_up_per_s: f64,
    ) -> bool {
        // The places of a lottery change with each round: there only the sums can be compared.
        let (settled, beside) = match Round::of(self.threshold) {
            None => (OrderKey::fifo(self.reported.start() - SETTLED_MS), 0),
            Some(_) => (OrderKey(u64::MAX), self.beside),
        };
        let before = (self.waiting_up_to(settled) + beside) as f64;
        let up_to = waiters.iter().take_while(|(key, _)| **key <= settled);
        let still: u64 = up_to.map(|(_, count)| u64::from(*count)).sum();
        let passed_ms = epoch.middle().since_ms(self.reported.middle());
        let expected = TIMES_AS_MANY * give_up_per_s * before * passed_ms as f64 / SECOND_MS as f64;
        // Where all are silent, such a part of them is missing in each epoch; half of it is enough.
        let refresh_ms = u64::from(settings.refresh_interval_s) * SECOND_MS;
        let part = (EPOCH_MS as f64 / refresh_ms as f64 / 2.0).min(0.5);
        before - still as f64 - entered as f64 > expected + part * before + FEW
    }
}

#[cfg(test)]
mod tests {
    use super::{Epoch, EpochCensus, OrderKey, Queue, Round, SETTLED_MS, Settings};
    use crate::base::time::Timestamp;
    use crate::room::settings::QueueingMethod;

    const CLOSED_AT: Timestamp = Timestamp(1_000);
    const EPOCH: u64 = 40;

    fn line(count: u64) -> EpochCensus {
        (1..=count).map(|key| (OrderKey(1_000 * key), 1)).collect()
    }

    /// A hundred people have waited for more than a minute.
    fn queue() -> Queue {
        let mut queue = Queue::default();
        queue.close(CLOSED_AT, OrderKey(1_000));
        queue.observe(Epoch(EPOCH), &line(100));
        queue
    }

    fn missing(count: usize) -> EpochCensus {
        line(100).into_iter().skip(count).collect()
    }

    #[test]
    fn a_line_that_falls_silent_is_not_gone() {
        let check = |missing_now: usize, entered: u64, give_up_per_s: f64, want: bool| {
            let (mut queue, settings) = (queue(), Settings::for_tests());
            let census = missing(missing_now);
            let next = Epoch(EPOCH + 1);
            let got = queue.doubts(&settings, next, &census, entered, give_up_per_s);
            assert_eq!(got, want, "{missing_now} {entered} {give_up_per_s}");
        };
        check(16, 0, 0.0, false);
        check(17, 0, 0.0, true); // of 20 s between check-ins 5 have passed: 25 would be missing
        check(37, 20, 0.0, true);
        check(36, 20, 0.0, false);
        check(41, 0, 0.01, false); // they give up often here
        check(42, 0, 0.01, true);
    }

    #[test]
    fn whoever_has_waited_for_less_than_a_minute_may_leave_in_any_number() {
        let check = |first_ms: u64, want: bool| {
            let mut queue = Queue::default();
            queue.close(CLOSED_AT, OrderKey(1_000));
            let census = (0..100).map(|key| (OrderKey(first_ms + key), 1)).collect();
            queue.observe(Epoch(EPOCH), &census);
            let next = Epoch(EPOCH + 1);
            let settings = Settings::for_tests();
            let got = queue.doubts(&settings, next, &EpochCensus::new(), 0, 0.0);
            assert_eq!(got, want, "{first_ms}");
        };
        let minute_ago = Epoch(EPOCH).start().0 - SETTLED_MS;
        check(minute_ago - 100, true);
        check(minute_ago + 1, false);
    }

    #[test]
    fn a_lottery_that_falls_silent_is_doubted_whatever_places_its_next_round_gives() {
        let settings =
            Settings { queueing_method: QueueingMethod::Random, ..Settings::for_tests() };
        let check = |still_here: u64, want: bool| {
            let mut queue = queue();
            let now = Epoch(EPOCH).middle();
            queue.turn(now, &settings, 0);
            assert_eq!((queue.line.count(), queue.waiting()), (0, 100));
            let first = Round::at(now).first().0;
            let census = (1..=still_here).map(|place| (OrderKey(first + place), 1)).collect();
            let got = queue.doubts(&settings, Epoch(EPOCH + 1), &census, 0, 0.0);
            assert_eq!(got, want, "{still_here}");
        };
        check(84, false);
        check(83, true);
        check(0, true);
    }

    #[test]
    fn a_line_that_stays_away_is_gone_after_a_minute_and_a_refresh() {
        let (mut queue, settings) = (queue(), Settings::for_tests());
        let mut doubts = |epoch| queue.doubts(&settings, Epoch(epoch), &missing(90), 0, 0.0);
        let last = EPOCH + 1 + 83_000 / 5_000;
        assert!((EPOCH + 1..=last).all(&mut doubts));
        assert!(!doubts(last + 1));
    }

    #[test]
    fn a_line_that_comes_back_is_believed_at_once_and_doubted_anew() {
        let (mut queue, settings) = (queue(), Settings::for_tests());
        let mut doubts =
            |epoch, away| queue.doubts(&settings, Epoch(epoch), &missing(away), 0, 0.0);
        assert!(doubts(EPOCH + 1, 90));
        assert!(!doubts(EPOCH + 2, 0));
        assert!(doubts(EPOCH + 30, 90));
    }

    #[test]
    fn an_open_room_and_a_short_line_are_what_the_census_says() {
        let settings = Settings::for_tests();
        let mut open = Queue::default();
        open.observe(Epoch(EPOCH), &line(100));
        assert!(!open.doubts(&settings, Epoch(EPOCH + 1), &missing(100), 0, 0.0));
        let mut short = Queue::default();
        short.close(CLOSED_AT, OrderKey(1_000));
        short.observe(Epoch(EPOCH), &line(4));
        assert!(!short.doubts(&settings, Epoch(EPOCH + 1), &EpochCensus::new(), 0, 0.0));
    }
}
