//! Laws from below: with nothing lost what is free is used, the line moves, nobody is forgotten,
//! and what a page has told comes true.

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, proptest};
use room_core::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use room_core::room::settings::Settings;
use room_core::ticket::{NO_ESTIMATE, Ticket, TicketState};

use crate::cluster::Cluster;
use crate::escrow::{limits, repeated};
use crate::order::OFFERED_MS;

/// What one round of a line takes at most: all who may enter together do, their minute or session
/// passes in bins of a second, and each free place is offered again (I9).
const ROUND_MS: u64 = MINUTE_MS + 2 * SECOND_MS + OFFERED_MS;
/// Who joined so much earlier, in milliseconds, enters no more than as much later.
const APART_MS: u64 = 30 * SECOND_MS;
const TICK_MS: u64 = 250;

/// An eighth of the cases of other laws: each of these lasts for minutes.
fn long() -> ProptestConfig {
    let config = repeated();
    ProptestConfig { cases: config.cases.div_ceil(8), ..config }
}

/// Slow rooms and fast ones, held back by their places, by their rate, or by both.
fn crowded() -> impl Strategy<Value = Settings> {
    (3..90_u32, 3..90_u32).prop_map(|(places, per_minute)| limits(places, per_minute))
}

/// A room, and when how many came: after so many ticks, at this isolate.
fn crowd() -> impl Strategy<Value = Vec<(usize, u64)>> {
    vec((0..4_usize, 0..3_u64), 20..200)
}

fn newest(cluster: &Cluster) -> impl Iterator<Item = &Ticket> {
    cluster.visitors.iter().filter_map(|visitor| visitor.cookies.last())
}

fn waiting(cluster: &Cluster) -> usize {
    newest(cluster).filter(|ticket| ticket.state == TicketState::Queued).count()
}

/// Everybody comes, and time passes until the line is gone; `look` is called in between.
fn play(settings: &Settings, crowd: &[(usize, u64)], mut look: impl FnMut(&Cluster)) -> Cluster {
    let mut cluster = Cluster::new(settings.clone(), 2);
    for (isolate, ticks) in crowd {
        cluster.arrive(*isolate);
        // Nobody is told who of one millisecond is first, so a small room tells each the same wait.
        cluster.run(1, 1);
        cluster.run(*ticks, TICK_MS);
        look(&cluster);
    }
    // Every first answer arrives.
    cluster.run(20, TICK_MS);
    let least = settings.total_active_users.min(settings.new_users_per_minute) as usize;
    let rounds = (crowd.len() / least * 8).div_ceil(7) + 3;
    for _ in 0..rounds as u64 * ROUND_MS / TICK_MS {
        if waiting(&cluster) == 0 {
            break;
        }
        cluster.run(1, TICK_MS);
        look(&cluster);
    }
    cluster
}

proptest! {
    #![proptest_config(long())]

    /// In each round seven eighths of those enter whom both limits allow, while so many wait.
    #[test]
    fn the_line_moves_at_the_rate(settings in crowded(), crowd in crowd()) {
        let least = settings.total_active_users.min(settings.new_users_per_minute) as usize;
        let mut full_since = None;
        play(&settings, &crowd, |cluster| {
            let (now, admitted) = (cluster.now, cluster.truth.admitted());
            if waiting(cluster) == 0 {
                full_since = None;
                return;
            }
            // From here on the line is never empty.
            let (since, before) = *full_since.get_or_insert((now, admitted));
            let rounds = (now.since_ms(since) / ROUND_MS) as usize;
            let entered = admitted - before;
            let enough = rounds * least * 7 / 8;
            assert!(entered >= enough, "{entered} entered in {rounds} rounds of {least}");
        });
    }

    /// Whoever waits and comes back when told enters, and not long after those who came later.
    #[test]
    fn nobody_is_forgotten(settings in crowded(), crowd in crowd()) {
        let cluster = play(&settings, &crowd, |_| {});
        assert_eq!(waiting(&cluster), 0, "some wait for ever");
        let mut entered: Vec<(Timestamp, Timestamp)> =
            newest(&cluster).map(|ticket| (ticket.joined_at, ticket.accepted_at)).collect();
        assert_eq!(entered.len(), crowd.len());
        entered.sort_unstable();
        for (index, (joined, at)) in entered.iter().enumerate() {
            let came_later = |other: Timestamp| other.since_ms(*joined) > APART_MS;
            let later = entered[index..].iter().filter(|(other, _)| came_later(*other));
            let first = later.map(|(_, at)| *at).min();
            let behind_ms = first.map_or(0, |first| at.since_ms(first));
            assert!(behind_ms <= APART_MS, "entered {behind_ms} ms after one who came later");
        }
    }

    /// A waiting time that a page has told is about what the visitor then waits.
    #[test]
    fn a_time_told_comes_true(settings in crowded(), crowd in crowd()) {
        let cluster = play(&settings, &crowd, |_| {});
        for visitor in &cluster.visitors {
            let Some(last) = visitor.cookies.last() else { continue };
            let told = visitor.cookies.iter().filter(|ticket| ticket.state == TicketState::Queued);
            for ticket in told.filter(|ticket| ticket.shown_estimate_s < NO_ESTIMATE) {
                let told_s = u64::from(ticket.shown_estimate_s);
                let waited_s = last.accepted_at.since_ms(ticket.last_check_in) / SECOND_MS;
                let bound_s = 2 * ROUND_MS / SECOND_MS + told_s.min(waited_s) / 4;
                let off_s = told_s.abs_diff(waited_s);
                assert!(off_s <= bound_s, "told {told_s} s, waited {waited_s} s");
            }
        }
    }
}
