//! The owner's history says what happened: each visitor who enters is counted once, however often
//! and late it is told (I15).

use std::collections::BTreeMap;

use proptest::prelude::proptest;
use room_core::capacity::facts::Fact;
use room_core::machines::history::{Row, Span, merged};

use crate::cluster::Cluster;
use crate::counting::wide;
use crate::escrow::config;
use crate::steps::{Step, steps, visits};

/// All rows that an owner would be shown.
fn history(cluster: &mut Cluster) -> Vec<Row> {
    let mut rows: BTreeMap<u64, Row> = cluster.minutes.clone();
    for open in cluster.global.machine.open_minutes(cluster.now) {
        rows.entry(open.start).or_insert(open);
    }
    rows.into_values().collect()
}

fn entered(rows: &[Row]) -> u64 {
    rows.iter().map(|row| row.count(Fact::New) + row.count(Fact::Called)).sum()
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
        cluster.step(&match *step {
            Step::Run { ticks, tick_ms } => Step::Run { ticks, tick_ms: tick_ms.min(250) },
            ref step => step.clone(),
        });
    }
    settle(cluster);
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
    fn a_message_that_comes_again_or_late_or_a_save_that_fails_changes_nothing(steps in steps(60)) {
        let mut cluster = Cluster::new(wide(), 3);
        let is_known = |step: &Step| !matches!(step, Step::Fault(fault) if fault.loses());
        let steps: Vec<Step> = steps.into_iter().filter(is_known).collect();
        play(&mut cluster, &steps);
        assert_eq!(entered(&history(&mut cluster)), cluster.truth.admitted() as u64);
    }
}
