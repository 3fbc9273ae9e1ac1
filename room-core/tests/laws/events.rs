//! I1, I3, I4, I5, I13 and I14 while an event begins and ends in the middle of a queue: its limits
//! and its session count from its moments on, and what was promised before stays true.

use proptest::prelude::{Strategy, any, proptest};
use proptest::sample::select;
use room_core::base::id::EventId;
use room_core::base::time::{MINUTE_MS, Timestamp};
use room_core::order::shuffle::{DrawKey, Shuffle};
use room_core::room::settings::Settings;
use room_core::ticket::{Ticket, TicketState};

use crate::cluster::Cluster;
use crate::escrow::{config, limits, rooms};
use crate::steps::{Step, steps};

/// The draw for whoever joins between these moments.
fn lots(from: Timestamp, until: Timestamp) -> Shuffle {
    let key = DrawKey::from_bytes([7; 32]);
    Shuffle { event: EventId::from_bytes([7; 16]), from, until, key }
}

/// Settings of a room before its event, in its prequeue, while it runs, and after it.
fn phases() -> impl Strategy<Value = [Settings; 4]> {
    let minutes = || select(vec![1_u32, 2, 3]);
    (rooms(), rooms(), minutes(), minutes(), any::<bool>()).prop_map(
        |(own, event, own_minutes, event_minutes, has_prequeue)| {
            let own = Settings { session_duration_minutes: own_minutes, ..own };
            let event = Settings { session_duration_minutes: event_minutes, ..event };
            let prequeue = Settings { queue_all: true, ..event.clone() };
            let first = if has_prequeue { prequeue } else { own.clone() };
            [own.clone(), first, event, own]
        },
    )
}

/// Plays the phases one after the other, the same kind of things happening in each.
///
/// A prequeue that `draws_lots` does so for whoever joins in its first minute.
fn play(settings: [Settings; 4], steps: &[Step], draws_lots: bool) {
    let [own, ..] = &settings;
    let mut cluster = Cluster::new(own.clone(), 2);
    cluster.play_phases(settings.into_iter(), steps, |cluster, settings| {
        let random = settings.queue_all && draws_lots;
        let shuffles = random.then(|| lots(cluster.now, cluster.now + MINUTE_MS));
        let shuffles = shuffles.into_iter().chain(cluster.settings.shuffles.clone()).collect();
        cluster.change(Settings { shuffles, ..settings });
    });
}

proptest! {
    #![proptest_config(config())]

    /// Without renewals no fault at a switch lets one visitor too many in, ever.
    #[test]
    fn i1_no_fault_at_a_switch_lets_one_too_many_in(
        settings in phases(),
        steps in steps(60),
        lots in any::<bool>(),
    ) {
        let settings = settings.map(|one| Settings { disable_session_renewal: true, ..one });
        play(settings, &steps, lots);
    }

    /// With renewals the books hold at each grant, and nobody inside is thrown out.
    #[test]
    fn i1_every_grant_is_within_the_limits_of_its_moment(
        settings in phases(),
        steps in steps(60),
        lots in any::<bool>(),
    ) {
        play(settings, &steps, lots);
    }

    /// A session that is renewed in the room and not in its event, or the other way round.
    #[test]
    fn i14_nobody_inside_is_thrown_out_where_renewal_changes(
        settings in phases(),
        steps in steps(60),
        at_first in any::<bool>(),
        lots in any::<bool>(),
    ) {
        let [own, prequeue, event, after] = settings;
        let renews = |renews: bool, one| Settings { disable_session_renewal: !renews, ..one };
        let of_event = |one| renews(!at_first, one);
        play([renews(at_first, own), of_event(prequeue), of_event(event), after], &steps, lots);
    }
}

/// A line that grew in the prequeue enters by its order up to the event's limit; at the end nobody
/// enters before the room's own limit has room.
#[test]
fn a_line_of_the_prequeue_enters_at_the_start_and_rests_at_the_end() {
    let own = Settings { session_duration_minutes: 3, ..limits(4, 4) };
    let event = limits(10, 10);
    let mut cluster = Cluster::new(own.clone(), 2);
    cluster.arrive(0);
    cluster.run(20, 100);
    assert_eq!(cluster.truth.admitted(), 1);
    cluster.change(Settings { queue_all: true, ..event.clone() });
    for isolate in 0..20 {
        cluster.arrive(isolate);
        cluster.run(20, 100);
    }
    cluster.run(200, 500);
    assert_eq!(cluster.truth.admitted(), 1, "somebody entered in the prequeue");
    cluster.change(event);
    cluster.run(60, 500);
    // The one before, if still inside, holds one of the ten places.
    assert!((10..=11).contains(&cluster.truth.admitted()), "{}", cluster.truth.admitted());
    let in_event = cluster.truth.admitted();
    cluster.change(own);
    cluster.run(20, 500);
    assert_eq!(cluster.truth.admitted(), in_event, "somebody entered a room beyond its limit");
    cluster.run(600, 500);
    assert!(cluster.truth.admitted() >= in_event + 4, "nobody entered after the event");
}

/// The lots decide who of the prequeue enters, not the time of joining.
#[test]
fn a_line_of_the_prequeue_enters_by_lot_where_the_event_shuffles() {
    let mut cluster = Cluster::new(limits(10, 10), 2);
    cluster.run(20, 100);
    let from = cluster.now;
    let shuffles = vec![lots(from, from + MINUTE_MS)];
    let event = Settings { shuffles, ..limits(10, 10) };
    cluster.change(Settings { queue_all: true, ..event.clone() });
    for isolate in 0..30 {
        cluster.arrive(isolate);
        cluster.run(15, 100);
    }
    cluster.run(40, 500);
    assert_eq!(cluster.truth.admitted(), 0, "somebody entered in the prequeue");
    cluster.change(event);
    cluster.run(60, 500);
    assert_eq!(cluster.truth.admitted(), 10);
    let (inside, waiting) = entered_in_order(&cluster, from);
    assert!(inside.iter().max() > waiting.iter().min(), "by the time of joining");
}

/// Whoever waits when the prequeue begins is drawn with all others: nobody gains by coming before.
#[test]
fn a_line_from_before_the_prequeue_enters_by_lot_with_those_of_the_prequeue() {
    let own = Settings { disable_session_renewal: true, ..limits(10, 10) };
    let mut cluster = Cluster::new(own.clone(), 2);
    cluster.run(20, 100);
    for isolate in 0..30 {
        cluster.arrive(isolate);
        cluster.run(1, 100);
    }
    cluster.run(20, 500);
    assert_eq!(cluster.truth.admitted(), 10);
    let from = cluster.now;
    let event = Settings { shuffles: vec![lots(from, from + 5 * MINUTE_MS)], ..own };
    cluster.change(Settings { queue_all: true, ..event.clone() });
    for isolate in 0..30 {
        cluster.arrive(isolate);
        cluster.run(15, 100);
    }
    cluster.run(600, 500);
    assert_eq!(cluster.truth.admitted(), 10, "somebody entered in the prequeue");
    cluster.change(event);
    cluster.run(60, 500);
    assert_eq!(cluster.truth.admitted(), 20);
    let (inside, waiting) = entered_in_order(&cluster, from);
    assert_eq!((inside.len(), waiting.len()), (10, 40));
    let are_early = |joined: &[Timestamp]| joined.iter().any(|joined_at| *joined_at < from);
    assert!(are_early(&inside) && are_early(&waiting), "all of the early ones, or none, entered");
    assert!(inside.iter().any(|joined_at| *joined_at >= from), "the early ones alone entered");
}

/// A draw that is given up before its start leaves the line in the order of joining.
#[test]
fn a_line_from_before_a_prequeue_keeps_its_order_where_the_draw_is_given_up() {
    let own = Settings { disable_session_renewal: true, ..limits(10, 10) };
    let mut cluster = Cluster::new(own.clone(), 2);
    cluster.run(20, 100);
    for isolate in 0..60 {
        cluster.arrive(isolate);
        cluster.run(1, 100);
    }
    cluster.run(20, 500);
    let from = cluster.now;
    let shuffles = vec![lots(from, from + 20 * MINUTE_MS)];
    cluster.change(Settings { queue_all: true, shuffles, ..own.clone() });
    cluster.run(720, 500);
    assert_eq!(cluster.truth.admitted(), 10, "somebody entered in the prequeue");
    cluster.change(own);
    cluster.run(120, 500);
    assert_eq!(cluster.truth.admitted(), 20);
    entered_in_order(&cluster, from);
}

/// Asserts that those who have entered since a moment stand before all who wait, by the order of
/// the settings.
/// Returns when each of both joined.
fn entered_in_order(cluster: &Cluster, since: Timestamp) -> (Vec<Timestamp>, Vec<Timestamp>) {
    let tickets = || cluster.visitors.iter().filter_map(|visitor| visitor.cookies.last());
    let entered = |ticket: &&Ticket| ticket.accepted_at > since;
    let (inside, waiting): (Vec<&Ticket>, Vec<&Ticket>) = tickets()
        .filter(|ticket| ticket.state == TicketState::Queued || entered(ticket))
        .partition(|ticket| ticket.state == TicketState::Accepted);
    let last = inside.iter().map(|ticket| cluster.settings.order_key(ticket)).max();
    let first = waiting.iter().map(|ticket| cluster.settings.order_key(ticket)).min();
    assert!(last < first, "{last:?} entered before {first:?}");
    let joined = |tickets: Vec<&Ticket>| tickets.iter().map(|ticket| ticket.joined_at).collect();
    (joined(inside), joined(waiting))
}
