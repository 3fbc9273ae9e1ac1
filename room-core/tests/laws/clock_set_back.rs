//! A clock that was hours ahead is set right. Objects that have done nothing yet go on; others are
//! started again by whoever runs them, from what they have stored. After a clock that was behind
//! all go on.

use room_core::base::time::Timestamp;
use room_core::ticket::TicketState;

use crate::clocks::Clocks;
use crate::cluster::Cluster;
use crate::escrow::limits;

const RIGHT: Timestamp = Timestamp(1_800_000_000_000);
const AHEAD_MS: u64 = 2 * 3_600_000;
const NEWCOMERS: usize = 20;
const TICK_MS: u64 = 250;

/// Returns how many of the visitors who come after the clock was set right enter.
fn entered(mut cluster: Cluster) -> usize {
    cluster.now = RIGHT;
    let first = cluster.visitors.len();
    for visitor in 0..NEWCOMERS {
        cluster.arrive(visitor % 2);
        cluster.run(12, TICK_MS);
    }
    cluster.run(480, TICK_MS);
    let is_inside = |ticket: &room_core::ticket::Ticket| ticket.state == TicketState::Accepted;
    let newcomers = cluster.visitors.iter().skip(first);
    newcomers.filter(|visitor| visitor.cookies.last().is_some_and(is_inside)).count()
}

fn ahead() -> Cluster {
    Cluster::at(RIGHT + AHEAD_MS, limits(100, 100), 1, Clocks::default())
}

#[test]
fn newcomers_enter_where_nobody_came_before() {
    assert_eq!(entered(ahead()), NEWCOMERS);
}

#[test]
fn newcomers_enter_after_a_restart_of_everything() {
    let mut cluster = ahead();
    for visitor in 0..5 {
        cluster.arrive(visitor % 2);
        cluster.run(44, TICK_MS);
    }
    cluster.now = RIGHT;
    for isolate in 0..cluster.isolates.len() {
        cluster.kill_isolate(isolate);
    }
    cluster.restart_aggregator(0, false);
    cluster.restart_counter(0, false);
    cluster.lose_global_copy();
    cluster.restart_global();
    assert_eq!(entered(cluster), NEWCOMERS);
}

const BEHIND_MS: u64 = 600_000;
const MINUTE: u64 = 60_000 / TICK_MS;
const PLACES: usize = 20;

/// All clocks agree; those that are set to 0 are 10 minutes behind.
fn agreeing() -> Clocks {
    Clocks { global: BEHIND_MS, objects: [BEHIND_MS; 2], isolates: [BEHIND_MS; 4] }
}

fn minutely() -> Cluster {
    Cluster::at(RIGHT, limits(3 * PLACES as u32, PLACES as u32), 2, agreeing())
}

/// The clocks of a room's objects are 10 minutes behind those of its isolates for a minute.
#[test]
fn the_line_goes_on_a_session_after_clocks_of_objects_were_behind() {
    let right = agreeing();
    for wrong in [
        Clocks { global: 0, ..right },
        Clocks { objects: [0; 2], ..right },
        Clocks { global: 0, objects: [0; 2], ..right },
    ] {
        let mut cluster = minutely();
        for visitor in 0..9 * PLACES {
            cluster.arrive(visitor % 4);
            cluster.run(1, TICK_MS);
        }
        cluster.run(MINUTE, TICK_MS);
        cluster.clocks = wrong;
        cluster.run(MINUTE, TICK_MS);
        cluster.clocks = right;
        cluster.run(MINUTE, TICK_MS);
        let before = cluster.truth.admitted();
        cluster.run(2 * MINUTE, TICK_MS);
        let entered = cluster.truth.admitted() - before;
        assert!(entered >= PLACES, "{entered} enter in two minutes after {wrong:?}");
        // Where ledger time jumps, a minute of it is shorter.
        if wrong.global == right.global {
            cluster.truth.check_rate();
        }
    }
}

/// Nobody else comes for a minute. Then more come to one data center than may enter in the next,
/// while clocks of objects are behind.
#[test]
fn i1_a_minute_is_as_long_while_clocks_of_objects_are_behind() {
    let right = agreeing();
    for wrong in [Clocks { global: 0, ..right }, Clocks { objects: [BEHIND_MS, 0], ..right }] {
        let mut cluster = minutely();
        cluster.arrive(2);
        cluster.run(MINUTE, TICK_MS);
        cluster.clocks = wrong;
        for _ in 0..3 * PLACES {
            cluster.arrive(2);
            cluster.run(4, TICK_MS);
        }
        assert!(cluster.truth.admitted() > PLACES / 2, "few enter after {wrong:?}");
        cluster.truth.check_rate();
    }
}

/// The ledger's clock is an hour ahead for half a minute. Then it is right, in the same incarnation
/// or in the next one.
#[test]
fn the_line_goes_on_after_the_clock_of_the_ledger_was_ahead() {
    let right = agreeing();
    for restarts in [true, false] {
        // Enough places for all who enter while the clock is wrong: sessions seem to be over then.
        let mut cluster = Cluster::at(RIGHT, limits(1_000, PLACES as u32), 2, agreeing());
        for visitor in 0..9 * PLACES {
            cluster.arrive(visitor % 4);
            cluster.run(1, TICK_MS);
        }
        cluster.run(MINUTE, TICK_MS);
        cluster.clocks = Clocks { global: right.global + AHEAD_MS, ..right };
        cluster.run(MINUTE / 2, TICK_MS);
        cluster.clocks = right;
        if restarts {
            cluster.restart_global();
        }
        // Pages ask after seconds, whatever the ticket says of the time.
        let check_in = |cluster: &mut Cluster| {
            for _ in 0..24 {
                (0..9 * PLACES).for_each(|visitor| cluster.come_back(visitor, visitor % 4, 0));
                cluster.run(20, TICK_MS);
            }
        };
        check_in(&mut cluster);
        let before = cluster.truth.admitted();
        check_in(&mut cluster);
        let entered = cluster.truth.admitted() - before;
        assert!(entered >= PLACES, "{entered} enter in two minutes, restart: {restarts}");
    }
}
