//! Tests of the lottery's places: who takes part, who stays called, and that chances are equal.

use super::{Called, LotteryKey, ROUND_MS, Round, parts, place};
use crate::admission::{Decision, RandomInputs, VisitContext, decide, next_refresh};
use crate::base::id::{CheckInId, TicketId};
use crate::base::time::{SECOND_MS, Timestamp};
use crate::order::census::Presence;
use crate::order::order_key::OrderKey;
use crate::queue::view::View;
use crate::room::settings::{QueueingMethod, Settings};
use crate::ticket::Ticket;

const KEY: LotteryKey = LotteryKey::from_bytes([7; 32]);
const START: Timestamp = Timestamp(1_800_000_000_000);

fn ticket(number: u64, confirmed_at: Timestamp) -> Ticket {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&number.to_be_bytes());
    Ticket {
        interval_s: 20,
        confirmed_s: confirmed_at.seconds() as u32,
        unconfirmed: false,
        ..Ticket::new(TicketId::from_bytes(id), confirmed_at)
    }
}

fn round() -> Round {
    assert_eq!(Round::at(START).start(), START);
    Round::at(START)
}

#[test]
fn only_who_came_back_before_the_round_takes_part_and_all_others_stand_behind() {
    let check = |joined_at: Timestamp, confirmed_s: u64, takes_part: bool| {
        let confirmed_s = confirmed_s as u32;
        let ticket = Ticket { joined_at, confirmed_s, ..ticket(1, START) };
        let key = place(&ticket, START + 60_000, KEY, None);
        let behind = round().late(joined_at);
        assert_eq!(key != behind, takes_part, "{joined_at} {confirmed_s}");
        assert!(round().first() < key && key <= behind && behind < round().next().first());
    };
    let before = START - 60_000;
    check(before, before.seconds(), true);
    check(before, START.seconds() - 1, true);
    check(before, START.seconds(), false);
    check(before, 0, false);
    check(START + 1, START.seconds() + 1, false);
    assert!(round().late(START + 1) < round().late(START + 2), "not by the time of joining");
    let widest = round().late(START + 10 * ROUND_MS);
    assert!(widest.coarse() < round().next().first(), "a key bucket of two rounds");
}

#[test]
fn a_ticket_has_one_place_in_a_round_and_another_in_the_next_and_under_another_key() {
    let one = ticket(1, START - 60_000);
    let of = |round: Round, key| round.key_of(&one, key).0 - round.first().0;
    assert_eq!(of(round(), KEY), of(round(), KEY));
    assert_ne!(of(round(), KEY), of(round().next(), KEY));
    assert_ne!(of(round(), KEY), of(round(), LotteryKey::from_bytes([8; 32])));
}

#[test]
fn a_key_is_called_in_its_own_order_and_round() {
    let (now, last) = (round(), round().previous());
    let check = |key: OrderKey, threshold: OrderKey, before: OrderKey, want: bool| {
        let called = Called { threshold, before };
        assert_eq!(called.calls(key), want, "{key:?} {called:?}");
    };
    let none = OrderKey::default();
    let at = |round: Round, place: u64| OrderKey(round.first().0 + place);
    check(OrderKey(5), OrderKey(5), none, true);
    check(OrderKey(6), OrderKey(5), none, false);
    check(OrderKey(5), at(now, 5), none, false); // a time, and lots are drawn
    check(at(now, 5), OrderKey(u64::MAX / 4_000), none, false);
    check(at(now, 5), at(now, 5), none, true);
    check(at(now, 6), at(now, 5), none, false);
    check(at(last, 5), at(now, 0), at(last, 5), true);
    check(at(last, 6), at(now, 9), at(last, 5), false);
    check(at(last, 5), at(now, 9), at(last.previous(), 9), false);
    check(at(last.previous(), 5), at(now, 9), at(last, 5), false);
    check(at(now, 5), at(last, 9), at(last, 9), false);
}

#[test]
fn who_was_called_stays_so_through_the_next_round_and_no_longer() {
    let one = ticket(1, START - 60_000);
    let key = round().key_of(&one, KEY);
    let check = |later_ms: u64, before: OrderKey, want: bool| {
        let now = START + later_ms;
        let called = Called { threshold: Round::at(now).first(), before };
        assert_eq!(place(&one, now, KEY, Some(called)) == key, want, "{later_ms} {before:?}");
    };
    check(ROUND_MS, key, true);
    check(ROUND_MS, OrderKey(key.0 - 1), false);
    check(2 * ROUND_MS - 1, key, true);
    check(2 * ROUND_MS, key, false);
}

#[test]
fn a_promise_is_cut_where_rounds_begin() {
    let one = ticket(1, START - 60_000);
    let check = |from_ms: u64, until_ms: u64, want: &[(u64, u64)]| {
        let (from, until) = (START + from_ms, START + until_ms);
        let key = place(&one, from, KEY, None);
        let (check_in, joined) = (CheckInId(9), true);
        let whole = Presence { key, from, until, check_in, joined, kept_ms: 0, was_kept_ms: None };
        let cut: Vec<Presence> = parts(&one, KEY, whole).collect();
        let spans: Vec<_> = cut
            .iter()
            .map(|part| (part.from.since_ms(START), part.until.since_ms(START)))
            .collect();
        assert_eq!(spans, want);
        for (index, part) in cut.iter().enumerate() {
            assert_eq!(part.key, Round::at(part.from).key_of(&one, KEY));
            assert_eq!(part.joined, index == 0);
            assert!(cut[..index].iter().all(|other| other.check_in != part.check_in));
        }
    };
    check(1_000, 21_000, &[(1_000, 21_000)]);
    check(100_000, 120_000, &[(100_000, 120_000)]);
    check(110_000, 130_000, &[(110_000, 120_000), (120_000, 130_000)]);
    check(110_000, 300_000, &[(110_000, 120_000), (120_000, 240_000), (240_000, 300_000)]);
}

/// How visitors of the statistical test behave.
#[derive(Clone, Copy, Debug)]
enum Habit {
    /// Comes when the page says so.
    Punctual,
    /// Comes four times as often; what is too early does not count.
    Impatient,
    /// Always half a second early.
    Eager,
    /// Comes back from a background tab, up to 5 s late.
    Late,
}

/// Whether a visitor is called by its own check-ins of one round while a tenth of all are called,
/// bit by bit, until 22 s before its end; then the next round begins.
fn wins(number: u64, habit: Habit, joined_at: Timestamp, key: LotteryKey) -> bool {
    let settings = Settings { queueing_method: QueueingMethod::Random, ..Settings::for_tests() };
    let calls_until = START + ROUND_MS - 1;
    let mut held = Ticket { interval_s: 18 + (number % 5) as u16, ..ticket(number, joined_at) };
    let mut now = joined_at;
    for visit in 0_u32.. {
        now = match habit {
            Habit::Punctual => next_refresh(&held),
            Habit::Impatient => now + 5 * SECOND_MS,
            Habit::Eager => next_refresh(&held) - 500,
            Habit::Late => next_refresh(&held) + number % 5 * SECOND_MS,
        };
        if now >= START + ROUND_MS + 30 * SECOND_MS {
            return false;
        }
        let passed_ms = now.min(calls_until).since_ms(START);
        let in_round = round().share(passed_ms, 10 * ROUND_MS);
        let (threshold, called_before) = match Round::at(now) {
            one if one < round() => (one.first(), OrderKey::default()),
            one if one == round() => (in_round, OrderKey::default()),
            one => (one.first(), in_round),
        };
        let view = View { version: 1, made_at: now, threshold, called_before, ..View::default() };
        let jitter = (number as u32).wrapping_mul(2_654_435_761).rotate_left(visit);
        let random = RandomInputs { ticket_id: held.id, jitter, lottery: key };
        let view = Some(&view);
        let situation =
            VisitContext { now, settings: &settings, view, may_ask: true, behind_ms: 0, random };
        match decide(situation, Some(held.clone())) {
            Decision::AskCounter(_) => return true,
            Decision::Queue { ticket, .. } => held = ticket,
            Decision::TooEarly { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    false
}

/// With 100,000 visitors, 2,500 in each group: a tenth of each wins, within 3 sigma of a share of
/// one half in a hundred. One draw, the same in every run.
#[test]
fn everybody_has_the_same_chance_whatever_the_time_of_joining_and_the_way_to_refresh() {
    const VISITORS: u64 = 100_000;
    const GROUPS: usize = 10;
    let habits = [Habit::Punctual, Habit::Impatient, Habit::Eager, Habit::Late];
    let mut won = [[0_u32; GROUPS]; 4];
    for number in 0..VISITORS {
        let habit = number as usize % habits.len();
        let group = (number / 4) as usize % GROUPS;
        // From two minutes before the round to two seconds before it.
        let joined_at = START - (2 + 13 * group as u64) * SECOND_MS;
        won[habit][group] += u32::from(wins(number, habits[habit], joined_at, KEY));
    }
    let in_group = (VISITORS / 4) as f64 / GROUPS as f64;
    let sigma = (in_group * 0.1 * 0.9).sqrt();
    for (habit, groups) in won.iter().enumerate() {
        let total: u32 = groups.iter().sum();
        let off = (f64::from(total) - 10.0 * in_group * 0.1) / (sigma * 10.0_f64.sqrt());
        assert!(off.abs() < 3.0, "{:?}: {total}, {off} sigma", habits[habit]);
        for (group, wins) in groups.iter().enumerate() {
            let off = (f64::from(*wins) - in_group * 0.1) / sigma;
            // 40 groups: the largest of so many is within 3.5 in 98 of 100 draws.
            assert!(off.abs() < 3.5, "{:?} {group}: {wins}, {off} sigma", habits[habit]);
        }
    }
}
