//! I1 where isolates are cut from their aggregator, which goes on syncing: nobody too many is
//! inside also where visitors renew, since the isolates tell the global aggregator what they cannot
//! report.

use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};
use proptest::sample::select;
use room_core::room::settings::Settings;

use crate::cluster::Cluster;
use crate::escrow::{config, limits};
use crate::flight::{Flight, Reporter};
use crate::steps::Step;

/// What becomes of the reports of an isolate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// They get lost.
    Lost,
    /// They arrive, and nobody hears the answer.
    Unanswered,
    /// They arrive when the cut is over, and nobody hears the answer.
    Late,
}

/// One thing that happens.
#[derive(Clone, Debug)]
enum Scene {
    Step(Step),
    Cut { isolate: usize, cut: Cut },
    Heal,
}

impl Cluster {
    /// What arrives of a message; of a report of an isolate that is cut off, by the kind of cut.
    pub(crate) fn through_cuts(&mut self, flight: Flight) -> Option<Flight> {
        let Flight::Report { data_center, report, reporter: Some(reporter) } = flight else {
            return Some(flight);
        };
        let Some(cut) = self.cut(reporter) else {
            return Some(Flight::Report { data_center, report, reporter: Some(reporter) });
        };
        self.flights.push_back(Flight::Reported { reporter, reply: None });
        let unheard = Flight::Report { data_center, report, reporter: None };
        match cut {
            Cut::Lost => None,
            Cut::Unanswered => Some(unheard),
            Cut::Late => {
                self.stuck.push(unheard);
                None
            }
        }
    }

    fn cut(&self, reporter: Reporter) -> Option<Cut> {
        self.cuts.get(&reporter.isolate).copied()
    }

    fn play_scenes(&mut self, scenes: &[Scene]) {
        for scene in scenes {
            match scene {
                Scene::Step(step) => self.step(step),
                Scene::Cut { isolate, cut } => {
                    self.cuts.insert(isolate % self.isolates.len(), *cut);
                }
                Scene::Heal => self.heal(),
            }
        }
    }

    fn heal(&mut self) {
        self.cuts.clear();
        self.flights.extend(self.stuck.drain(..));
    }
}

fn scenes() -> impl Strategy<Value = Vec<Scene>> {
    let index = 0..64_usize;
    let run = (10..120_u64).prop_map(|ticks| Step::Run { ticks, tick_ms: 100 });
    let arrive =
        (index.clone(), 1..8_usize).prop_map(|(isolate, count)| Step::Arrive { isolate, count });
    let renew = (index.clone(), index.clone()).prop_map(|(visitor, isolate)| Step::ComeBack {
        visitor,
        isolate,
        cookie: 0,
    });
    let step = prop_oneof![4 => run, 2 => arrive, 8 => renew].prop_map(Scene::Step);
    let way = select(vec![Cut::Lost, Cut::Unanswered, Cut::Late]);
    let cut = (index, way).prop_map(|(isolate, cut)| Scene::Cut { isolate, cut });
    let heal = Just(Scene::Heal);
    vec(prop_oneof![14 => step, 2 => cut, 1 => heal], 20..120)
}

fn rooms() -> impl Strategy<Value = Settings> {
    let sizes = [(2, 2), (10, 10), (30, 20), (100, 100)];
    select(sizes.to_vec()).prop_map(|(places, per_minute)| limits(places, per_minute))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: config().cases / 4, ..config() })]

    #[test]
    fn i1_no_cut_of_reports_lets_one_too_many_in(settings in rooms(), scenes in scenes()) {
        let mut cluster = Cluster::new(settings, 2);
        cluster.truth.is_strict = true;
        cluster.play_scenes(&scenes);
        cluster.heal();
        cluster.run(1_000, 100);
    }
}
