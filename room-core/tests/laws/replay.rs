//! I7 and I11 for tickets that wait: however often and wherever a copy is used, it takes one place
//! and brings one session.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::{any, proptest};
use room_core::base::time::{MINUTE_MS, Timestamp};
use room_core::ticket::{Ticket, TicketState};

use crate::cluster::{Cluster, ISOLATES_PER_DATA_CENTER, Visitor};
use crate::counting::wide;
use crate::escrow::{limits, repeated};

const DATA_CENTERS: usize = 10;
const ISOLATES: usize = DATA_CENTERS * ISOLATES_PER_DATA_CENTER;
const PLACES: u32 = 40;

/// An empty room, 82 s after it was full, and the copy of a ticket that waited then, in this
/// isolate.
fn called(isolate: usize) -> (Cluster, Ticket) {
    let mut cluster = Cluster::new(limits(PLACES, 600), DATA_CENTERS);
    for isolate in 0..PLACES as usize {
        cluster.arrive(isolate);
    }
    cluster.run(50, 100);
    cluster.arrive(isolate);
    let visitor = cluster.visitors.len() - 1;
    cluster.visitors[visitor].stays = false;
    cluster.run(20, 100);
    let ticket = cluster.visitors[visitor].cookies[0].clone();
    assert_eq!(ticket.state, TicketState::Queued);
    cluster.run(80, 1_000);
    cluster.settle_books();
    assert_eq!((cluster.counted(), cluster.outstanding()), (0, 0));
    (cluster, ticket)
}

/// Somebody comes with a copy of a ticket; nobody comes back by itself.
fn use_copy(cluster: &mut Cluster, isolate: usize, ticket: &Ticket) {
    cluster.visitors.push(Visitor { isolate, ..Visitor::default() });
    cluster.visit(cluster.visitors.len() - 1, isolate, Some(ticket.clone()));
}

/// When the sessions began that this ticket brought.
fn sessions(cluster: &Cluster, ticket: &Ticket) -> BTreeSet<Timestamp> {
    let cookies = cluster.visitors.iter().flat_map(|visitor| &visitor.cookies);
    let accepted = cookies.filter(|one| one.state == TicketState::Accepted && one.id == ticket.id);
    accepted.map(|one| one.accepted_at).collect()
}

/// A wide room in which two visitors are inside, and the ticket of the first.
fn entered(isolate: usize) -> (Cluster, Ticket) {
    let mut cluster = Cluster::new(wide(), DATA_CENTERS);
    for visitor in 0..2 {
        cluster.arrive(isolate);
        cluster.run(20, 100);
        cluster.come_back(visitor, isolate, 0);
    }
    cluster.run(50, 100);
    let cookies = &cluster.visitors[0].cookies;
    let ticket = cookies[cookies.len() - 1].clone();
    assert_eq!((ticket.state, cluster.counted()), (TicketState::Accepted, 2));
    (cluster, ticket)
}

fn entered_with(cluster: &Cluster, ticket: &Ticket) -> usize {
    let cookies = cluster.visitors.iter().flat_map(|visitor| &visitor.cookies);
    cookies.filter(|one| one.state == TicketState::Accepted && one.id == ticket.id).count()
}

proptest! {
    #![proptest_config(repeated())]

    /// I7: one ticket used in many data centers at about the same time: within a sync it holds one
    /// place, and whoever has a copy shares the one session.
    #[test]
    fn i7_a_waiting_ticket_takes_one_place_in_all_data_centers(
        home in 0..ISOLATES,
        uses in vec((0..ISOLATES, 0..3_u64), 2..40),
    ) {
        let (mut cluster, ticket) = called(home);
        for (isolate, ticks) in uses {
            use_copy(&mut cluster, isolate, &ticket);
            cluster.run(ticks, 50);
        }
        cluster.run(40, 100);
        cluster.settle_books();
        assert_eq!(sessions(&cluster, &ticket).len(), 1);
        assert_eq!(cluster.truth.live(cluster.now), 1);
        assert_eq!((cluster.counted(), cluster.outstanding()), (1, 0));
        cluster.run(90, 1_000);
        assert_eq!(cluster.counted(), 0);
    }

    /// I7: the same in one data center, in which all of them come at once: nobody else's place is
    /// taken meanwhile.
    #[test]
    fn i7_many_uses_of_a_waiting_ticket_take_one_place(
        home in 0..ISOLATES,
        uses in vec(any::<bool>(), 200),
        elsewhere in any::<bool>(),
    ) {
        let (mut cluster, ticket) = called(home);
        let data_center = home / ISOLATES_PER_DATA_CENTER + if elsewhere { 5 } else { 0 };
        let first = data_center % DATA_CENTERS * ISOLATES_PER_DATA_CENTER;
        // Somebody else asks before them: they all wait for the same pull.
        cluster.arrive(home);
        cluster.run(1, 10);
        for is_second in uses {
            use_copy(&mut cluster, first + usize::from(is_second), &ticket);
        }
        for _ in 0..60 {
            cluster.run(1, 50);
            let taken = cluster.counted() + cluster.outstanding();
            // Some are on their way in advance of need, for whoever comes next.
            assert!(taken <= 6, "{taken} places at {}", cluster.now);
        }
        cluster.run(60, 100);
        cluster.settle_books();
        assert_eq!(sessions(&cluster, &ticket).len(), 1);
        assert_eq!((cluster.counted(), cluster.outstanding()), (2, 0));
    }

    /// I7: however long after the first a copy comes, the ticket has one place and one session.
    #[test]
    fn i7_a_copy_that_comes_later_shares_the_session_or_is_worth_nothing(
        home in 0..ISOLATES,
        uses in vec((0..ISOLATES, 0..14_u64), 1..12),
    ) {
        let (mut cluster, ticket) = called(home);
        use_copy(&mut cluster, home, &ticket);
        for (isolate, pause_s) in uses {
            cluster.run(pause_s, 1_000);
            use_copy(&mut cluster, isolate, &ticket);
            cluster.run(40, 100);
            cluster.settle_books();
            let live = cluster.truth.live(cluster.now);
            assert!(live <= cluster.counted(), "{live} inside, {} counted", cluster.counted());
            assert!(cluster.counted() + cluster.outstanding() <= 1, "more than one place");
            assert_eq!(sessions(&cluster, &ticket).len(), 1);
        }
    }

    /// I11: a waiting ticket that was kept brings no other session once its own has ended.
    #[test]
    fn i11_a_waiting_ticket_is_worth_nothing_after_its_session(
        home in 0..ISOLATES,
        uses in vec((0..ISOLATES, 0..18_u64), 1..7),
    ) {
        let (mut cluster, ticket) = called(home);
        use_copy(&mut cluster, home, &ticket);
        cluster.run(40, 100);
        assert_eq!(cluster.truth.live(cluster.now), 1);
        cluster.run(MINUTE_MS / 1_000 + 2, 1_000);
        let entered = entered_with(&cluster, &ticket);
        for (isolate, pause_s) in uses {
            cluster.run(pause_s, 1_000);
            use_copy(&mut cluster, isolate, &ticket);
            cluster.run(40, 100);
            assert_eq!(entered_with(&cluster, &ticket), entered);
        }
    }

    /// I7: the copies of other data centers pass as long as the admission lasts, and only the
    /// visitor who is counted renews the session.
    #[test]
    fn i7_copies_in_other_data_centers_do_not_count_when_they_browse(
        home in 0..ISOLATES,
        uses in vec(0..ISOLATES, 2..12),
        visits in vec((any::<usize>(), 0..4_u64), 1..12),
    ) {
        let (mut cluster, ticket) = called(home);
        let first = cluster.visitors.len();
        for isolate in &uses {
            use_copy(&mut cluster, *isolate, &ticket);
        }
        cluster.run(40, 50);
        for (visitor, pause_s) in visits {
            cluster.run(pause_s, 1_000);
            let visitor = first + visitor % uses.len();
            cluster.come_back(visitor, cluster.visitors[visitor].isolate, 0);
            cluster.run(30, 20);
            assert!(cluster.counted() <= 1, "{} places", cluster.counted());
        }
        cluster.run(40, 100);
        cluster.settle_books();
        assert_eq!((cluster.counted(), cluster.truth.live(cluster.now)), (1, 1));
    }

    /// I7: one accepted ticket used in many data centers, each of which goes on with the newest
    /// cookie that it gave or with the first one, holds one place, whatever the others do.
    #[test]
    fn i7_one_session_takes_one_place_in_all_data_centers(
        home in 0..ISOLATES,
        uses in vec((0..ISOLATES, 0..4_u64, any::<bool>()), 10..60),
    ) {
        let (mut cluster, first) = entered(home);
        let mut newest: Vec<Ticket> = vec![first.clone(); ISOLATES];
        let mut live_until = first.counted_bucket.expires_at();
        for (isolate, pause_s, is_first) in uses {
            cluster.run(pause_s, 1_000);
            // Somebody else keeps the first data center awake.
            cluster.come_back(1, home, 0);
            let own = &newest[isolate];
            let is_live = |ticket: &Ticket| ticket.counted_bucket.is_live(cluster.now);
            let copy = if is_first || !is_live(own) { first.clone() } else { own.clone() };
            if !is_live(&copy) {
                continue;
            }
            use_copy(&mut cluster, isolate, &copy);
            let visitor = cluster.visitors.last();
            if let Some(ticket) = visitor.and_then(|visitor| visitor.cookies.last()) {
                live_until = live_until.max(ticket.counted_bucket.expires_at());
                newest[isolate] = ticket.clone();
            }
            // The sync under way, the next one, and that of whoever has counted the visitor.
            cluster.run(70, 100);
            let taken = cluster.counted() + cluster.outstanding();
            assert!(taken <= 2, "{taken} places for two at {}", cluster.now);
        }
        cluster.run(70, 100);
        cluster.settle_books();
        let is_inside = 1 + u64::from(cluster.now < live_until);
        assert_eq!(cluster.counted(), is_inside, "at {}, inside until {live_until}", cluster.now);
        cluster.run(90, 1_000);
        assert_eq!(cluster.counted(), 0);
    }
}
