//! I11: a session that an origin ends frees one place, once, whoever says so and however often, and
//! its ticket is void everywhere.

use proptest::collection::vec;
use proptest::prelude::{any, proptest};
use room_core::room::settings::Settings;

use crate::cluster::Cluster;
use crate::counting::wide;
use crate::escrow::{config, rooms};
use crate::steps::steps_with_revocations;

/// Long enough for reports, syncs, rows, and the views that tell everybody.
const SETTLED_TICKS: u64 = 100;

/// A room of three data centers with so many visitors inside, each of another isolate.
fn inside(visitors: usize) -> Cluster {
    let mut cluster = Cluster::new(wide(), 3);
    for isolate in 0..visitors {
        cluster.arrive(isolate);
    }
    cluster.run(SETTLED_TICKS, 100);
    assert_eq!(cluster.counted(), visitors as u64);
    cluster
}

proptest! {
    #![proptest_config(config())]

    /// Several answers end the same session, in one data center or in several: one place is free.
    #[test]
    fn i11_revoked_by_many_frees_one_place(
        others in 1..6_usize,
        isolates in vec(0..6_usize, 1..8),
        moved_ms in 0..50_000_u64,
        pauses in any::<bool>(),
    ) {
        let mut cluster = inside(others + 1);
        cluster.run(1, moved_ms);
        // All in one bucket: whatever is freed too much is another visitor's place.
        for visitor in 0..=others {
            cluster.come_back(visitor, 4, 0);
        }
        cluster.run(SETTLED_TICKS, 50);
        let others = cluster.truth.live(cluster.now) - 1;
        let cookies = cluster.visitors[0].cookies.clone();
        for isolate in isolates {
            cluster.visitors[0].cookies.clone_from(&cookies);
            cluster.revoke(0, isolate, 0);
            if pauses {
                cluster.run(SETTLED_TICKS, 50);
            }
        }
        cluster.run(SETTLED_TICKS, 50);
        let still = cluster.truth.live(cluster.now).min(others);
        assert_eq!(cluster.counted(), still);
        // Nothing is freed a second time when the session would have ended by itself.
        cluster.run(90, 1_000);
        assert_eq!(cluster.counted(), 0);
    }

    /// No fault makes a revocation free more than one place. Sessions outlast the minute of the
    /// rate, or that would hide a place too many.
    #[test]
    fn i11_no_fault_frees_two_places(settings in rooms(), steps in steps_with_revocations(60)) {
        let settings = Settings {
            session_duration_minutes: 3,
            disable_session_renewal: true,
            ..settings
        };
        let mut cluster = Cluster::new(settings, 2);
        cluster.play_to_the_end(&steps);
    }
}

/// A copy of the cookie is worth nothing: at once where the session ended, and in the other data
/// centers as soon as they have heard.
#[test]
fn i11_a_copy_of_the_ticket_is_void_everywhere() {
    let mut cluster = inside(6);
    let ticket = cluster.revoke(0, 0, 0).expect("a visitor inside");
    assert!(cluster.isolates[0].machine.is_revoked(&ticket));
    assert!(!cluster.isolates[5].machine.is_revoked(&ticket));
    cluster.run(SETTLED_TICKS, 100);
    for isolate in 0..6 {
        // Whoever comes brings the newest view.
        cluster.arrive(isolate);
        cluster.run(10, 100);
        assert!(cluster.isolates[isolate].machine.is_revoked(&ticket), "isolate {isolate}");
    }
}
