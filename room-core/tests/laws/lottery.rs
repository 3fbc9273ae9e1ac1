//! The lottery on all machines: equal chances at every phase of checking in, nothing to gain by
//! dropping cookies, and the order of joining back when it ends.

use proptest::prelude::proptest;
use room_core::base::time::MINUTE_MS;
use room_core::order::lottery::ROUND_MS;
use room_core::room::settings::{QueueingMethod, Settings};
use room_core::ticket::{Ticket, TicketState};

use crate::cluster::Cluster;
use crate::escrow::{limits, repeated, rooms};
use crate::steps::steps;

/// A slow room whose visitors stay: places come free only where a test says so.
fn drawn(places: u32) -> Settings {
    Settings {
        queueing_method: QueueingMethod::Random,
        session_duration_minutes: 30,
        ..limits(places, 59.min(places))
    }
}

fn inside(cluster: &Cluster, visitor: usize) -> bool {
    let ticket = cluster.visitors.get(visitor).and_then(|visitor| visitor.cookies.last());
    ticket.is_some_and(|ticket| ticket.state == TicketState::Accepted)
}

/// When visitors of a full room come again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comes {
    /// When the page says so, 27 to 33 s later.
    AsTold,
    /// Every 30 s by the clock, whatever the page says: at :00 and :30, the last at :15 and :45.
    ByTheClock,
}

/// Time passes in half seconds, as many as these.
fn pass(cluster: &mut Cluster, half_seconds: u64, comes: Comes) {
    for _ in 0..half_seconds {
        cluster.run(1, 500);
        for visitor in 1..cluster.visitors.len() {
            let at_ms = if visitor == 6 { 15_000 } else { 0 };
            let is_time = comes == Comes::ByTheClock && cluster.now.0 % 30_000 == at_ms;
            if is_time && !inside(cluster, visitor) {
                cluster.come_back(visitor, visitor, 0);
            }
        }
    }
}

/// Who of six wins the one place that comes free `free_s` seconds after a round began in which all
/// of them take part: five first came at :00, the last one at :15.
fn winner(draw: u64, comes: Comes, free_s: u64) -> usize {
    let settings = Settings { refresh_interval_s: 30, ..drawn(1) };
    let mut cluster = Cluster::new(settings.clone(), 2);
    cluster.skip_numbers(1_000 * draw);
    cluster.arrive(0);
    cluster.run(80, 250);
    assert!(inside(&cluster, 0));
    assert!(cluster.now.0.is_multiple_of(MINUTE_MS), "{}", cluster.now);
    let free_at = (cluster.now.0 / ROUND_MS + 3) * ROUND_MS + 1_000 * free_s;
    for visitor in 1..=6 {
        if visitor == 6 {
            pass(&mut cluster, 30, comes);
        }
        cluster.arrive(visitor);
        if let Some(visitor) = cluster.visitors.last_mut() {
            visitor.stays = comes == Comes::AsTold;
        }
    }
    let waits_ms = free_at - cluster.now.0;
    pass(&mut cluster, waits_ms / 500, comes);
    cluster.change(Settings { total_active_users: 2, new_users_per_minute: 2, ..settings });
    let free_since = cluster.now;
    loop {
        if let Some(winner) = (1..=6).find(|visitor| inside(&cluster, *visitor)) {
            return winner;
        }
        assert!(cluster.now.since_ms(free_since) < 8 * MINUTE_MS, "nobody took the place");
        pass(&mut cluster, 1, comes);
    }
}

/// As many draws, the same in every run: as many for each of six, within 3 sigma.
fn check_chances(draws: u64, comes: Comes, free_s: impl Fn(u64) -> u64) {
    let mut won = [0_i32; 7];
    for draw in 0..draws {
        won[winner(draw, comes, free_s(draw))] += 1;
    }
    let mean = draws as f64 / 6.0;
    let sigma = (mean * 5.0 / 6.0).sqrt();
    for wins in won.iter().skip(1) {
        assert!((f64::from(*wins) - mean).abs() < 3.0 * sigma, "{won:?}");
    }
}

#[test]
fn each_of_six_wins_as_often_whatever_the_phase_and_the_moment_of_the_place() {
    // At the beginning of a round, in its middle or at its end.
    check_chances(240, Comes::AsTold, |draw| 1 + 59 * (draw % 3));
}

#[test]
fn each_of_six_wins_as_often_also_where_all_come_by_the_clock() {
    // A second before the five come, or twenty after it.
    check_chances(300, Comes::ByTheClock, |draw| 119 - 99 * (draw % 2));
}

fn queued(cluster: &Cluster, of: std::ops::Range<usize>) -> Vec<Ticket> {
    let newest = cluster.visitors[of].iter().filter_map(|visitor| visitor.cookies.last());
    newest.filter(|ticket| ticket.state == TicketState::Queued).cloned().collect()
}

#[test]
fn whoever_drops_the_cookie_on_every_request_never_enters_while_others_wait() {
    let mut cluster = Cluster::new(drawn(1), 2);
    for isolate in 0..13 {
        cluster.arrive(isolate);
        cluster.run(4, 250);
    }
    let mut places = 1;
    while !queued(&cluster, 0..13).is_empty() {
        assert!(places < 100, "the line does not move");
        places += 1;
        cluster.change(drawn(places));
        for request in 0..40 {
            cluster.arrive(request);
            let attempt = cluster.visitors.len() - 1;
            cluster.visitors[attempt].stays = false;
            cluster.run(4, 250);
            let waits = !queued(&cluster, 0..13).is_empty();
            assert!(!waits || !inside(&cluster, attempt), "entered at attempt {attempt}");
        }
    }
}

#[test]
fn the_order_of_joining_is_back_when_the_lottery_ends() {
    let fifo = |places| Settings { queueing_method: QueueingMethod::Fifo, ..drawn(places) };
    let mut cluster = Cluster::new(fifo(1), 2);
    for isolate in 0..31 {
        cluster.arrive(isolate);
        cluster.run(4, 250);
    }
    let joined = |tickets: &[Ticket]| tickets.iter().map(|one| one.joined_at).collect::<Vec<_>>();
    cluster.change(drawn(1));
    cluster.run(2 * 180, 500);
    assert_eq!(cluster.truth.admitted(), 1, "somebody entered without a place");
    let line = joined(&queued(&cluster, 0..31));
    cluster.change(drawn(9));
    cluster.run(2 * 90, 500);
    assert_eq!(cluster.truth.admitted(), 9);
    let left = joined(&queued(&cluster, 0..31));
    assert_ne!(left, line[8..], "by the order of joining, not by lot");
    cluster.change(fifo(9));
    cluster.run(2 * 40, 500);
    assert_eq!(cluster.truth.admitted(), 9, "somebody entered without a place");
    for places in 10..=15 {
        cluster.change(fifo(places));
        cluster.run(2 * 40, 500);
        let taken = places as usize - 9;
        let waiting = joined(&queued(&cluster, 0..31));
        assert_eq!(waiting, left[taken..], "{places} places");
    }
}

proptest! {
    #![proptest_config(repeated())]

    /// I9 for a lottery: after all faults the line drains by itself.
    #[test]
    fn i9_after_all_faults_the_line_of_a_lottery_drains(settings in rooms(), steps in steps(40)) {
        let settings = Settings { queueing_method: QueueingMethod::Random, ..settings };
        let mut cluster = Cluster::new(settings.clone(), 2);
        cluster.play(&steps);
        cluster.write_fault = None;
        cluster.run(12, 500);
        let waits = |cluster: &Cluster| {
            let stays = cluster.visitors.iter().filter(|visitor| visitor.stays);
            let newest = stays.filter_map(|visitor| visitor.cookies.last());
            newest.filter(|ticket| ticket.state == TicketState::Queued).count()
        };
        let per_minute = settings.total_active_users.min(settings.new_users_per_minute) as usize;
        let minutes = waits(&cluster) / per_minute + 6;
        let mut left = 3 * minutes as u64 * MINUTE_MS / 500;
        while waits(&cluster) > 0 && left > 0 {
            cluster.run(1, 500);
            left -= 1;
        }
        assert_eq!(waits(&cluster), 0, "the line does not drain");
        cluster.truth.check_rate();
    }
}
