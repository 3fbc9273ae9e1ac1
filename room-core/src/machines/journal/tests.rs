//! Tests of the journal: what is noted and kept, and how it is judged.

use super::{
    Journal, Levels, Moment, Pending, Query, RECORDS_MAX, Record, Rows, State, Trace, WINDOW_MS,
    confirmed, is_noted, kind, waits, why,
};
use crate::admission::tests::queued;
use crate::base::id::{Colo, EventId, VisitorId};
use crate::base::time::Timestamp;
use crate::machines::journal::Others;
use crate::order::shuffle::{DrawKey, Shuffle};
use crate::queue::view::View;
use crate::room::settings::Settings;
use crate::ticket::Ticket;
use crate::ticket::reference::Reference;

const START_S: u64 = 1_800_000_000;
const NOW: Timestamp = Timestamp(START_S * 1_000);

fn record(visitor: u64, joined_s: u64, at_s: u64) -> Record {
    let reference = Reference::of(VisitorId(visitor)).number();
    Record { reference, joined_s: START_S + joined_s, at_s: START_S + at_s, ..Record::default() }
}

fn entered(visitor: u64, joined_s: u64, at_s: u64, why: u8) -> Record {
    Record { kind: kind::ENTERED, why, ..record(visitor, joined_s, at_s) }
}

fn text(records: &[Record]) -> String {
    records.iter().map(|record| record.to_text()).collect()
}

fn row(records: &[Record]) -> String {
    let mut journal = Journal::default();
    journal.take_up(NOW, Colo::UNKNOWN, &text(records));
    journal.row().expect("a row")
}

/// The trace of visitor 1, with all of one row.
fn trace(records: &[Record]) -> Trace {
    let rows = [row(records)];
    let mut trace = Trace::find(Reference::of(VisitorId(1)), &rows).expect("a trace");
    trace.see(&rows);
    trace
}

#[test]
fn who_confirms_before_a_draw_was_called_by_no_draw() {
    let (event, key) = (EventId::from_bytes([1; 16]), DrawKey::from_bytes([9; 32]));
    let draw = Shuffle { event, from: NOW, until: NOW.plus_seconds(300), key };
    let settings = Settings { shuffles: vec![draw], ..Settings::for_tests() };
    let ticket = Ticket { joined_at: NOW - 1, ..queued(1, 2) };
    let check = |at: Timestamp, want: u8| {
        assert_eq!(confirmed(at, &settings, &ticket).why, want, "{at:?}");
    };
    check(NOW.plus_seconds(299), why::LINE);
    check(NOW.plus_seconds(300), why::DRAW);
}

#[test]
fn the_first_check_in_is_noted_then_ever_fewer_and_each_late_one() {
    let at = |s: u64| Timestamp::from_seconds(START_S + s);
    let mut noted = Vec::new();
    for s in (20..4_000).step_by(20) {
        let before = Moment { joined_at: at(0), checked_in_at: at(s - 20), due_at: at(s) };
        if is_noted(before, at(s)) {
            noted.push(s);
        }
    }
    assert_eq!(noted, [20, 40, 60, 120, 240, 480, 600, 1_200, 1_800, 2_400, 3_000, 3_600]);
    let check = |late_s: u64, want: bool| {
        let before = Moment { joined_at: at(0), checked_in_at: at(260), due_at: at(270) };
        assert_eq!(is_noted(before, at(270 + late_s)), want, "{late_s}");
    };
    check(9, false);
    check(10, true);
}

#[test]
fn a_record_is_its_numbers_and_a_later_version_may_add_some() {
    let full = Record { why: 3, late_s: 12, told_s: Some(600), ahead: Some(0), ..record(1, 0, 20) };
    let invited = Record { group: 7, ..full };
    for one in [full, invited, record(1, 0, 20), entered(1, 0, 90, why::OPEN)] {
        let text = one.to_text();
        assert_eq!(Record::read_all(&text).collect::<Vec<_>>(), [one], "{text}");
        let group = if one.group > 0 { "" } else { ",0" };
        let later = text.replace(';', &format!("{group},7,8;"));
        assert_eq!(Record::read_all(&later).collect::<Vec<_>>(), [one], "{later}");
    }
    assert_eq!(full.to_text().split(',').count(), 8);
    assert_eq!(invited.to_text(), full.to_text().replace(';', ",7;"));
    for broken in ["", ";", "1", "x,1", "999,1,2,3", "-1,1"] {
        assert_eq!(Record::read_all(broken).count(), 0, "{broken}");
    }
}

#[test]
fn questions_and_answers_are_read_as_they_were_written() {
    let query = Query { reference: Some(7), from: Timestamp(3), until: Timestamp(9) };
    for one in [query, Query { reference: None, ..query }] {
        assert_eq!(Query::read(&one.to_text()), Some(one));
    }
    assert_eq!(Query::read("3"), None);
    let rows = Rows { rows: vec!["0|AMS:".to_owned(), "1|NRT:".to_owned()], next: None };
    for one in [rows.clone(), Rows { next: Some(Timestamp(7)), ..rows }, Rows::default()] {
        assert_eq!(Rows::read(&one.to_text()), one);
    }
}

#[test]
fn what_is_not_answered_is_told_again_and_no_more_is_kept_than_fits() {
    let mut pending = Pending::default();
    assert_eq!(pending.for_message(), "");
    pending.note(Levels::default(), record(1, 0, 20));
    assert_eq!(pending.for_message(), text(&[record(1, 0, 20)]));
    pending.note(Levels::default(), record(2, 0, 20));
    pending.on_answer(false);
    assert_eq!(pending.for_message(), text(&[record(1, 0, 20), record(2, 0, 20)]));
    pending.on_answer(true);
    assert_eq!(pending.for_message(), "");

    for visitor in 0..5_000 {
        pending.note(Levels::default(), record(visitor, 0, 20));
        if visitor % 1_000 == 0 {
            pending.for_message();
        }
    }
    let told = pending.for_message();
    assert!(told.len() < 125_000, "{} bytes", told.len());
    let all: Vec<Record> = Record::read_all(&told).collect();
    let (left_out, kept): (Vec<&Record>, Vec<_>) =
        all.iter().partition(|record| record.kind == kind::LEFT_OUT);
    let left_out: u64 = left_out.iter().map(|record| record.reference).sum();
    assert_eq!(kept.len() as u64 + left_out, 5_000);
    assert!(kept.len() > 2_000, "{} records", kept.len());
}

#[test]
fn a_flood_is_bounded_thinned_by_reference_and_does_not_displace_who_enters() {
    let mut journal = Journal::default();
    let (mut visitor, mut kept, mut bytes) = (0, Vec::new(), 0);
    for second in 0..100 {
        let mut flood = || {
            visitor += 1;
            record(visitor, 0, second)
        };
        let flood: Vec<Record> = (0..4_000).map(|_| flood()).collect();
        let now = NOW + second * 1_000;
        journal.take_up(now, Colo::UNKNOWN, &text(&flood));
        let honest = entered(10_000_000 + second, 0, second, why::LINE);
        journal.take_up(now, Colo::UNKNOWN, &text(&[honest]));
        let row = journal.row().expect("a row");
        bytes += row.len();
        kept.extend(row.split(['|', ':', ';']).filter_map(Record::read));
        journal.on_saved(true);
    }
    let in_line = kept.iter().filter(|record| record.kind == kind::ENTERED).count();
    assert_eq!(in_line, 100, "everybody who entered is there");
    let waits: Vec<_> = kept.iter().filter(|record| record.kind == kind::WAITS).collect();
    assert!(waits.len() as u64 <= 10 * RECORDS_MAX, "{} records", waits.len());
    assert!(bytes < 700_000, "{bytes} bytes");
    let level = journal.levels().waits();
    assert!((5..=6).contains(&level), "one in 2^{level} of 40,000, where 1,000 fit");
    assert_eq!(journal.levels().entered(), 0);
    // Who is followed at a level is followed at each lower one, too.
    let follows = |level, reference| Levels::new(level, 0).follow(false, reference);
    assert!(waits.iter().all(|one| !follows(6, one.reference) || follows(5, one.reference)));
    // When the flood has ended, all are followed again.
    journal.take_up(NOW + 20 * WINDOW_MS, Colo::UNKNOWN, &text(&[record(1, 0, 200)]));
    assert!(journal.levels().is_all());
}

#[test]
fn what_is_not_stored_is_in_the_next_row() {
    let mut journal = Journal::default();
    journal.take_up(NOW, Colo::UNKNOWN, &text(&[record(1, 0, 20)]));
    let row = journal.row();
    journal.on_saved(false);
    assert_eq!(journal.row(), row);
    journal.on_saved(true);
    assert_eq!(journal.row(), None);
}

#[test]
fn a_trace_says_what_became_of_a_visitor() {
    let waits = record(1, 0, 20);
    let check = |more: &[Record], now_s: u64, want: State| {
        let trace = trace(&[&[waits], more].concat());
        let now = Timestamp::from_seconds(START_S + now_s);
        assert_eq!(trace.state(now), want, "{more:?}");
    };
    check(&[], 30, State::Waiting);
    check(&[], 20 + 16 * 60, State::Gone);
    check(&[entered(1, 0, 90, why::LINE)], 5_000, State::Entered);
    let asked = Record { kind: kind::ASKED, late_s: 30, ..record(1, 0, 90) };
    check(&[asked], 5_000, State::NotConfirmed);
    check(&[asked, entered(1, 0, 150, why::LINE)], 5_000, State::Entered);
    check(&[asked, record(1, 0, 300)], 310, State::Waiting);
    let revoked = Record { kind: kind::REVOKED, ..record(1, 0, 200) };
    check(&[entered(1, 0, 90, why::LINE), revoked], 5_000, State::Revoked);
    assert!(Trace::find(Reference::of(VisitorId(2)), &[row(&[waits])]).is_none());
    // What is told twice, and what an unknown version has written.
    let rows = [row(&[waits]), row(&[waits]), "of a later version".to_owned()];
    assert_eq!(Trace::find(Reference::of(VisitorId(1)), &rows).expect("a trace").own.len(), 1);
}

#[test]
fn who_entered_before_with_a_later_join_is_counted_once_and_with_the_reason() {
    let own = [record(1, 0, 20), entered(1, 0, 300, why::LINE)];
    let late = Record { late_s: 100, ..record(1, 0, 220) };
    let check = |more: &[Record], want: &[(Others, usize)]| {
        let others = trace(&[&own, more].concat()).others();
        assert_eq!(others, want, "{more:?}");
    };
    check(&[], &[]);
    // Earlier joins, the same second, and later entrances are in order.
    let line = |visitor, joined_s, at_s| entered(visitor, joined_s, at_s, why::LINE);
    check(&[line(2, 0, 100), line(3, 10, 300), line(4, 10, 301), record(5, 10, 30)], &[]);
    let still_waits = trace(&[record(1, 0, 20), line(2, 10, 20)]).others();
    assert_eq!(still_waits, [(Others::CheckedInSooner, 1)]);
    let other = |why| entered(2, 10, 200, why);
    check(&[other(why::LINE), other(why::LINE)], &[(Others::CheckedInSooner, 1)]);
    check(&[other(why::LINE), late], &[(Others::Silent, 1)]);
    check(&[other(why::OPEN), late], &[(Others::Silent, 1)]);
    check(&[other(why::OPEN)], &[(Others::Open, 1)]);
    check(&[other(why::DRAW)], &[(Others::Draw, 1)]);
    check(&[other(why::INVITED), late], &[(Others::Invited, 1)]);
    check(&[other(why::LOTTERY)], &[(Others::Lottery, 1)]);
    check(&[other(why::EVERYBODY)], &[(Others::Everybody, 1)]);
    check(&[other(why::SILENCE), late], &[(Others::Silence, 1)]);
}

#[test]
fn a_visitor_was_called_when_somebody_behind_entered_by_the_line() {
    let own = [record(1, 0, 20), entered(1, 0, 300, why::LINE)];
    let called = |more: &[Record]| trace(&[&own, more].concat()).called_s().map(|at| at - START_S);
    assert_eq!(called(&[]), Some(300));
    assert_eq!(called(&[entered(2, 10, 200, why::LINE)]), Some(200));
    assert_eq!(called(&[entered(2, 10, 200, why::OPEN)]), Some(300));
    let in_vain = Record { why: why::CALLED, ..record(1, 0, 150) };
    assert_eq!(called(&[in_vain, entered(2, 10, 200, why::LINE)]), Some(150));
    let asked = Record { kind: kind::ASKED, late_s: 30, ..record(1, 0, 120) };
    assert_eq!(called(&[asked]), Some(120));
    // The click is never late, but the check-in at which the turn came was.
    assert_eq!(trace(&[asked, entered(1, 0, 300, why::LINE)]).late_s(), Some(30));
}

#[test]
fn who_is_held_waits_for_that_also_where_no_object_answers() {
    let ticket = queued(NOW.0 - 60_000, NOW.0);
    let why = |queue_all| {
        let settings = Settings { queue_all, ..Settings::for_tests() };
        waits(NOW, &settings, None, &ticket, Moment::of(&ticket), None).why
    };
    assert_eq!([why(true), why(false)], [why::HELD, why::SILENCE]);
}

#[test]
fn who_is_far_from_the_turn_waits_for_the_line_though_the_view_is_old() {
    let ticket = queued(NOW.0 - 60_000, NOW.0);
    let why = |wait_s: u32| {
        let forecast = vec![(0, wait_s), (100, wait_s)].into();
        let made_at = NOW - 10_000;
        let view = View { made_at, forecast, next_place_s: Some(0), ..View::default() };
        let settings = Settings::for_tests();
        waits(NOW, &settings, Some(&view), &ticket, Moment::of(&ticket), None).why
    };
    assert_eq!([why(999), why(1)], [why::LINE, why::SILENCE]);
}
