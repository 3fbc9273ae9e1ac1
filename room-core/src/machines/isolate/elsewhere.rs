//! Which other data centers' counters do not answer an isolate. Waiting tickets from there ask the
//! counters here.

use crate::base::id::Colo;
use crate::base::sorted::SortedMap;
use crate::base::time::{MINUTE_MS, Timestamp};

/// How many questions in a row must stay unanswered before counters count as silent. A single one
/// can get lost.
const IN_VAIN: u32 = 2;
/// How long another data center's silent counters are not asked, in milliseconds.
const SILENT_MS: u64 = MINUTE_MS;

/// Data centers whose last answer is missing: the number of timeouts in a row, and the last one's
/// time.
#[derive(Clone, Debug, Default)]
pub(super) struct Elsewhere(SortedMap<Colo, (u32, Timestamp)>);

impl Elsewhere {
    /// Notes that a counter of this data center was asked, and whether it answered.
    pub(super) fn note(&mut self, now: Timestamp, colo: Colo, has_answered: bool) {
        if has_answered {
            self.0.remove(&colo);
        } else {
            let (in_vain, at) = self.0.get_or_insert_with(colo, || (0, now));
            (*in_vain, *at) = (*in_vain + 1, now);
        }
    }

    /// Whether the counters of this data center count as silent.
    pub(super) fn is_silent(&self, now: Timestamp, colo: Colo) -> bool {
        let is_silent =
            |(in_vain, at): &(u32, Timestamp)| *in_vain >= IN_VAIN && now.since_ms(*at) < SILENT_MS;
        self.0.get(&colo).is_some_and(is_silent)
    }
}

#[cfg(test)]
mod tests {
    use super::{Elsewhere, SILENT_MS};
    use crate::base::id::Colo;
    use crate::base::time::Timestamp;

    #[test]
    fn who_does_not_answer_twice_is_silent_for_a_minute() {
        let check = |answers: &[bool], later_ms: u64, want: bool| {
            let (mut elsewhere, now) = (Elsewhere::default(), Timestamp(1_000_000));
            for has_answered in answers {
                elsewhere.note(now, Colo::UNKNOWN, *has_answered);
            }
            assert_eq!(elsewhere.is_silent(now + later_ms, Colo::UNKNOWN), want, "{answers:?}");
        };
        check(&[], 0, false);
        check(&[false], 0, false);
        check(&[false, true, false], 0, false);
        check(&[false, false], 0, true);
        check(&[false, false], SILENT_MS - 1, true);
        check(&[false, false], SILENT_MS, false);
        check(&[false, false, true], 0, false);
    }
}
