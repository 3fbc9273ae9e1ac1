//! Tests of what the aggregator hands out for the transparency log.

use super::{Fixture, IsolateEvent, NODE, NOW, VisitorId, admitted, report};
use crate::base::id::{Incarnation, IsolateId};
use crate::machines::data_center_aggregator::DataCenterAggregator;
use crate::machines::wire::Logged;
use crate::room::settings::{QueueingMethod, Settings};

fn logged(visitor: u64) -> IsolateEvent {
    let mut event = admitted(visitor, 1_300);
    if let IsolateEvent::Admitted(admission) = &mut event {
        admission.logged = Some(Logged { joined_s: 900, why: 0, unheard_s: 20 });
    }
    event
}

#[test]
fn each_counted_admission_is_handed_out_once_with_the_limits() {
    let mut fixture = Fixture::greeted(&[]);
    let settings = fixture.settings.clone();
    assert_eq!(fixture.machine.take_logged(&settings), None);
    let events = [logged(26), logged(26), admitted(3, 1_300), logged(27)];
    fixture.report(&report(1, 1, &events));
    fixture.report(&report(1, 1, &events));
    let want = "100,100,300,0,0\n1a,900,1000,0,20\n1b,900,1000,0,20\n";
    assert_eq!(fixture.machine.take_logged(&settings).as_deref(), Some(want));
    assert_eq!(fixture.machine.take_logged(&settings), None);
    let drawn = Settings { queueing_method: QueueingMethod::Random, ..settings };
    fixture.report(&report(1, 5, &[logged(28)]));
    let told = fixture.machine.take_logged(&drawn).unwrap_or_default();
    assert_eq!(told.lines().next(), Some("100,100,300,1,0"));
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
    let told = |settings: &Settings| {
        let mut fixture = Fixture::greeted(&[]);
        fixture.report(&report(1, 1, &[logged(26)]));
        fixture.machine.take_logged(settings).unwrap_or_default()
    };
    assert!(told(&full).starts_with("100,100,300,0,0\n"), "{}", told(&full));
    for settings in early {
        assert!(told(&settings).starts_with("100,100,300,0,1\n"), "{}", told(&settings));
    }
}

/// The shell stores before a sync leaves. What no stored sync includes comes again.
#[test]
fn what_a_lost_incarnation_took_in_comes_again_in_the_same_words() {
    let mut first = Fixture::greeted(&[]);
    let settings = first.settings.clone();
    first.report(&report(1, 1, &[logged(1), logged(2)]));
    let told = first.machine.take_logged(&settings);
    let copy = first.machine.copy();
    let machine = DataCenterAggregator::new(NODE, Some(&copy), NOW, Incarnation(2));
    let mut second = Fixture { machine, ..Fixture::new() };
    second.report(&report(1, 1, &[]));
    second.synced(0, &[]);
    second.report(&report(1, 1, &[logged(1), logged(2)]));
    assert_eq!(second.machine.take_logged(&settings), told);
    let mut durable = Fixture::greeted(&[(IsolateId(1), 2)]);
    durable.report(&report(1, 1, &[logged(1), logged(2)]));
    assert_eq!(durable.machine.take_logged(&settings), None, "{:?}", VisitorId(1));
}
