//! A group that enters by share has one of so many places while it has anybody waiting, in order.
//! (I1 and I2 are checked in each step: a share opens no place.)

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, proptest};
use room_core::base::time::{MINUTE_MS, Timestamp};
use room_core::machines::invitations::{Share, place};
use room_core::order::order_key::OrderKey;
use room_core::queue::share::Placed;
use room_core::room::invitation::{Enters, InvitationGroup, Invitations};
use room_core::room::settings::Settings;
use room_core::ticket::{Ticket, TicketState};

use crate::clocks::Clocks;
use crate::cluster::Cluster;
use crate::escrow::{limits, repeated};

/// Sessions that a minute ends and the rate refills: so many enter in each minute.
const PER_MINUTE: u32 = 60;
/// The visitors of the line who have no invitation.
const OTHERS: usize = 120;
/// How many places the group may use before the line ends.
const PLACES: usize = 80;
const TICK_MS: u64 = 250;

fn inside(cluster: &Cluster, visitors: Range<usize>) -> usize {
    let tickets = visitors.filter_map(|one| cluster.visitors[one].cookies.last());
    tickets.filter(|ticket| ticket.state == TicketState::Accepted).count()
}

/// How many of these visitors have a place in the line at this key or before it.
fn placed_up_to(cluster: &Cluster, visitors: Range<usize>, key: OrderKey) -> usize {
    let tickets = visitors.filter_map(|one| cluster.visitors[one].cookies.last());
    tickets.filter(|ticket| OrderKey::fifo(ticket.joined_at) <= key).count()
}

/// A room with this share, whose places come free evenly, and a line of [`OTHERS`].
fn line(one_in: u8, isolates: &[usize]) -> Cluster {
    let group = InvitationGroup {
        name: "members".to_owned(),
        enters: Enters::Share,
        one_in,
        public_key: None,
    };
    let invitations = Invitations::of(&[group], false);
    let settings = Settings { invitations, ..limits(10 * PER_MINUTE, PER_MINUTE) };
    let mut cluster = Cluster::at(Timestamp(1_800_000_000_000), settings, 3, Clocks::default());
    for visitor in 0..PER_MINUTE as usize {
        cluster.arrive(visitor);
        cluster.run(3, TICK_MS);
    }
    for visitor in 0..OTHERS {
        cluster.arrive(isolates[visitor % isolates.len()]);
        if visitor % 4 == 0 {
            cluster.run(1, TICK_MS);
        }
    }
    cluster.run(24, TICK_MS);
    cluster
}

proptest! {
    #![proptest_config(ProptestConfig { cases: repeated().cases.min(24), ..repeated() })]

    /// Of those who enter, about one in n is of the group, and the places are in the order in which
    /// the codes were used.
    #[test]
    fn a_group_by_share_has_one_of_so_many_places(
        one_in in 2..=8_u8,
        isolates in vec(0..6_usize, 7),
        apart_ticks in 0..6_u64,
    ) {
        let mut cluster = line(one_in, &isolates);
        let first = PER_MINUTE as usize;
        let members = PLACES / usize::from(one_in);
        let (mut last, mut before) = (Placed::default(), None);
        let mut ahead = 0;
        let members = first + OTHERS..first + OTHERS + members;
        let mut entered = 0;
        for member in members.clone() {
            cluster.arrive(isolates[member % isolates.len()]);
            cluster.run(4 + apart_ticks, TICK_MS);
            if before.is_none() {
                entered = inside(&cluster, first..members.start);
            }
            let view = cluster.view();
            if before.is_none() {
                ahead = placed_up_to(&cluster, first..members.start, view.threshold);
            }
            let cookies = &mut cluster.visitors[member].cookies;
            let ticket = cookies.last().cloned().expect("a place in the line");
            let share = Share { one_in, own: ticket.joined_at };
            let (placed_at, next) = place(&view, share, None, last);
            assert!(placed_at.is_some() && placed_at > before, "{placed_at:?} after {before:?}");
            assert_eq!(place(&view, share, placed_at, next), (placed_at, next), "asked twice");
            (last, before) = (next, placed_at);
            let ticket = Ticket { group: 1, placed_at: placed_at.unwrap_or_default(), ..ticket };
            assert!(cluster.settings.is_by_share(&ticket));
            cookies.push(ticket);
        }
        let all = members.len();
        let end = OrderKey::fifo(before.unwrap_or_default());
        let others = placed_up_to(&cluster, first..members.start, end) - ahead;
        let share = all as f64 / (all + others) as f64 * f64::from(one_in);
        // Fewer where the codes are used as slowly as the group's turns come, or more slowly: the
        // threshold goes past them in steps, and a group that has nobody waiting saves nothing up.
        let turn_ms = u64::from(one_in) * MINUTE_MS / u64::from(PER_MINUTE);
        let is_slow = (4 + apart_ticks) * TICK_MS >= turn_ms;
        let least = if is_slow { 0.7 } else { 0.8 };
        assert!((least..=1.05).contains(&share), "{all} of {} places", all + others);
        for _ in 0..4 * 240 {
            if inside(&cluster, members.clone()) == all {
                break;
            }
            cluster.run(1, TICK_MS);
        }
        assert_eq!(inside(&cluster, members.clone()), all, "one of the group never enters");
        // Before the last of the group those enter who have places before it. But each checks in
        // at moments of their own, 20 s apart at most, and so many enter in 20 s.
        let entered = inside(&cluster, first..members.start) - entered;
        let differ_max = PER_MINUTE as usize / 3;
        assert!(entered.abs_diff(others) <= differ_max, "{entered} others, of {others} places");
    }
}
