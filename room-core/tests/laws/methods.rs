//! I1, I3, I4 and the order of the line while the queueing method changes in the middle of it, and
//! what each method promises by itself.

use proptest::prelude::{Strategy, any, proptest};
use proptest::sample::select;
use room_core::base::time::Timestamp;
use room_core::room::settings::{Maintenance, QueueingMethod, Settings};
use room_core::ticket::TicketState;

use crate::cluster::Cluster;
use crate::escrow::{config, limits, rooms};
use crate::steps::{Step, steps};

fn with(method: QueueingMethod, settings: &Settings) -> Settings {
    Settings { queueing_method: method, ..settings.clone() }
}

fn joined(cluster: &Cluster, state: TicketState) -> Vec<Timestamp> {
    let newest = cluster.visitors.iter().filter_map(|visitor| visitor.cookies.last());
    newest.filter(|ticket| ticket.state == state).map(|ticket| ticket.joined_at).collect()
}

/// One arrives every 1.5 s.
fn arrive(cluster: &mut Cluster, count: usize) {
    for isolate in 0..count {
        cluster.arrive(isolate);
        cluster.run(15, 100);
    }
}

#[test]
fn nobody_new_enters_a_room_that_rejects_and_whoever_waited_may_come_again() {
    let own = limits(4, 4);
    let mut cluster = Cluster::new(own.clone(), 2);
    arrive(&mut cluster, 10);
    assert_eq!(cluster.truth.admitted(), 4);
    cluster.change(with(QueueingMethod::Reject, &own));
    arrive(&mut cluster, 5);
    cluster.run(2 * 60, 1_000);
    assert_eq!(cluster.truth.admitted(), 4, "somebody entered");
    assert_eq!(joined(&cluster, TicketState::Queued).len(), 6, "somebody got a place in the line");
    cluster.change(own);
    cluster.run(90, 500);
    // The page of a room that rejects does not come again: who returns first enters first.
    assert_eq!(cluster.truth.admitted(), 8, "places are free");
}

#[test]
fn everybody_passes_and_is_counted_and_the_limits_hold_again_afterwards() {
    let own = limits(2, 2);
    let mut cluster = Cluster::new(own.clone(), 2);
    arrive(&mut cluster, 6);
    assert_eq!(cluster.truth.admitted(), 2);
    cluster.change(with(QueueingMethod::Passthrough, &own));
    arrive(&mut cluster, 6);
    cluster.run(60, 500);
    assert_eq!(cluster.truth.admitted(), 12, "somebody waits");
    cluster.settle_books();
    assert_eq!(cluster.counted(), cluster.truth.live(cluster.now));
    cluster.change(own);
    arrive(&mut cluster, 3);
    assert_eq!(cluster.truth.admitted(), 12, "somebody entered a room beyond its limits");
    cluster.run(4 * 120, 500);
    assert!(cluster.truth.admitted() >= 14, "the line does not move again");
}

#[test]
fn a_hold_holds_everybody_new() {
    let own = limits(10, 10);
    let mut cluster = Cluster::new(own.clone(), 2);
    let held = Settings { maintenance: Maintenance::Drain, ..own.clone() };
    cluster.change(held.under_maintenance());
    arrive(&mut cluster, 4);
    cluster.run(60, 500);
    assert_eq!(cluster.truth.admitted(), 0);
    cluster.change(own);
    cluster.run(60, 500);
    assert_eq!(cluster.truth.admitted(), 4);
}

fn methods() -> impl Strategy<Value = Vec<QueueingMethod>> {
    let method = select(vec![QueueingMethod::Fifo, QueueingMethod::Reject, QueueingMethod::Random]);
    proptest::collection::vec(method, 2..5)
}

/// Plays the steps in equal parts, a method each.
fn play(own: &Settings, methods: &[QueueingMethod], steps: &[Step]) {
    let mut cluster = Cluster::new(own.clone(), 2);
    cluster.play_phases(methods.iter(), steps, |cluster, method| {
        cluster.change(with(*method, own));
    });
}

proptest! {
    #![proptest_config(config())]

    /// Whatever is lost, repeated or restarted while the method changes.
    #[test]
    fn i1_no_fault_at_a_change_of_method_lets_one_too_many_in(
        settings in rooms(),
        methods in methods(),
        steps in steps(60),
        renews in any::<bool>(),
    ) {
        let settings = Settings { disable_session_renewal: !renews, ..settings };
        play(&settings, &methods, &steps);
    }
}
