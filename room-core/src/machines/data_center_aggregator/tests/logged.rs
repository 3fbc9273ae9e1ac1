//! Tests of what the aggregator hands out for the transparency log.

use super::{Fixture, IsolateEvent, NODE, NOW, VisitorId, admitted, report};
use crate::base::id::{Incarnation, IsolateId};
use crate::machines::data_center_aggregator::DataCenterAggregator;
use crate::machines::wire::{Limits, Logged};
use crate::room::settings::{QueueingMethod, Settings};

fn logged(visitor: u64) -> IsolateEvent {
    logged_under(visitor, None)
}

fn logged_under(visitor: u64, limits: Option<Limits>) -> IsolateEvent {
    let mut event = admitted(visitor, 1_300);
    if let IsolateEvent::Admitted(admission) = &mut event {
        admission.logged = Some(Logged { joined_s: 900, why: 0, unheard_s: 20, limits });
    }
    event
}

#[test]
fn each_counted_admission_is_handed_out_once_with_the_limits() {
    let mut fixture = Fixture::greeted(&[]);
    assert!(fixture.machine.take_logged().is_empty());
    let events = [logged(26), logged(26), admitted(3, 1_300), logged(27)];
    fixture.report(&report(1, 1, &events));
    fixture.report(&report(1, 1, &events));
    let want = "100,100,300,0,0\n1a,900,1000,0,20\n1b,900,1000,0,20\n";
    assert_eq!(fixture.machine.take_logged(), [want]);
    assert!(fixture.machine.take_logged().is_empty());
    fixture.settings.queueing_method = QueueingMethod::Random;
    fixture.report(&report(1, 5, &[logged(28)]));
    assert_eq!(fixture.machine.take_logged(), ["100,100,300,1,0\n1c,900,1000,0,20\n"]);
}

/// Limits that were in force for a second are in the log with those who entered by them, whoever of
/// isolate and aggregator heard first that they changed.
#[test]
fn admissions_stand_under_all_limits_that_isolate_and_aggregator_knew() {
    let mut fixture = Fixture::greeted(&[]);
    let (known, others) = (Some([100, 100, 300, 0, 0]), Some([80, 70, 300, 0, 0]));
    let events = [logged_under(26, known), logged_under(27, others), logged(28)];
    fixture.report(&report(1, 1, &events));
    fixture.settings.new_users_per_minute = 50;
    fixture.report(&report(1, 4, &[logged_under(29, known)]));
    let line = |visitor: &str| format!("{visitor},900,1000,0,20\n");
    let all = [line("1a"), line("1b"), line("1c"), line("1d")].concat();
    let want = [
        format!("80,70,300,0,0\n{}", line("1b")),
        format!("100,100,300,0,0\n{all}"),
        format!("100,50,300,0,0\n{}", line("1d")),
    ];
    assert_eq!(fixture.machine.take_logged(), want);
}

/// Then more may enter in one session than the limit says, and the log must not call it wrong.
#[test]
fn the_limits_say_where_places_come_free_before_a_session_is_over() {
    let full = Fixture::greeted(&[]).settings;
    let early = [
        Settings { sessions_end_early: true, ..full.clone() },
        Settings { unconfirmed_s: 60, ..full.clone() },
        Settings { confirm_turn_minutes: 2, ..full.clone() },
    ];
    let told = |settings: Settings| {
        let mut fixture = Fixture::greeted(&[]);
        fixture.settings = settings;
        fixture.report(&report(1, 1, &[logged(26)]));
        fixture.machine.take_logged().concat()
    };
    assert!(told(full.clone()).starts_with("100,100,300,0,0\n"), "{}", told(full));
    for settings in early {
        assert!(told(settings.clone()).starts_with("100,100,300,0,1\n"), "{}", told(settings));
    }
}

/// The shell stores before a sync leaves. What no stored sync includes comes again.
#[test]
fn what_a_lost_incarnation_took_in_comes_again_in_the_same_words() {
    let mut first = Fixture::greeted(&[]);
    first.report(&report(1, 1, &[logged(1), logged(2)]));
    let told = first.machine.take_logged();
    let copy = first.machine.copy();
    let machine = DataCenterAggregator::new(NODE, Some(&copy), NOW, Incarnation(2));
    let mut second = Fixture { machine, ..Fixture::new() };
    second.report(&report(1, 1, &[]));
    second.synced(0, &[]);
    second.report(&report(1, 1, &[logged(1), logged(2)]));
    assert_eq!(second.machine.take_logged(), told);
    let mut durable = Fixture::greeted(&[(IsolateId(1), 2)]);
    durable.report(&report(1, 1, &[logged(1), logged(2)]));
    assert!(durable.machine.take_logged().is_empty(), "{:?}", VisitorId(1));
}
