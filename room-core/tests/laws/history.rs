//! The owner's history says what happened: each visitor who enters is counted once, however often
//! and late it is told (I15).

use std::collections::BTreeMap;

use proptest::prelude::proptest;
use room_core::capacity::facts::Fact;
use room_core::machines::history::{Row, Span, merged};

use crate::cluster::Cluster;
use crate::counting::wide;
use crate::escrow::{config, limits};
use crate::steps::{Fault, Step, steps, visits};

/// All rows that an owner would be shown.
fn history(cluster: &mut Cluster) -> Vec<Row> {
    let mut rows: BTreeMap<u64, Row> = cluster.minutes.clone();
    for open in cluster.global.object.machine.open_minutes(cluster.now) {
        rows.entry(open.start).or_insert(open);
    }
    rows.into_values().collect()
}

fn count(rows: &[Row], fact: Fact) -> u64 {
    rows.iter().map(|row| row.count(fact)).sum()
}

fn entered(rows: &[Row]) -> u64 {
    count(rows, Fact::New) + count(rows, Fact::Called)
}

/// Plays steps in which everybody who arrives meets a challenge, and returns how many did.
fn play_challenged(cluster: &mut Cluster, steps: &[Step]) -> u64 {
    let mut challenged = 0;
    for step in steps {
        if let Step::Arrive { isolate, count } = *step {
            challenged += count as u64;
            (0..count).for_each(|_| cluster.challenge(isolate));
        }
        play_on(cluster, step);
    }
    // Each isolate has something to report, and with it what it has counted.
    for isolate in 0..64 {
        cluster.arrive(isolate);
    }
    settle(cluster);
    challenged
}

/// Lets all that is on its way arrive, and the minutes of it be stored.
fn settle(cluster: &mut Cluster) {
    cluster.run(1_500, 250);
    // A last visit has the object store what is complete.
    cluster.arrive(0);
    cluster.run(100, 100);
}

/// Plays steps in each of which time passes slowly enough for messages to arrive in seconds.
fn play(cluster: &mut Cluster, steps: &[Step]) {
    cluster.arrive(0);
    for step in steps {
        play_on(cluster, step);
    }
    settle(cluster);
}

fn play_on(cluster: &mut Cluster, step: &Step) {
    cluster.step(&match *step {
        Step::Run { ticks, tick_ms } => Step::Run { ticks, tick_ms: tick_ms.min(250) },
        ref step => step.clone(),
    });
}

/// Whether nobody forgets anything: objects and isolates live on, whatever happens to messages.
fn is_remembered(step: &Step) -> bool {
    let forgets = |fault: &Fault| {
        let is_of_messages = matches!(
            fault,
            Fault::Lose { .. }
                | Fault::Repeat { .. }
                | Fault::GiveUp { .. }
                | Fault::Overtake { .. }
        );
        !is_of_messages
    };
    !matches!(step, Step::Fault(fault) if forgets(fault))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn with_nothing_lost_history_says_how_many_entered(steps in visits(40)) {
        let mut cluster = Cluster::new(wide(), 3);
        play(&mut cluster, &steps);
        let rows = history(&mut cluster);
        assert_eq!(entered(&rows), cluster.truth.admitted() as u64);
        assert_eq!(entered(&merged(rows, Span::Hour)), cluster.truth.admitted() as u64);
        assert!(!cluster.minutes.is_empty(), "nothing was stored");
    }

    #[test]
    fn a_message_that_comes_again_or_late_changes_nothing(steps in steps(60)) {
        let mut cluster = Cluster::new(wide(), 3);
        // While the storage fails the object answers nobody, and what it is told then comes later.
        let is_untold = |fault: &Fault| fault.loses() || matches!(fault, Fault::FailWrite { .. });
        let is_known = |step: &Step| !matches!(step, Step::Fault(fault) if is_untold(fault));
        let steps: Vec<Step> = steps.into_iter().filter(is_known).collect();
        play(&mut cluster, &steps);
        assert_eq!(entered(&history(&mut cluster)), cluster.truth.admitted() as u64);
    }

    /// What goes beside the events counts once too, whatever is lost or comes again.
    #[test]
    fn lost_messages_lose_no_challenge_and_double_none(steps in steps(60)) {
        let mut cluster = Cluster::new(wide(), 3);
        let steps: Vec<Step> = steps.into_iter().filter(is_remembered).collect();
        let challenged = play_challenged(&mut cluster, &steps);
        let rows = history(&mut cluster);
        assert_eq!(count(&rows, Fact::Challenged), challenged);
        let lost = steps.iter().any(|step| matches!(step, Step::Fault(_)));
        assert!(lost || count(&rows, Fact::Unanswered) == 0);
    }

    /// Whatever restarts, no challenge is told that was not, but those of a report whose answer an
    /// aggregator has taken with it.
    #[test]
    fn restarts_add_no_more_challenges_than_they_forget(steps in steps(60)) {
        let mut cluster = Cluster::new(wide(), 3);
        let restarts = steps.iter().filter(|step| !is_remembered(step)).count() as u64;
        let challenged = play_challenged(&mut cluster, &steps);
        let told = count(&history(&mut cluster), Fact::Challenged);
        assert!(told <= challenged * (1 + restarts), "{told} of {challenged}");
    }

    /// Everybody who waited, was told how long, and entered is measured once.
    #[test]
    fn who_was_told_a_wait_is_measured_once(steps in visits(40)) {
        let mut cluster = Cluster::new(limits(4, 60), 2);
        // Whoever came with an older cookie would have been told something else by that.
        let is_newest = |step: &Step| !matches!(step, Step::ComeBack { .. });
        let steps: Vec<Step> = steps.into_iter().filter(is_newest).collect();
        play(&mut cluster, &steps);
        // Nobody else enters, and what is on its way arrives.
        cluster.visitors.iter_mut().for_each(|visitor| visitor.stays = false);
        cluster.run(100, 100);
        let rows = history(&mut cluster);
        let told = rows.iter().map(Row::told_errors).sum::<u64>();
        assert_eq!(told, cluster.truth.told);
        assert!(told <= count(&rows, Fact::Called));
        assert!(told > 0 || cluster.truth.admitted() < 6, "nobody was told");
    }
}
