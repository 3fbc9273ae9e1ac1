//! Tests of the whole machine, and helpers for those of the designs.

use room_core::base::time::{SECOND_MS, Timestamp};

use super::slots::Shares;
use super::{
    Baseline, BaselineAnswer, Calls, Design, Minute, Offer, Order, Place, Published, Settings,
    Ticket,
};

/// 16:31:00 on the day of the published example.
const MINUTE_16_31: Minute = Minute(16 * 60 + 31);
const START: Timestamp = Timestamp(MINUTE_16_31.0 * 60_000);

const SETTINGS: Settings = Settings {
    total_active_users: 200,
    new_users_per_minute: 200,
    session_minutes: 5,
    hold_minutes: 5,
    order: Order::Fifo,
};
const EVERY: [Published; 3] = [Published::V1, Published::V2 { curve_factor: 1.0 }, Published::V3];

pub(super) fn place(data_center: usize, worker: u64) -> Place {
    Place { data_center, worker }
}

pub(super) fn offer(
    slots: u64,
    (here, anywhere): (f64, f64),
    (workers_here, workers_everywhere): (u64, u64),
    utilisation: f64,
) -> Offer {
    let shares = Shares { here, anywhere };
    Offer { minute: MINUTE_16_31, slots, shares, utilisation, workers_here, workers_everywhere }
}

/// How many of the visitors of two isolates enter, the first isolate's visitors first.
pub(super) fn admitted(design: &mut dyn Design, offer: &Offer, visitors: [u64; 2]) -> [u64; 2] {
    [0, 1].map(|worker: u64| {
        let visitors = visitors[worker as usize];
        (0..visitors).filter(|_| design.take(place(0, worker), offer).0).count() as u64
    })
}

/// Counts `active` users and `waiting` ones, seen at `now`, at one data center.
fn fill(room: &mut Baseline, now: Timestamp, place: Place, active: u64, waiting: &[(Minute, u64)]) {
    let minute = Minute::of(now);
    let fresh = queued(minute, now);
    let counts = room.serve(now, place, Some(fresh));
    for _ in 0..active {
        counts.see(minute);
        counts.renew(Minute(0), minute);
    }
    for &(bucket, users) in waiting {
        for _ in 0..users {
            counts.wait(bucket, minute);
        }
    }
    room.flush(place);
}

fn sync_all(room: &mut Baseline, now: Timestamp, data_centers: usize) {
    for data_center in 0..data_centers {
        let report = room.report(now, data_center);
        room.merge(data_center, report);
    }
    for data_center in 0..data_centers {
        let view = room.view(data_center);
        room.receive(data_center, view);
    }
}

fn queued(bucket: Minute, last_check_in: Timestamp) -> Ticket {
    Ticket { bucket, last_check_in, accepted: false }
}

#[test]
fn two_cities_over_the_limit_admit_nobody() {
    for published in EVERY {
        let mut room = Baseline::new(published, SETTINGS);
        let buckets = [0, 1, 2].map(|back| MINUTE_16_31.before(back));
        let line = [(buckets[2], 1), (buckets[1], 25), (buckets[0], 30)];
        fill(&mut room, START, place(0, 0), 50, &line);
        fill(&mut room, START, place(1, 0), 151, &line);
        sync_all(&mut room, START, 2);
        let plan = room.plan(START, 0);
        assert!((plan.offer.utilisation - 201.0 / 200.0).abs() < 1e-9);
        assert_eq!(buckets.map(|bucket| plan.ahead_of(bucket)), [112, 52, 2]);
        assert!(!room.on_new_visitor(START, place(0, 0)).ticket.accepted);
        for bucket in buckets {
            let answer = room.on_queued_visitor(START, place(1, 0), queued(bucket, START));
            assert!(!answer.ticket.accepted, "{published:?}");
        }
    }
}

#[test]
fn fifty_two_slots_let_the_first_two_buckets_in_from_anywhere() {
    for published in EVERY {
        let mut room = Baseline::new(published, SETTINGS);
        let [first, second, third] = [2, 1, 0].map(|back| MINUTE_16_31.before(back));
        fill(&mut room, START, place(0, 0), 148, &[(first, 2), (second, 50), (third, 60)]);
        sync_all(&mut room, START, 2);
        let mut enters = |bucket| {
            // Data center 1 has no history, hence no share of the slots.
            let answer = room.on_queued_visitor(START, place(1, 0), queued(bucket, START));
            assert_eq!(answer.calls, Calls::default());
            answer.ticket.accepted
        };
        assert_eq!([first, second, third].map(&mut enters), [true, true, false]);
        assert!(!room.on_new_visitor(START, place(0, 0)).ticket.accepted, "{published:?}");
    }
}

#[test]
fn sixty_ahead_at_thirty_a_minute_are_told_two_minutes() {
    let mut room = Baseline::new(Published::V3, SETTINGS);
    let [first, second, third] = [2, 1, 0].map(|back| MINUTE_16_31.before(back));
    assert_eq!(room.estimate_minutes(START, 0, third), None);
    for minutes in 1..=5 {
        let counts = room.serve(START, place(0, 0), None);
        for _ in 0..30 {
            counts.admit(MINUTE_16_31.before(minutes), true);
        }
    }
    // 150 of the last five minutes stay, two have gone: 200 - 148 = 52 slots.
    fill(&mut room, START, place(0, 0), 0, &[(first, 2), (second, 50), (third, 60)]);
    for _ in 0..2 {
        room.serve(START, place(0, 0), None).renew(MINUTE_16_31.before(1), MINUTE_16_31.before(20));
    }
    room.flush(place(0, 0));
    sync_all(&mut room, START, 1);
    assert_eq!(room.estimate_minutes(START, 0, third), Some(2.0));
    assert_eq!(room.estimate_minutes(START, 0, second), Some(0.0));
}

#[test]
fn the_shares_of_the_last_minute_but_one_count() {
    let settings = Settings { total_active_users: 10_000, new_users_per_minute: 1_000, ..SETTINGS };
    let mut room = Baseline::new(Published::V1, settings);
    for (minute, users) in [(0, [50, 50]), (1, [45, 55]), (2, [10, 90]), (3, [10, 90])] {
        let now = START + minute * 60 * SECOND_MS;
        for (data_center, users) in users.into_iter().enumerate() {
            fill(&mut room, now, place(data_center, 0), users, &[]);
        }
    }
    let mut check = |now, want: [u64; 2]| {
        sync_all(&mut room, now, 2);
        let slots = [0, 1].map(|data_center| {
            let offer = room.plan(now, data_center).offer;
            super::slots::shared(offer.slots, offer.shares.here)
        });
        assert_eq!(slots, want);
    };
    check(START + 140 * SECOND_MS, [500, 500]); // 16:33:20 -> 16:31
    check(START + 190 * SECOND_MS, [450, 550]); // 16:34:10 -> 16:32
}

#[test]
fn later_designs_use_the_previous_minute_and_the_limit() {
    for published in [Published::V2 { curve_factor: 1.0 }, Published::V3] {
        let mut room = Baseline::new(published, SETTINGS);
        fill(&mut room, START, place(0, 0), 20, &[]);
        fill(&mut room, START, place(1, 0), 30, &[]);
        let now = START + 114 * SECOND_MS;
        sync_all(&mut room, now, 3);
        let offer = |room: &mut Baseline, data_center| room.plan(now, data_center).offer;
        for (data_center, here) in [(0, 0.1), (1, 0.15), (2, 0.0)] {
            let Offer { slots, shares, utilisation, .. } = offer(&mut room, data_center);
            assert_eq!((slots, shares), (150, Shares { here, anywhere: 0.75 }));
            assert!((utilisation - 0.25).abs() < 1e-9);
        }
    }
}

#[test]
fn a_line_takes_slots_from_new_users_only_in_fifo_order() {
    for (order, want) in [(Order::Fifo, 360), (Order::Random, 400)] {
        let settings =
            Settings { total_active_users: 10_000, new_users_per_minute: 2_000, order, ..SETTINGS };
        let mut room = Baseline::new(Published::V1, settings);
        for worker in 0..3 {
            fill(&mut room, START, place(0, worker), 1_400, &[]);
        }
        for worker in 0..2 {
            fill(&mut room, START, place(1, worker), 1_400, &[]);
        }
        let now = START + 120 * SECOND_MS;
        let bucket = MINUTE_16_31;
        for data_center in 0..2 {
            for worker in 0..3 - data_center {
                let queued = if worker == 0 { 100 } else { 0 };
                fill(&mut room, now, place(data_center, worker as u64), 0, &[(bucket, queued)]);
            }
        }
        sync_all(&mut room, now, 2);
        for place in [place(0, 0), place(1, 0)] {
            let entered =
                (0..1_000).filter(|_| room.on_new_visitor(now, place).ticket.accepted).count();
            assert_eq!(entered, want, "{order:?}");
        }
        let answer = room.on_queued_visitor(now, place(0, 0), queued(bucket, now));
        assert_eq!(answer.ticket.accepted, order == Order::Fifo, "in a race the slots are gone");
    }
}

#[test]
fn a_bucket_reserved_in_part_shares_its_slots() {
    let settings = Settings { total_active_users: 10_000, new_users_per_minute: 2_000, ..SETTINGS };
    let mut room = Baseline::new(Published::V1, settings);
    let [first, second, third] = [2, 1, 0].map(|back| MINUTE_16_31.before(back));
    let now = START + 120 * SECOND_MS;
    for (data_center, workers) in [(0, 3), (1, 2)] {
        for worker in 0..workers {
            fill(&mut room, START, place(data_center, worker), 1_400, &[]);
            fill(&mut room, now, place(data_center, worker), 0, &[]);
        }
    }
    fill(&mut room, now, place(0, 0), 0, &[(first, 500), (second, 1_000), (third, 800)]);
    sync_all(&mut room, now, 2);
    let mut enter = |bucket| {
        (0..600)
            .filter(|_| {
                let answer = room.on_queued_visitor(now, place(1, 0), queued(bucket, now));
                answer.ticket.accepted
            })
            .count()
    };
    assert_eq!([first, second, third].map(&mut enter), [600, 600, 100]);
}

#[test]
fn slots_handed_out_in_the_minute_are_not_counted_twice() {
    let mut room = Baseline::new(Published::V3, SETTINGS);
    let mut entered = 0;
    for visitor in 0..300_u64 {
        let now = START + visitor * SECOND_MS / 10;
        let BaselineAnswer { ticket, .. } = room.on_new_visitor(now, place(0, 0));
        entered += u64::from(ticket.accepted);
        room.flush(place(0, 0));
        sync_all(&mut room, now, 1);
        if !ticket.accepted {
            break;
        }
    }
    assert_eq!(entered, 200, "one room, no delay: all slots are used before anybody waits");
}

#[test]
fn reports_and_views_replayed_or_late_change_nothing() {
    let mut room = Baseline::new(Published::V3, SETTINGS);
    fill(&mut room, START, place(0, 0), 10, &[]);
    let old = room.report(START, 0);
    fill(&mut room, START, place(0, 0), 20, &[]);
    let new = room.report(START, 0);
    let old_view = room.view(0);
    for report in [new.clone(), old, new] {
        room.merge(0, report);
    }
    let view = room.view(0);
    room.receive(0, view);
    room.receive(0, old_view);
    assert_eq!(room.plan(START, 0).offer.slots, 170);
}

#[test]
fn an_isolate_takes_what_it_has_not_flushed_with_it() {
    let mut room = Baseline::new(Published::V1, SETTINGS);
    let active = |room: &mut Baseline| {
        room.flush(place(0, 1));
        room.flush(place(0, 2));
        let counts = room.report(START, 0).counts;
        counts.active_users(MINUTE_16_31, SETTINGS.session_minutes)
    };
    for worker in [1, 2] {
        room.serve(START, place(0, worker), None).admit(MINUTE_16_31, true);
    }
    room.forget(place(0, 1));
    assert_eq!(active(&mut room), 1);
}

#[test]
fn tickets_out_of_time_are_new_visitors() {
    let mut room = Baseline::new(Published::V3, SETTINGS);
    let ticket = Ticket { bucket: MINUTE_16_31, last_check_in: START, accepted: true };
    let late = START + 300 * SECOND_MS;
    let mut bucket = |now, accepted| {
        let ticket = Ticket { accepted, ..ticket };
        let answer = if accepted {
            room.on_accepted_visitor(now, place(0, 0), ticket)
        } else {
            room.on_queued_visitor(now, place(0, 0), ticket)
        };
        answer.ticket.bucket
    };
    assert_eq!([bucket(late - 1, true), bucket(late - 1, false)], [MINUTE_16_31; 2]);
    assert_eq!([bucket(late, true), bucket(late, false)], [Minute::of(late); 2]);
}

#[test]
fn settings_hold_from_the_moment_they_change() {
    let mut room = Baseline::new(Published::V3, SETTINGS);
    assert!(room.on_new_visitor(START, place(0, 0)).ticket.accepted);
    room.set_settings(Settings { total_active_users: 0, ..SETTINGS });
    assert!(!room.on_new_visitor(START, place(0, 0)).ticket.accepted);
}

#[test]
fn a_visitor_who_waited_counts_once_on_its_way_in() {
    let mut room = Baseline::new(Published::V1, SETTINGS);
    let counted = |room: &mut Baseline, now| {
        room.flush(place(0, 0));
        sync_all(room, now, 1);
        let counts = &room.totals.counts;
        let minute = Minute::of(now);
        let waiting = counts.waiting_users(minute, 5).iter().map(|&(_, users)| users).sum();
        [counts.active_users(minute, 5), waiting, counts.admitted_users(minute)]
            .into_iter()
            .chain([counts.shared_admissions(minute)])
            .collect::<Vec<u64>>()
    };
    // Nobody was here two minutes ago: no share of the slots, so the first visitor waits.
    let joined = room.on_new_visitor(START, place(0, 0));
    assert_eq!(counted(&mut room, START), [0, 1, 0, 0]);
    // The view does not know this bucket: its users have no reservation.
    let unknown = queued(MINUTE_16_31.before(1), START);
    assert!(!room.plan(START, 0).new_visitors_wait());
    assert!(!room.on_queued_visitor(START, place(1, 0), unknown).ticket.accepted);
    let later = START + 80 * SECOND_MS;
    let entered = room.on_queued_visitor(later, place(0, 0), joined.ticket);
    assert!(entered.ticket.accepted);
    assert_eq!(counted(&mut room, later), [1, 0, 1, 0]);
    room.on_accepted_visitor(later + 60 * SECOND_MS, place(0, 0), entered.ticket);
    assert_eq!(counted(&mut room, later + 60 * SECOND_MS), [1, 0, 0, 0]);
}

#[test]
fn a_full_site_admits_nobody_through_an_isolate_with_unused_slots() {
    let settings = Settings { total_active_users: 10, new_users_per_minute: 10, ..SETTINGS };
    let mut room = Baseline::new(Published::V1, settings);
    let later = START + 120 * SECOND_MS;
    fill(&mut room, START, place(0, 0), 1, &[]);
    fill(&mut room, later, place(0, 1), 0, &[]);
    fill(&mut room, later, place(0, 0), 4, &[]);
    for _ in 0..5 {
        room.serve(later, place(0, 0), None).admit(Minute::of(later), true);
    }
    room.flush(place(0, 0));
    sync_all(&mut room, later, 1);
    assert!(!room.on_new_visitor(later, place(0, 1)).ticket.accepted);
}

#[test]
fn a_room_that_starts_under_a_rush_lets_its_limits_in() {
    let settings = Settings { new_users_per_minute: 50, ..SETTINGS };
    for published in EVERY {
        let mut room = Baseline::new(published, settings);
        let isolate = place(0, 0);
        let mut line: Vec<_> =
            (0..1_000).map(|_| room.on_new_visitor(START, isolate).ticket).collect();
        let mut entered = line.iter().filter(|ticket| ticket.accepted).count();
        for check_in in 1..=12 {
            let now = START + check_in * 20 * SECOND_MS;
            room.flush(isolate);
            sync_all(&mut room, now, 1);
            for ticket in line.iter_mut().filter(|ticket| !ticket.accepted) {
                *ticket = room.on_queued_visitor(now, isolate, *ticket).ticket;
                entered += usize::from(ticket.accepted);
            }
        }
        // v1 shares by the last minute but one, so its first two minutes have no shares.
        let want = if published == Published::V1 { 150 } else { 200 };
        assert_eq!(entered, want, "{published:?}");
    }
}

#[test]
fn a_queued_user_is_seen_once_a_minute() {
    let mut room = Baseline::new(Published::V1, SETTINGS);
    let mut ticket = room.on_new_visitor(START, place(0, 0)).ticket;
    for second in [20, 40, 60, 80] {
        ticket = Ticket { accepted: false, ..ticket };
        ticket = room.on_queued_visitor(START + second * SECOND_MS, place(0, 0), ticket).ticket;
    }
    room.flush(place(0, 0));
    let presence = room.report(START + 80 * SECOND_MS, 0).counts.presence;
    let seen = [0, 1].map(|later| presence.users(Minute(MINUTE_16_31.0 + later)).seen);
    assert_eq!(seen, [1, 1]);
}
