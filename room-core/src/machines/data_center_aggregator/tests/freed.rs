//! Tests of the aggregator in a room with a line: it reports at once that sessions have ended.

use super::{Fixture, NOW, admitted, report};
use crate::base::time::SECOND_MS;
use crate::capacity::state::{CLOCK_MS, REPORT_ANSWER_MS, REPORT_MS};
use crate::queue::view::View;

#[test]
fn the_end_of_a_bucket_is_reported_as_soon_as_all_renewals_are_known_if_people_wait_for_it() {
    let check = |open: bool, visitors: u64, want_ms: u64| {
        let mut fixture = Fixture::greeted(&[]);
        // At most 40 a second may be freed by a sync of their own: by 9 of 100,000 places.
        fixture.settings.total_active_users = 100_000;
        let bucket = u32::try_from((NOW + 10 * SECOND_MS).seconds()).unwrap();
        let events: Vec<_> = (0..visitors).map(|visitor| admitted(visitor, bucket)).collect();
        fixture.report(&report(1, 1, &events));
        for _ in 0..5 {
            fixture.sync();
            fixture.synced_with(View { open, ..View::default() });
        }
        let turn = fixture.report(&report(2, 1, &[admitted(99, bucket + 300)]));
        assert_eq!(turn.wake_at, Some(NOW + want_ms), "{open} {visitors}");
        fixture.now = NOW + want_ms;
        let turn = fixture.machine.on_alarm(fixture.now, &fixture.settings);
        let told_until = turn.send.and_then(|sync| sync.contribution.told_until);
        assert!(told_until >= Some(NOW + 10 * SECOND_MS), "{open} {visitors}: {told_until:?}");
        // Once is enough.
        fixture.synced_with(View { open, ..View::default() });
        let turn = fixture.report(&report(2, 2, &[admitted(98, bucket + 300)]));
        assert_eq!((turn.send, turn.wake_at), (None, Some(fixture.now + 2 * SECOND_MS)));
    };
    let known_ms = 10 * SECOND_MS + REPORT_MS + REPORT_ANSWER_MS + CLOCK_MS;
    check(false, 9, known_ms);
    check(false, 8, 12 * SECOND_MS);
    check(true, 9, 12 * SECOND_MS);
}
