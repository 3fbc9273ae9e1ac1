//! What can happen to a room: the steps that proptest draws, mixes and shrinks.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;

use crate::cluster::{Cluster, WriteFault};
use crate::flight::{lost, repeated};

/// One thing that happens.
#[derive(Clone, Debug)]
pub enum Step {
    Run { ticks: u64, tick_ms: u64 },
    Arrive { isolate: usize, count: usize },
    ComeBack { visitor: usize, isolate: usize, cookie: usize },
    Leave { visitor: usize },
    Revoke { visitor: usize, isolate: usize },
    Fault(Fault),
}

/// One thing that goes wrong. Messages are named by their place among those on their way.
#[derive(Clone, Debug)]
pub enum Fault {
    Lose {
        flight: usize,
    },
    Repeat {
        flight: usize,
    },
    /// The one who waits gives up; the message arrives all the same.
    GiveUp {
        flight: usize,
    },
    Overtake {
        flight: usize,
    },
    KillIsolate {
        isolate: usize,
    },
    RestartCounter {
        data_center: usize,
        with_copy: bool,
    },
    RestartAggregator {
        data_center: usize,
        with_copy: bool,
    },
    RestartGlobal {
        with_copy: bool,
    },
    FailWrite {
        fault: WriteFault,
    },
}

impl Fault {
    /// Whether a message is lost, or what an isolate or an object knows.
    pub fn loses(&self) -> bool {
        matches!(
            self,
            Self::Lose { .. }
                | Self::GiveUp { .. }
                | Self::KillIsolate { .. }
                | Self::RestartCounter { .. }
                | Self::RestartAggregator { .. }
                | Self::RestartGlobal { .. }
        )
    }
}

/// Up to `length` steps; faults are the larger part of what is not the passing of time.
pub fn steps(length: usize) -> impl Strategy<Value = Vec<Step>> {
    vec(prop_oneof![5 => run(), 4 => visit(), 4 => fault().prop_map(Step::Fault)], 1..length)
}

/// The same, where the origin ends a session now and then.
pub fn steps_with_revocations(length: usize) -> impl Strategy<Value = Vec<Step>> {
    let some = prop_oneof![
        5 => run(), 4 => visit(), 3 => revocation(), 4 => fault().prop_map(Step::Fault)
    ];
    vec(some, 1..length)
}

fn revocation() -> impl Strategy<Value = Step> {
    let index = 0..64_usize;
    (index.clone(), index).prop_map(|(visitor, isolate)| Step::Revoke { visitor, isolate })
}

/// Visits alone: nothing is lost.
pub fn visits(length: usize) -> impl Strategy<Value = Vec<Step>> {
    vec(prop_oneof![1 => run(), 1 => visit()], 1..length)
}

fn run() -> impl Strategy<Value = Step> {
    let tick_ms = select(vec![1_u64, 20, 100, 100, 250, 250, 1_000, 5_000]);
    (1..20_u64, tick_ms).prop_map(|(ticks, tick_ms)| Step::Run { ticks, tick_ms })
}

fn visit() -> impl Strategy<Value = Step> {
    let index = 0..64_usize;
    prop_oneof![
        3 => (index.clone(), 1..8_usize)
            .prop_map(|(isolate, count)| Step::Arrive { isolate, count }),
        2 => (index.clone(), index.clone(), 0..3_usize)
            .prop_map(|(visitor, isolate, cookie)| Step::ComeBack { visitor, isolate, cookie }),
        1 => index.prop_map(|visitor| Step::Leave { visitor }),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    let flight = || 0..16_usize;
    let data_center = || 0..4_usize;
    let with_copy = any::<bool>;
    prop_oneof![
        4 => flight().prop_map(|flight| Fault::Lose { flight }),
        4 => flight().prop_map(|flight| Fault::Repeat { flight }),
        4 => flight().prop_map(|flight| Fault::GiveUp { flight }),
        2 => flight().prop_map(|flight| Fault::Overtake { flight }),
        2 => (0..8_usize).prop_map(|isolate| Fault::KillIsolate { isolate }),
        2 => (data_center(), with_copy()).prop_map(|(data_center, with_copy)| {
            Fault::RestartCounter { data_center, with_copy }
        }),
        2 => (data_center(), with_copy()).prop_map(|(data_center, with_copy)| {
            Fault::RestartAggregator { data_center, with_copy }
        }),
        2 => with_copy().prop_map(|with_copy| Fault::RestartGlobal { with_copy }),
        1 => prop_oneof![Just(WriteFault::NotWritten), Just(WriteFault::YetWritten)]
            .prop_map(|fault| Fault::FailWrite { fault }),
    ]
}

impl Cluster {
    /// One step after the other.
    pub fn play(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
    }

    /// The same, and what is on its way arrives; the rate held for everybody.
    pub fn play_to_the_end(&mut self, steps: &[Step]) {
        self.play(steps);
        self.run(40, 500);
        self.truth.check_rate();
    }

    /// The steps in as many equal parts as there are `phases`, each after what `begin` does, with
    /// some time for each to settle; the rate held for everybody.
    pub fn play_phases<Phase>(
        &mut self,
        phases: impl ExactSizeIterator<Item = Phase>,
        steps: &[Step],
        begin: impl Fn(&mut Self, Phase),
    ) {
        let mut parts = steps.chunks(steps.len().div_ceil(phases.len()).max(1));
        for phase in phases {
            begin(self, phase);
            self.play(parts.next().unwrap_or_default());
            self.run(20, 500);
        }
        self.run(20, 5_000);
        self.truth.check_rate();
    }

    pub fn step(&mut self, step: &Step) {
        match *step {
            Step::Run { ticks, tick_ms } => self.run(ticks, tick_ms),
            Step::Arrive { isolate, count } => (0..count).for_each(|_| self.arrive(isolate)),
            Step::ComeBack { visitor, isolate, cookie } => {
                self.come_back(visitor, isolate, cookie);
            }
            Step::Leave { visitor } => {
                let index = visitor % self.visitors.len().max(1);
                if let Some(visitor) = self.visitors.get_mut(index) {
                    visitor.stays = false;
                }
            }
            Step::Revoke { visitor, isolate } => {
                self.revoke(visitor, isolate, 0);
            }
            Step::Fault(ref fault) => self.fail(fault),
        }
    }

    fn fail(&mut self, fault: &Fault) {
        let place = |flight: usize| flight % self.flights.len().max(1);
        match *fault {
            Fault::Lose { flight } => {
                let flight = self.flights.remove(place(flight)).and_then(lost);
                self.flights.extend(flight);
            }
            Fault::Repeat { flight } => {
                let flight = self.flights.get(place(flight)).and_then(repeated);
                self.flights.extend(flight);
            }
            Fault::GiveUp { flight } => {
                let place = place(flight);
                let Some(late) = self.flights.get(place).and_then(repeated) else { return };
                let silence = self.flights.remove(place).and_then(lost);
                self.flights.extend(silence);
                self.flights.push_back(late);
            }
            Fault::Overtake { flight } => {
                let flight = self.flights.remove(place(flight));
                self.flights.extend(flight);
            }
            Fault::KillIsolate { isolate } => self.kill_isolate(isolate),
            Fault::RestartCounter { data_center, with_copy } => {
                self.restart_counter(data_center, with_copy);
            }
            Fault::RestartAggregator { data_center, with_copy } => {
                self.restart_aggregator(data_center, with_copy);
            }
            Fault::RestartGlobal { with_copy } => {
                if !with_copy {
                    self.lose_global_copy();
                }
                self.restart_global();
            }
            Fault::FailWrite { fault } => self.write_fault = Some(fault),
        }
    }
}
