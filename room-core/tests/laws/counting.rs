//! I6, I7, I8: with nothing lost the books say how many are inside and how many wait.

use proptest::collection::vec;
use proptest::prelude::{any, prop_assume, proptest};
use room_core::base::time::Timestamp;
use room_core::room::settings::Settings;
use room_core::ticket::TicketState;

use crate::cluster::{Cluster, ISOLATES_PER_DATA_CENTER};
use crate::escrow::{config, limits};
use crate::steps::{Step, visits};

/// Long enough for every report, sync and row, and for the demand to be forgotten.
fn settle(cluster: &mut Cluster) {
    cluster.run(300, 100);
}

/// A room with room for everybody, so that all who arrive are inside, and everything is told at the
/// full pace: its settings are about to change.
pub fn wide() -> Settings {
    Settings { next_change_at: Some(Timestamp(0)), ..limits(10_000, 10_000) }
}

proptest! {
    #![proptest_config(config())]

    /// I6: whoever roams between data centers, comes back late or early, is counted exactly once.
    #[test]
    fn i6_with_nothing_lost_the_count_is_the_truth(steps in visits(40)) {
        let mut cluster = Cluster::new(wide(), 3);
        for step in &steps {
            let step = match *step {
                Step::Run { ticks, tick_ms } => Step::Run { ticks, tick_ms: tick_ms.min(250) },
                // One request after the other, each with the cookie of the one before.
                Step::ComeBack { visitor, isolate, .. } => {
                    cluster.run(8, 50);
                    Step::ComeBack { visitor, isolate, cookie: 0 }
                }
                ref step => step.clone(),
            };
            cluster.step(&step);
        }
        settle(&mut cluster);
        assert_eq!(cluster.outstanding(), 0);
        assert_eq!(cluster.counted(), cluster.truth.live(cluster.now));
    }

    /// I6: what dies unreported with its isolate is forgotten D + g later.
    #[test]
    fn i6_an_error_is_gone_a_session_later(
        killed in 0..6_usize,
        arrivals in vec(0..6_usize, 1..40),
    ) {
        let mut cluster = Cluster::new(wide(), 3);
        for isolate in arrivals {
            cluster.arrive(isolate);
            cluster.run(1, 30);
        }
        cluster.kill_isolate(killed);
        // A session, a bucket, and for slots that were never reported used the end of their lease.
        cluster.run(90, 1_000);
        cluster.settle_books();
        assert_eq!(cluster.counted(), 0);
        assert_eq!(cluster.outstanding(), 0);
    }

    /// I6: the next request makes good what died unreported with an isolate.
    #[test]
    fn i6_the_next_request_makes_good_what_died_unreported(
        others in 0..5_usize,
        waits_ms in vec(1_000..25_000_u64, 1..4),
        isolate in 0..2_usize,
    ) {
        let mut cluster = Cluster::new(wide(), 3);
        for isolate in 0..=others {
            cluster.arrive(isolate);
        }
        settle(&mut cluster);
        let bucket = cluster.visitors[0].cookies[0].counted_bucket;
        for wait_ms in waits_ms {
            cluster.run(1, wait_ms);
            cluster.come_back(0, isolate, 0);
            cluster.kill_isolate(isolate);
        }
        let lost = cluster.visitors[0].cookies.len();
        cluster.run(1, 1_000);
        cluster.come_back(0, 1 - isolate, 0);
        // Its old bucket is forgotten only once it has expired.
        prop_assume!(bucket.is_live(cluster.now) && cluster.visitors[0].cookies.len() > lost);
        cluster.run(30, 100);
        while cluster.truth.live(cluster.now) > 0 {
            assert_eq!(cluster.counted(), cluster.truth.live(cluster.now), "at {}", cluster.now);
            cluster.run(10, 100);
        }
    }

    /// I7: requests at the same time with one cookie move their visitor once.
    #[test]
    fn i7_concurrent_requests_change_the_sum_as_one_does(
        others in 0..5_usize,
        isolates in vec(0..6_usize, 1..20),
        pause_ms in 1_000..50_000_u64,
    ) {
        let mut cluster = Cluster::new(wide(), 3);
        for isolate in 0..=others {
            cluster.arrive(isolate);
        }
        settle(&mut cluster);
        let before = cluster.counted();
        assert_eq!(before, others as u64 + 1);
        cluster.run(1, pause_ms);
        for isolate in &isolates {
            cluster.come_back(0, *isolate, 0);
            cluster.visitors[0].cookies.truncate(1);
        }
        settle(&mut cluster);
        let data_center = |isolate: &usize| isolate / ISOLATES_PER_DATA_CENTER;
        let mut data_centers: Vec<_> = isolates.iter().map(data_center).collect();
        data_centers.sort_unstable();
        data_centers.dedup();
        let live = cluster.truth.live(cluster.now);
        let once_each = live..live + data_centers.len() as u64;
        assert!(once_each.contains(&cluster.counted()), "{} of {live}", cluster.counted());
        cluster.run(70, 1_000);
        assert_eq!(cluster.counted(), 0);
    }

    /// I8: the line is as long as those who wait and stay; ghosts leave it by themselves.
    ///
    /// Where turns are kept they leave it so much later, and not at all before.
    #[test]
    fn i8_the_census_counts_those_who_wait(
        arrivals in vec((0..6_usize, 0..4_u64, any::<bool>()), 1..60),
        turn_kept_minutes in 0..=2_u8,
    ) {
        let settings = Settings { turn_kept_minutes, ..limits(1, 1) };
        let mut cluster = Cluster::new(settings, 3);
        cluster.arrive(0);
        cluster.run(10, 100);
        for (isolate, ticks, stays) in arrivals {
            cluster.arrive(isolate);
            cluster.run(ticks, 50);
            if let Some(visitor) = cluster.visitors.last_mut() {
                visitor.stays = stays;
            }
        }
        cluster.run(10, 100);
        // Two tabs of one browser are one visitor.
        for visitor in 1..cluster.visitors.len().min(5) {
            cluster.come_back(visitor, visitor, 0);
        }
        cluster.run(140, 250);
        if turn_kept_minutes > 0 {
            // And for so long it is not believed that a line has left as a whole.
            cluster.run(240 * u64::from(turn_kept_minutes) + 360, 250);
            // Whoever is about to enter, or has just entered, counts and does not for a moment.
            let mut entered = 0;
            while entered < cluster.truth.admitted() || cluster.outstanding() > 0 {
                entered = cluster.truth.admitted();
                cluster.run(80, 250);
            }
        }
        let stays = cluster.visitors.iter().filter(|visitor| visitor.stays);
        let last = stays.filter_map(|visitor| visitor.cookies.last());
        let waits = last.filter(|ticket| ticket.state == TicketState::Queued).count();
        assert_eq!(cluster.waiting(), waits as u64);
    }
}
