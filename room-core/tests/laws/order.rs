//! I3, I4, I9, I17: who comes first, and that the line moves by itself. (I3 and I4 are checked in
//! every test of `escrow` too.)

use proptest::collection::vec;
use proptest::prelude::{any, proptest};
use room_core::admission::{RandomInputs, next_refresh};
use room_core::base::id::{IsolateId, TicketId};
use room_core::base::time::{MINUTE_MS, Timestamp};
use room_core::machines::isolate::{Isolate, Outcome};
use room_core::order::lottery::LotteryKey;
use room_core::queue::view::View;
use room_core::room::invitation::{Enters, InvitationGroup, Invitations};
use room_core::room::settings::Settings;
use room_core::ticket::{Ticket, TicketState};

use crate::clocks::Clocks;
use crate::cluster::{Cluster, node};
use crate::escrow::{limits, repeated, rooms};
use crate::steps::steps;

/// A free place is offered to the head of the line within this span (I9), in milliseconds: 1.875 s
/// until every renewal of the session before must have been heard of, and then a tick (0.5 s), a
/// sync and a reading of the view (2 s each), two check-ins (5.5 s each) and in these tests four
/// messages of 0.25 s.
pub const OFFERED_MS: u64 = 1_875 + 16_500;

/// When those who wait and stay had joined.
fn line(cluster: &Cluster) -> Vec<Timestamp> {
    let waits = cluster.visitors.iter().filter(|visitor| visitor.stays);
    waits
        .filter_map(|visitor| visitor.cookies.last())
        .filter(|ticket| ticket.state == TicketState::Queued)
        .map(|ticket| ticket.joined_at)
        .collect()
}

proptest! {
    #![proptest_config(repeated())]

    /// I9: in a small room the head of the line gets a free place within 15 s, and in order.
    #[test]
    fn i9_a_free_place_is_offered_to_the_head(
        places in 1..20_u32,
        arrivals in vec((0..6_usize, 0..12_u64), 1..60),
    ) {
        let mut cluster = Cluster::new(limits(places, places), 3);
        for (isolate, ticks) in arrivals {
            cluster.arrive(isolate);
            cluster.run(ticks, 250);
        }
        cluster.run(8, 250);
        let mut free_since = cluster.now;
        for _ in 0..8 * MINUTE_MS / 250 {
            let admitted = cluster.truth.admitted();
            cluster.run(1, 250);
            let waiting = line(&cluster);
            let places = places as usize;
            let free = places
                .saturating_sub(cluster.truth.live(cluster.now) as usize)
                .min(places.saturating_sub(cluster.truth.in_last_minute(cluster.now)));
            let entered = cluster.truth.admitted() > admitted;
            if waiting.is_empty() || free == 0 || entered {
                free_since = cluster.now;
            }
            let idle_ms = cluster.now.since_ms(free_since);
            let count = waiting.len();
            assert!(idle_ms <= OFFERED_MS, "I9: {count} wait, a place is free for {idle_ms} ms");
            // Whoever joined earlier has a place too, and will enter with the next refresh.
            let last = cluster.truth.joined_last();
            let earlier = waiting.iter().filter(|joined| **joined + 1_000 <= last).count();
            assert!(!entered || earlier <= free, "order: {earlier} joined earlier, {free} free");
        }
    }

    /// Who has joined a group that enters first enters before those who came earlier: of the places
    /// that come free together the others get what the group leaves. (I1 and I2 are checked in each
    /// step.)
    #[test]
    fn i9_who_is_invited_enters_first(
        places in 2..8_u32,
        invited in 1..8_usize,
        others in vec(0..6_usize, 8..20),
        isolates in vec(0..6_usize, 8),
    ) {
        let (name, enters) = ("members".to_owned(), Enters::First);
        let group = InvitationGroup { name, enters, one_in: 0, public_key: None };
        let invitations = Invitations::of(&[group], false);
        let settings = Settings { invitations, ..limits(places, places) };
        // Its keys lie 31 years before those of all others.
        let mut cluster = Cluster::at(Timestamp(1_800_000_000_000), settings, 3, Clocks::default());
        let (first, invited) = (places as usize, invited.min(places as usize));
        for place in 0..first {
            cluster.arrive(place);
        }
        cluster.run(12, 250);
        for isolate in others.iter().chain(&isolates[..invited]) {
            cluster.arrive(*isolate);
            cluster.run(2, 250);
        }
        cluster.run(8, 250);
        let members = first + others.len()..first + others.len() + invited;
        for member in members.clone() {
            let cookies = &mut cluster.visitors[member].cookies;
            let ticket = cookies.last().cloned().expect("a place in the line");
            cookies.push(Ticket { group: 1, ..ticket });
        }
        let inside = |cluster: &Cluster, visitors: std::ops::Range<usize>| {
            let tickets = visitors.filter_map(|one| cluster.visitors[one].cookies.last().cloned());
            tickets.filter(|ticket| ticket.state == TicketState::Accepted).count()
        };
        let all_are_in = |cluster: &Cluster| inside(cluster, members.clone()) == invited;
        for _ in 0..3 * MINUTE_MS / 250 {
            cluster.run(1, 250);
            let entered = inside(&cluster, first..members.start);
            assert!(entered + invited <= first || all_are_in(&cluster), "{entered} before");
            if all_are_in(&cluster) {
                break;
            }
        }
        assert!(all_are_in(&cluster));
    }

    /// Whoever is first and late by less than 10 s at each check-in, as on a slow line, keeps the
    /// turn before those who wake and who come in time.
    #[test]
    fn i9_who_is_late_keeps_the_turn(
        places in 1..4_u32,
        late_ms in 0..9_500_u64,
        wakes_after_ticks in 0..60_u64,
        isolates in vec(0..6_usize, 3),
    ) {
        let mut cluster = Cluster::new(limits(places, places), 3);
        for place in 0..places as usize {
            cluster.arrive(place);
        }
        cluster.run(12, 250);
        let first = places as usize;
        for isolate in isolates {
            cluster.arrive(isolate);
            cluster.run(12, 250);
        }
        let inside = |cluster: &Cluster, visitor: usize| {
            let last = cluster.visitors[visitor].cookies.last();
            last.is_some_and(|ticket| ticket.state == TicketState::Accepted)
        };
        cluster.visitors[first].stays = false;
        // The second falls asleep before a place comes free.
        cluster.run(120, 250);
        cluster.visitors[first + 1].stays = false;
        let mut awake_in = 120 + wakes_after_ticks;
        for _ in 0..2 * MINUTE_MS / 250 {
            let browser = &cluster.visitors[first];
            let ticket = browser.cookies.last().filter(|_| !browser.loading);
            let due = ticket.filter(|ticket| ticket.state == TicketState::Queued).map(next_refresh);
            if due.is_some_and(|due| due + late_ms <= cluster.now) {
                cluster.come_back(first, browser.isolate, 0);
            }
            awake_in = awake_in.saturating_sub(1);
            if awake_in == 0 && !cluster.visitors[first + 1].stays {
                cluster.visitors[first + 1].stays = true;
            }
            cluster.run(1, 250);
            let others = [1, 2].map(|behind| inside(&cluster, first + behind));
            let others = others.into_iter().filter(|entered| *entered).count();
            let keeps = inside(&cluster, first) || others < first;
            assert!(keeps, "{others} behind got all {places} places");
        }
        assert!(inside(&cluster, first), "the first never entered");
    }

    /// I9 where turns are kept: nobody gets the place of the one who is away, who enters at once
    /// on coming back in time; then it is offered to the next within a refresh interval more.
    #[test]
    fn i9_the_place_of_one_who_is_away_is_kept_and_then_offered_to_the_next(
        turn_kept_minutes in 1..=3_u8,
        comes_back_after_percent in 5..150_u64,
        isolates in [0..6_usize, 0..6, 0..6, 0..6],
    ) {
        let settings = Settings { turn_kept_minutes, ..limits(1, 1) };
        let refresh_ms = settings.longest_refresh_ms();
        let mut cluster = Cluster::new(settings, 3);
        let [first, away, next, back] = isolates;
        for isolate in [first, away, next] {
            cluster.arrive(isolate);
            cluster.run(12, 250);
        }
        cluster.run(180, 250);
        let ticket = cluster.visitors[1].cookies.last().expect("a ticket").clone();
        cluster.visitors[1].stays = false;
        assert_eq!(ticket.state, TicketState::Queued, "the first is still inside");
        assert_eq!(ticket.kept_minutes, turn_kept_minutes, "the turn is near");
        let due = next_refresh(&ticket);
        let kept_ms = u64::from(turn_kept_minutes) * MINUTE_MS;
        let back_at = due + kept_ms * comes_back_after_percent / 100;
        let enters_at = |cluster: &mut Cluster, until: Timestamp| {
            while cluster.now < until && cluster.truth.admitted() == 1 {
                cluster.run(1, 250);
            }
        };
        // The place is free a session after the first came; the room hears of all in a sync.
        let is_in_time = back_at < due + kept_ms - 5_000;
        if is_in_time {
            enters_at(&mut cluster, back_at);
            assert_eq!(cluster.truth.admitted(), 1, "somebody got the place that is kept");
            cluster.come_back(1, back, 0);
            cluster.visitors[1].stays = true;
            cluster.run(60, 250);
            let first_place_at = Timestamp(cluster.visitors[0].cookies[0].accepted_at.0) + 64_000;
            let was_free = back_at > first_place_at + OFFERED_MS;
            let last = cluster.visitors[1].cookies.last().expect("a ticket");
            assert!(last.state == TicketState::Accepted || !was_free, "{last:?}");
        } else {
            enters_at(&mut cluster, due + kept_ms - 5_000);
            assert_eq!(cluster.truth.admitted(), 1, "somebody got the place that is kept");
            // The next was told to come after a whole refresh interval: another is before.
            enters_at(&mut cluster, due + kept_ms + OFFERED_MS + refresh_ms);
            let last = cluster.visitors[2].cookies.last().expect("a ticket");
            assert_eq!(last.state, TicketState::Accepted, "the place went to nobody");
        }
    }

    /// I9: where nobody waits and a place is free the room opens within 15 s, for newcomers too.
    #[test]
    fn i9_the_room_opens_when_nobody_waits(
        places in 1..80_u32,
        arrivals in vec((0..6_usize, 0..12_u64, any::<bool>()), 1..90),
    ) {
        let mut cluster = Cluster::new(limits(places, places), 3);
        for (isolate, ticks, stays) in arrivals {
            cluster.arrive(isolate);
            if let Some(visitor) = cluster.visitors.last_mut() {
                visitor.stays = stays;
            }
            cluster.run(ticks, 250);
        }
        let mut empty_since = cluster.now;
        for _ in 0..6 * MINUTE_MS / 250 {
            cluster.run(1, 250);
            let places = places as usize;
            let is_free = (cluster.truth.live(cluster.now) as usize) < places
                && cluster.truth.in_last_minute(cluster.now) < places;
            if cluster.waiting() > 0 || !line(&cluster).is_empty() || !is_free {
                empty_since = cluster.now;
            }
            let closed_ms = cluster.now.since_ms(empty_since);
            if closed_ms > OFFERED_MS {
                // Where nobody comes nobody asks, and nothing moves.
                cluster.settle_books();
            }
            let is_open = closed_ms <= OFFERED_MS || cluster.view().open;
            assert!(is_open, "I9: nobody waits, and for {closed_ms} ms the room is closed");
        }
    }

    /// After all faults the line drains by itself, the books are true again, and the next
    /// newcomer enters at once.
    #[test]
    fn i9_after_all_faults_the_line_drains(settings in rooms(), steps in steps(40)) {
        let mut cluster = Cluster::new(settings.clone(), 2);
        cluster.play(&steps);
        cluster.write_fault = None;
        // Every answer that is on its way arrives.
        cluster.run(12, 500);
        let per_minute = settings.total_active_users.min(settings.new_users_per_minute) as usize;
        let minutes = line(&cluster).len() / per_minute + 6;
        let mut left = 2 * minutes as u64 * MINUTE_MS / 500;
        while !line(&cluster).is_empty() && left > 0 {
            cluster.run(1, 500);
            left -= 1;
        }
        assert_eq!(line(&cluster).len(), 0, "the line does not drain");
        cluster.run(2 * 120, 1_000);
        cluster.settle_books();
        assert_eq!((cluster.counted(), cluster.outstanding()), (0, 0));
        cluster.arrive(0);
        let admitted = cluster.truth.admitted();
        cluster.run(6, 100);
        assert_eq!(cluster.truth.admitted(), admitted + 1, "the room does not open");
    }

    /// I17: a view never grants, however many isolates hold it and whatever it says.
    #[test]
    fn i17_no_number_of_isolates_admits_anybody_in_silence(
        isolates in 1..40_u64,
        visits in 1..40_u32,
        age_ms in 0..10_000_u64,
        queue_all in any::<bool>(),
    ) {
        let now = Timestamp(1_000_000);
        let settings = Settings { queue_all, ..limits(1_000, 1_000) };
        for isolate_id in 0..isolates {
            let mut isolate = Isolate::new(IsolateId(isolate_id), node(0));
            let made_at = now - age_ms;
            isolate.on_view(View { version: 1, made_at, open: true, ..View::default() });
            for visit in 0..visits {
                let id = (u128::from(isolate_id) << 96 | u128::from(visit) << 32).to_be_bytes();
                let ticket_id = TicketId::from_bytes(id);
                let lottery = LotteryKey::default();
                let random = RandomInputs { ticket_id, jitter: visit, lottery };
                let outcome = isolate.visit(now, &settings, None, random);
                let outcome = match outcome {
                    Outcome::Ask(ask) => isolate.settle(now, &settings, ask, random, None),
                    outcome => outcome,
                };
                assert!(matches!(outcome, Outcome::Wait { .. }), "{outcome:?}");
            }
        }
    }
}
