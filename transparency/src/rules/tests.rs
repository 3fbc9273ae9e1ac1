//! Tests of what the leaves may say: limits, rate, order, and how many there are.

use super::{Counted, Finding, checks};
use crate::leaf::Leaf;

fn leaf(text: &str) -> Leaf {
    text.parse().unwrap_or_else(|_| panic!("{text}"))
}

/// Rules, and one admission from the line each second, in the order of joining.
fn sale(rules: &str, count: u64) -> Vec<Leaf> {
    let admission = |number: u64| {
        let (joined, entered) = (1_000 + number, 2_000 + number);
        leaf(&format!("admission c{number} {joined} {entered} line 20"))
    };
    let all = (0..count).map(admission);
    [leaf(rules)].into_iter().chain(all).collect()
}

fn wrong(leaves: &[Leaf]) -> Vec<String> {
    let bad = |one: Finding| (!one.good).then_some(one.name);
    checks(leaves, None).into_iter().filter_map(bad).collect()
}

#[test]
fn a_sale_within_its_rules_passes() {
    assert_eq!(wrong(&sale("rules 2000 300 60 300 fifo full", 600)), Vec::<String>::new());
}

#[test]
fn what_is_found_says_how_long_a_session_was() {
    let mut changed = sale("rules 2000 300 60 300 fifo full", 100);
    let says = |leaves: &[Leaf]| {
        let found = checks(leaves, None);
        found.iter().map(|one| one.says.clone()).collect::<Vec<_>>().join("\n")
    };
    let at = "of 300 in one session of 300 s, the one that ends at 2099";
    assert!(says(&changed).contains(at), "{}", says(&changed));
    changed.push(leaf("rules 2100 100 60 120 fifo full"));
    changed.extend(entries(2_500..2_580));
    let at = "at most 80 of 100 in one session of 120 s, the one that ends at 2579";
    assert!(says(&changed).contains(at), "{}", says(&changed));
}

#[test]
fn one_too_many_is_noticed() {
    let mut minute = sale("rules 2000 600 60 300 fifo full", 200);
    minute.push(leaf("admission x 1100 2100 line 0"));
    assert_eq!(wrong(&minute), ["rate"]);
    let mut inside = sale("rules 2000 300 90 300 fifo full", 600);
    inside.push(leaf("admission x 1400 2400 line 0"));
    assert_eq!(wrong(&inside), ["limit"]);
    let mut early = sale("rules 2000 300 90 300 fifo early", 600);
    early.push(leaf("admission x 1400 2400 line 0"));
    assert_eq!(wrong(&early), Vec::<String>::new());
    let nobody = [leaf("admission x 1400 2400 line 0")];
    assert_eq!(wrong(&nobody), ["rate", "limit"]);
}

#[test]
fn limits_change_when_the_log_says_so() {
    let mut changed = sale("rules 2000 300 60 300 fifo full", 100);
    changed.push(leaf("rules 2100 900 240 300 fifo full"));
    let more = (0..240).map(|n| leaf(&format!("admission m{n} 1100 {} line 0", 2_140 + n / 4)));
    changed.extend(more);
    assert_eq!(wrong(&changed), Vec::<String>::new());
    let back = leaf("rules 2300 100 10 300 fifo full");
    changed.push(back);
    changed.extend((0..40).map(|n| leaf(&format!("admission n{n} 1200 {} line 0", 2_700 + n))));
    assert_eq!(wrong(&changed), ["rate"]);
}

/// Admissions at these seconds, from the line.
fn entries(seconds: impl Iterator<Item = u64>) -> impl Iterator<Item = Leaf> {
    seconds.map(|at| leaf(&format!("admission e{at} {} {at} line 0", at - 1_000)))
}

#[test]
fn who_entered_under_a_shorter_session_is_inside_for_that_one() {
    let mut sale = vec![leaf("rules 2000 5 5 60 fifo full")];
    sale.extend(entries((2_000..2_600).step_by(12)));
    sale.push(leaf("rules 2600 5 5 300 fifo full"));
    assert_eq!(wrong(&sale), Vec::<String>::new());
    // Until the change all had left, and five sessions are full after it.
    sale.extend(entries((2_660..2_720).step_by(12)));
    assert_eq!(wrong(&sale), Vec::<String>::new());
    sale.extend(entries([2_800].into_iter()));
    assert_eq!(wrong(&sale), ["limit"]);
}

#[test]
fn who_entered_under_a_longer_session_may_leave_with_the_change() {
    let mut sale = vec![leaf("rules 2000 5 5 300 fifo full")];
    sale.extend(entries((2_000..3_200).step_by(60)));
    sale.push(leaf("rules 3200 5 5 60 fifo full"));
    sale.extend(entries((3_260..3_800).step_by(12)));
    assert_eq!(wrong(&sale), Vec::<String>::new());
    // Two seconds of five: ten within one session.
    sale.extend(entries(3_801..3_806));
    assert_eq!(wrong(&sale), ["rate", "limit"]);
    let mut early = vec![leaf("rules 2000 5 9 300 fifo full")];
    early.extend(entries((2_000..2_300).step_by(50)));
    early.push(leaf("rules 2400 5 9 60 fifo full"));
    assert_eq!(wrong(&early), ["limit"], "also before the change");
}

#[test]
fn who_waits_longer_than_a_later_one_is_noticed() {
    let mut jumped = sale("rules 2000 900 60 300 fifo full", 300);
    jumped.push(leaf("admission x 1010 2299 line 20"));
    assert_eq!(wrong(&jumped), ["rate", "order"]);
    let absent = jumped.len() - 1;
    jumped[absent] = leaf("admission x 1010 2299 line 280");
    assert_eq!(wrong(&jumped), ["rate"], "nobody had heard of the visitor");
    jumped[absent] = leaf("admission x 1010 2299 draw 20");
    assert_eq!(wrong(&jumped), ["rate"], "a draw has another order");
}

#[test]
fn what_the_room_counted_is_compared() {
    let sale = sale("rules 2000 300 60 300 fifo full", 60);
    let good = |from_s, until_s, admissions| {
        let counted = Some(Counted { from_s, until_s, admissions });
        checks(&sale, counted).iter().all(|one| one.good)
    };
    assert!(good(2_000, None, 60));
    assert!(!good(2_000, None, 61));
    assert!(!good(2_000, None, 59));
    assert!(good(2_020, None, 40));
    assert!(good(2_020, Some(2_050), 30), "the log goes on longer than the count");
    assert!(!good(2_020, Some(2_050), 40));
    let unknown = checks(&sale, None).into_iter().find(|one| one.name == "count");
    assert!(unknown.is_some_and(|one| one.good && !one.checked));
    let early = [leaf("rules 1 9 9 60 fifo full"), leaf("admission x 90 9 open 0")];
    assert_eq!(wrong(&early), ["admissions"]);
}

#[test]
fn limits_that_are_raised_afterwards_are_found_and_hide_nothing() {
    let mut breach = sale("rules 2000 10 10 600 fifo full", 40);
    assert_eq!(wrong(&breach), ["rate", "limit"]);
    for more in ["99 99 600 fifo full", "10 10 1 fifo full", "10 10 600 passthrough full"] {
        let mut raised = breach.clone();
        raised.push(leaf(&format!("rules 2000 {more}")));
        assert_eq!(wrong(&raised), ["rules", "rate", "limit"], "{more}");
    }
    breach.push(leaf("rules 2000 10 10 600 fifo early"));
    assert_eq!(wrong(&breach), ["rules", "rate", "limit"]);
    let mut honest = sale("rules 2000 60 60 600 fifo full", 40);
    honest.push(leaf("rules 2009 90 90 600 fifo full"));
    assert_eq!(wrong(&honest), [""; 0], "a data center knows of it 30 s earlier or later");
}

#[test]
fn sessions_that_may_end_early_later_hide_nothing_from_before() {
    let mut sale = sale("rules 2000 10 60 300 fifo full", 40);
    sale.push(leaf("rules 2900 10 60 300 fifo early"));
    sale.extend(entries(2_900..2_940));
    assert_eq!(wrong(&sale), ["limit"]);
    sale.drain(11..=40);
    assert_eq!(wrong(&sale), [""; 0]);
    let limit = checks(&sale, None).into_iter().find(|one| one.name == "limit").unwrap();
    assert!(limit.checked && limit.says.starts_with("at most 10 of 10 "), "{}", limit.says);
    let early = checks(&sale[11..], None).into_iter().find(|one| one.name == "limit").unwrap();
    assert!(early.good && !early.checked, "{}", early.says);
}

#[test]
fn a_data_center_that_is_heard_late_repeats_what_was_in_force() {
    let mut merged = sale("rules 2000 900 60 300 fifo full", 60);
    merged.push(leaf("rules 2100 500 20 300 fifo full"));
    merged.extend(entries((2_150..2_300).step_by(5)));
    // Its entries of two minutes come in one piece, and so do the limits of then and now.
    merged.push(leaf("rules 2090 900 60 300 fifo full"));
    merged.push(leaf("admission a 1090 2090 open 0"));
    merged.push(leaf("rules 2110 500 20 300 fifo full"));
    merged.push(leaf("admission b 1180 2180 open 0"));
    assert_eq!(wrong(&merged), [""; 0]);
    merged.push(leaf("rules 2110 500 20 600 fifo full"));
    assert_eq!(wrong(&merged), [""; 0], "no more than was known");
    merged.push(leaf("rules 2110 901 20 300 fifo full"));
    assert_eq!(wrong(&merged), ["rules"]);
}

#[test]
fn everybody_enters_only_where_everybody_may() {
    let everybody = |at| leaf(&format!("admission e{at} {at} {at} everybody 0"));
    let mut sale = vec![leaf("rules 2000 5 5 300 passthrough full")];
    sale.extend((2_000..2_100).map(everybody));
    sale.push(leaf("rules 2100 5 5 300 fifo full"));
    sale.extend((2_100..2_130).map(everybody));
    assert_eq!(wrong(&sale), [""; 0]);
    sale.push(everybody(2_200));
    assert_eq!(wrong(&sale), ["admissions"]);
    sale.push(leaf("rules 2500 5 5 300 passthrough full"));
    sale.push(everybody(2_500));
    assert_eq!(wrong(&sale), [""; 0], "the first who enters so, before the data center knew of it");
    sale.push(leaf("admission b 2180 2250 open 0"));
    assert_eq!(wrong(&sale), ["admissions"], "somebody was counted in between");
}
