//! Tests of rows and of what they tell.

use super::{Gauge, OpenMinutes, Period, Row, Sight, Span, complete, merged};
use crate::capacity::facts::{Fact, Facts, key};

fn sight(active: u64) -> Sight {
    Sight { active, active_limit: 20, told_wait_s: Some(0), ..Sight::default() }
}

/// A minute in which the room was looked at so often, and somebody entered.
fn row(minute: u64, seen: &[u64], entered: u32) -> Row {
    let mut open = OpenMinutes::default();
    for active in seen {
        open.look(minute, sight(*active));
    }
    open.take_in(&[(key(minute, Fact::New), entered)].into());
    open.rows_before(u64::MAX)[0].clone()
}

#[test]
fn a_row_is_read_as_it_was_written() {
    let row = row(29_000_000, &[3, 5], 4);
    assert_eq!(Row::read(&row.to_text()), Some(row.clone()));
    let text = row.to_text();
    assert_eq!(Row::read(&text[..text.len() - 2]), None);
    assert_eq!(Row::read(""), None);
    assert_eq!(Row::read("1 2 x"), None);
}

#[test]
fn a_period_is_read_as_it_was_written() {
    let period = Period { from: 61, until: 70, span: Span::Quarter, is_csv: true };
    let text = serde_json::to_string(&period).unwrap();
    assert_eq!(text, r#""61 70 15 1""#);
    assert_eq!(serde_json::from_str::<Period>(&text).unwrap(), period);
    assert!(serde_json::from_str::<Period>(r#""61 70 16 1""#).is_err());
    assert!(serde_json::from_str::<Period>(r#""61 70 15""#).is_err());
}

#[test]
fn an_hour_says_what_its_minutes_say_together() {
    let rows = vec![row(60, &[3, 5], 4), row(61, &[1], 2), row(119, &[9], 1), row(120, &[2], 7)];
    let hours = merged(rows.clone(), Span::Hour);
    assert_eq!(hours.iter().map(|row| row.start).collect::<Vec<_>>(), [60, 120]);
    assert_eq!(hours[0].count(Fact::New), 7);
    assert_eq!((hours[0].looks, hours[0].gauges[0].sum), (4, 18));
    let Gauge { least, most, last, .. } = hours[0].gauges[0];
    assert_eq!((least, most, last), (1, 9, 9));
    let quarters = merged(rows, Span::Quarter);
    assert_eq!(merged(quarters, Span::Hour), hours);
}

#[test]
fn spans_are_complete_when_a_minute_of_the_next_is_stored() {
    let check = |last: u64, next: u64, want: &[(Span, u64)]| {
        assert_eq!(complete(last, next).collect::<Vec<_>>(), want, "{last} {next}");
    };
    check(61, 62, &[]);
    check(74, 75, &[(Span::Quarter, 60)]);
    check(119, 120, &[(Span::Quarter, 105), (Span::Hour, 60)]);
    check(62, 500, &[(Span::Quarter, 60), (Span::Hour, 60)]);
}

#[test]
fn what_a_data_center_tells_again_or_late_counts_once() {
    let mut open = OpenMinutes::default();
    let facts = |entered: u32| -> Facts { [(key(100, Fact::New), entered)].into() };
    let check = |open: &OpenMinutes, want: &[u64]| {
        let rows = open.rows_before(u64::MAX);
        assert_eq!(rows.iter().map(|row| row.count(Fact::New)).collect::<Vec<_>>(), want);
    };
    open.take_in(&facts(3));
    open.take_in(&facts(3));
    check(&open, &[3]);
    // After a restart less is known for a moment.
    open.take_in(&facts(1));
    check(&open, &[3]);
    open = OpenMinutes::restored(&open.for_storage(0));
    open.take_in(&facts(5));
    check(&open, &[5]);
    open.forget_before(101);
    open.take_in(&facts(6));
    check(&OpenMinutes::restored(&open.for_storage(0)), &[]);
}

#[test]
fn facts_count_again_once_a_clock_that_was_ahead_is_set_right() {
    let mut open = OpenMinutes::default();
    open.forget_before(600_000);
    open = OpenMinutes::restored(&open.for_storage(0));
    open.set_clock(100);
    open.take_in(&[(key(99, Fact::New), 7), (key(100, Fact::New), 3)].into());
    assert_eq!(open.rows_before(u64::MAX), [row(100, &[], 3)]);
    // A clock that goes on as it should opens no minute that is stored.
    open.forget_before(101);
    open.set_clock(105);
    open.take_in(&[(key(100, Fact::New), 4)].into());
    assert_eq!(open.rows_before(u64::MAX), []);
}

#[test]
fn who_has_gone_follows_from_who_came_and_who_is_there() {
    let period = |is_csv| Period { from: 61, until: 70, span: Span::Minute, is_csv };
    let rows = vec![row(60, &[9], 9), row(61, &[8], 4), row(62, &[0], 0)];
    let csv = period(true).told(rows.clone());
    let ended = |line: &str| line.split(',').nth(14).map(str::to_owned);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(ended(lines[0]).as_deref(), Some("sessions_ended"));
    assert_eq!([ended(lines[1]), ended(lines[2])], ["5", "8"].map(|n| Some(n.to_owned())));
    assert!(lines[1].starts_with("1970-01-01T01:01:00.000Z,8,8,20,20,"), "{}", lines[1]);
    let json: Vec<Vec<serde_json::Value>> =
        serde_json::from_str(&period(false).told(rows)).expect("JSON");
    let cells = |row: &Vec<serde_json::Value>| row.len();
    assert_eq!(json.iter().map(cells).collect::<Vec<_>>(), [35, 35]);
    assert!(json[0][16].is_null() && json[0][14] == 5);
    assert_eq!(period(false).told(Vec::new()), "[]");
}

#[test]
fn no_time_is_told_of_minutes_in_which_nobody_could_enter() {
    let mut open = OpenMinutes::default();
    let told = |told_wait_s| Sight { told_wait_s, waiting: 9, ..sight(20) };
    for (minute, told_wait_s) in [(61, Some(60)), (61, None), (62, None), (62, None), (63, Some(0))]
    {
        open.look(minute, told(told_wait_s));
    }
    let rows = open.rows_before(u64::MAX);
    let read = |rows: Vec<Row>, span: Span| -> Vec<(Option<u64>, u64)> {
        let period = Period { from: 60, until: 120, span, is_csv: false };
        let rows: Vec<Vec<serde_json::Value>> =
            serde_json::from_str(&period.told(rows)).expect("JSON");
        rows.iter().map(|row| (row[7].as_u64(), row[34].as_u64().expect("a number"))).collect()
    };
    assert_eq!(read(rows.clone(), Span::Minute), [(Some(60), 50), (None, 100), (Some(0), 0)]);
    let stored = rows.iter().map(|row| Row::read(&row.to_text()).expect("a row")).collect();
    assert_eq!(read(stored, Span::Hour), [(Some(60), 60)]);
}
