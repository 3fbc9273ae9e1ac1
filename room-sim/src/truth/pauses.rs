//! How long nobody enters after a restart although a place is free. It knows no visitor.

use room_core::base::time::{SECOND_MS, Timestamp};

/// How long after a restart a pause may begin because of it, in milliseconds.
const RESTART_MS: u64 = 30 * SECOND_MS;

/// Which objects lost their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// The global aggregator.
    Global,
    /// The counters and aggregators of data centers.
    DataCenters,
    /// Everything including the isolates: new code.
    Deploy,
}

/// The longest pause after each kind of restart.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pauses {
    last: Option<(Restart, Timestamp)>,
    global_ms: u64,
    data_centers_ms: u64,
    deploy_ms: u64,
    /// The longest pause that began later than that, as the usual one.
    pub(crate) usual_ms: u64,
}

impl Pauses {
    /// Notes that objects lose their memory. If all do in one moment, it is a deploy.
    pub(crate) fn restart(&mut self, now: Timestamp, kind: Restart) {
        let others = self.last.is_some_and(|(last, at)| at == now && last != kind);
        self.last = Some((if others { Restart::Deploy } else { kind }, now));
    }

    /// Notes that nobody has entered since `free_since`, although a place was free for somebody who
    /// waited.
    pub(crate) fn note(&mut self, free_since: Timestamp, now: Timestamp) {
        let Some((kind, at)) = self.last else { return };
        let since = free_since.max(at);
        let longest = match kind {
            _ if since > at + RESTART_MS => &mut self.usual_ms,
            Restart::Global => &mut self.global_ms,
            Restart::DataCenters => &mut self.data_centers_ms,
            Restart::Deploy => &mut self.deploy_ms,
        };
        *longest = (*longest).max(now.since_ms(since));
    }

    /// Returns the longest pause after this kind of restart, in milliseconds; 0 if there was none.
    pub(crate) fn longest_ms(&self, kind: Restart) -> u64 {
        match kind {
            Restart::Global => self.global_ms,
            Restart::DataCenters => self.data_centers_ms,
            Restart::Deploy => self.deploy_ms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Pauses, Restart};
    use room_core::base::time::Timestamp;

    #[test]
    fn a_pause_belongs_to_the_restart_before_it() {
        let mut pauses = Pauses::default();
        pauses.note(Timestamp(0), Timestamp(9_000));
        pauses.restart(Timestamp(10_000), Restart::Global);
        pauses.note(Timestamp(5_000), Timestamp(13_000));
        pauses.note(Timestamp(20_000), Timestamp(22_000));
        pauses.note(Timestamp(40_001), Timestamp(90_000)); // too late for it
        pauses.restart(Timestamp(100_000), Restart::DataCenters);
        pauses.note(Timestamp(101_000), Timestamp(102_000));
        pauses.restart(Timestamp(200_000), Restart::DataCenters);
        pauses.restart(Timestamp(200_000), Restart::Global);
        pauses.note(Timestamp(200_000), Timestamp(204_000));
        let kinds = [Restart::Global, Restart::DataCenters, Restart::Deploy];
        assert_eq!(kinds.map(|kind| pauses.longest_ms(kind)), [3_000, 1_000, 4_000]);
        assert_eq!(pauses.usual_ms, 49_999);
    }
}
