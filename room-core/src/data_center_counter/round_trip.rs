//! How long an answer from above usually takes, and hence when to ask again. Sends nothing.

/// Before the first answer, and at most: more than a round trip takes (`admission.md` section 7:
/// 60 to 250 ms), less than a call may.
pub(super) const LONGEST_MS: u64 = 400;
/// No answer is called late sooner.
const SHORTEST_MS: u64 = 50;

/// The retransmission timer of RFC 6298, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrip(Option<Smoothed>);

#[derive(Clone, Copy, Debug)]
struct Smoothed {
    mean_ms: f64,
    deviation_ms: f64,
}

impl RoundTrip {
    /// An answer came so long after its question, which was sent once: of two it would not be
    /// known which one was answered.
    pub(super) fn note(&mut self, took_ms: u64) {
        let took_ms = took_ms as f64;
        let before = self.0.unwrap_or(Smoothed { mean_ms: took_ms, deviation_ms: took_ms / 2.0 });
        let off_ms = (took_ms - before.mean_ms).abs();
        self.0 = Some(Smoothed {
            mean_ms: before.mean_ms + (took_ms - before.mean_ms) / 8.0,
            deviation_ms: before.deviation_ms + (off_ms - before.deviation_ms) / 4.0,
        });
    }

    /// How long to wait for an answer before asking again.
    pub(super) fn again_after_ms(self) -> u64 {
        let Some(Smoothed { mean_ms, deviation_ms }) = self.0 else { return LONGEST_MS };
        ((mean_ms + 4.0 * deviation_ms) as u64).clamp(SHORTEST_MS, LONGEST_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::RoundTrip;

    #[test]
    fn an_answer_is_late_when_it_takes_longer_than_usual() {
        let check = |took_ms: &[u64], want: std::ops::RangeInclusive<u64>| {
            let mut round_trip = RoundTrip::default();
            for _ in 0..20 {
                for took_ms in took_ms {
                    round_trip.note(*took_ms);
                }
            }
            let got = round_trip.again_after_ms();
            assert!(want.contains(&got), "{took_ms:?}: {got}");
        };
        check(&[], 400..=400);
        check(&[100], 100..=103);
        check(&[95, 105], 115..=125);
        check(&[60, 140], 200..=280);
        check(&[3], 50..=50);
        check(&[2_000], 400..=400);
    }

    #[test]
    fn one_answer_is_not_trusted_much() {
        let mut round_trip = RoundTrip::default();
        round_trip.note(100);
        // The deviation of the first is half of it, less a quarter after the first look.
        assert_eq!(round_trip.again_after_ms(), 250);
    }
}
