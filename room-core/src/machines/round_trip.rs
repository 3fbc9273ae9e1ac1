//! How long an object usually takes to answer, and so when a call to it is repeated.

/// The retransmission timer of RFC 6298: a smoothed round-trip time and its deviation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrip(Option<Smoothed>);

#[derive(Clone, Copy, Debug)]
struct Smoothed {
    mean_ms: f64,
    deviation_ms: f64,
}

impl RoundTrip {
    /// Takes in how long an answer took. Only for messages that were sent once: after a repetition
    /// it is not known which sending was answered.
    pub(super) fn note(&mut self, took_ms: u64) {
        let took_ms = took_ms as f64;
        let before = self.0.unwrap_or(Smoothed { mean_ms: took_ms, deviation_ms: took_ms / 2.0 });
        let off_ms = (took_ms - before.mean_ms).abs();
        self.0 = Some(Smoothed {
            mean_ms: before.mean_ms + (took_ms - before.mean_ms) / 8.0,
            deviation_ms: before.deviation_ms + (off_ms - before.deviation_ms) / 4.0,
        });
    }

    /// Returns the time in milliseconds by which an answer has usually come: the mean plus
    /// `deviations` mean deviations. `None` before anything was measured.
    pub(super) fn usually_within_ms(self, deviations: f64) -> Option<u64> {
        self.0.map(|usual| (usual.mean_ms + deviations * usual.deviation_ms) as u64)
    }

    /// Whether an answer that comes `after_ms` after a repetition must belong to the first sending.
    pub(super) fn is_too_soon(self, after_ms: u64) -> bool {
        self.0.is_some_and(|usual| (after_ms as f64) < usual.mean_ms / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use super::RoundTrip;

    #[test]
    fn an_answer_is_late_when_it_takes_longer_than_usual() {
        let check = |took_ms: &[u64], deviations: f64, want: RangeInclusive<u64>| {
            let mut round_trip = RoundTrip::default();
            for _ in 0..20 {
                for took_ms in took_ms {
                    round_trip.note(*took_ms);
                }
            }
            let got = round_trip.usually_within_ms(deviations).unwrap();
            assert!(want.contains(&got), "{took_ms:?} {deviations}: {got}");
        };
        check(&[100], 4.0, 100..=103);
        check(&[100], 1.0, 100..=101);
        check(&[95, 105], 4.0, 115..=125);
        check(&[60, 140], 4.0, 200..=280);
        check(&[60, 140], 1.0, 120..=160);
        check(&[3], 4.0, 3..=3);
        assert_eq!(RoundTrip::default().usually_within_ms(4.0), None);
    }

    #[test]
    fn one_answer_is_not_trusted_much() {
        let mut round_trip = RoundTrip::default();
        round_trip.note(100);
        // The deviation of the first is half of it, less a quarter after the first look.
        assert_eq!(round_trip.usually_within_ms(4.0), Some(250));
    }

    #[test]
    fn an_answer_sooner_than_half_a_round_trip_is_that_of_the_first_sending() {
        let mut round_trip = RoundTrip::default();
        assert!(!round_trip.is_too_soon(0));
        round_trip.note(100);
        assert!(round_trip.is_too_soon(49));
        assert!(!round_trip.is_too_soon(50));
    }
}
