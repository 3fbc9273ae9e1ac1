//! The laws that every story of the swarm keeps, by the truth from outside alone.

use std::fmt;

use room_core::base::time::{MINUTE_MS, SECOND_MS};
use room_core::order::lottery::ROUND_MS;
use room_core::queue::SLOW_ROOM_PER_MINUTE;
use room_core::room::settings::{QueueingMethod, Settings};

use crate::measure::{MINUTE_YOUNGER_MS, Measures, Summary, overtaken};
use crate::swarm::story::Draft;
use crate::world::World;

/// The allowed excess over a limit: this part of it, or one visitor if that is more.
const OVER_PART: f64 = 0.002;
/// The longest time without an entrance although places are free and somebody waits, in
/// milliseconds. A session is added, for which a place is held that was lost with its isolate or
/// its data center.
const STANDSTILL_MS: u64 = MINUTE_MS;
/// The longest fault, in milliseconds.
const FAULT_MS: u64 = 3 * MINUTE_MS;
/// The part of the entered visitors who may be overtaken, or a few if that is more.
const OVERTAKEN_PART: f64 = 0.002;
const OVERTAKEN_FEW: f64 = 1.0;
/// The part of the uses of copies after a minute that may reach the site besides those whose
/// question or answer gets lost, or a few if that is more.
const SERVED_PART: f64 = 0.03;
const SERVED_FEW: f64 = 3.0;
/// The check-ins within which a called visitor enters: the next, or the one after it if its slot
/// gets lost.
const CHECK_INS: u64 = 2;
/// How much of the limits may be idle behind a line, in percent. A room of three places reaches 23
/// (seed 288).
const IDLE_PERCENT: f64 = 35.0;
/// The same in a lottery. It learns at the next check-in that a called visitor has left, and of an
/// impatient line nearly half have (seed 7700257: 36).
const IDLE_DRAWN_PERCENT: f64 = 50.0;
/// So many seconds behind a line make a mean.
const IDLE_SECONDS: u64 = 60;

/// A law of the swarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// No machine panics.
    Sound,
    /// Never more than N are inside.
    Places,
    /// Never more than R are admitted in 60 s.
    Rate,
    /// Nobody enters before the start of an event.
    Start,
    /// Nobody waits at the end.
    Drained,
    /// Somebody enters while places are free.
    Progress,
    /// A line that stands leaves few places empty.
    Busy,
    /// First come, first served.
    Order,
    /// The platform's limits would have been kept.
    Platform,
    /// Nobody is served by a session that was ended.
    Ended,
}

impl Law {
    /// Returns the name of the law.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Places => "places",
            Self::Rate => "rate",
            Self::Start => "start",
            Self::Drained => "drained",
            Self::Progress => "progress",
            Self::Busy => "busy",
            Self::Order => "order",
            Self::Platform => "platform",
            Self::Ended => "ended",
        }
    }

    /// Returns the law in one sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Sound => "no machine panics",
            Self::Places => {
                "never are more than N inside, but for those whose renewal died with its isolate, \
                 and for one visitor or 0.2 %"
            }
            Self::Rate => {
                "never are more than R admitted in any 60 s, but for one visitor or 0.2 %"
            }
            Self::Start => "nobody enters before the start of an event",
            Self::Drained => "an hour after the last arrival nobody waits",
            Self::Progress => {
                "while somebody waits and places are free, somebody enters within a session and \
                 a minute, or four minutes where anything breaks, and a round more in a slow \
                 lottery"
            }
            Self::Busy => {
                "where nothing breaks and enough for a minute have waited for a minute, at most \
                 35 % of the tighter limit is idle on average over a minute or more, or 50 % in a \
                 lottery, but for copies of cookies that are used inside"
            }
            Self::Order => {
                "where no fault excuses it, nobody enters later than two check-ins after \
                 somebody a minute younger, but for one visitor or 0.2 %"
            }
            Self::Ended => {
                "where nothing breaks, no copy of the cookie reaches the site a minute after its \
                 visitor has left, but for three uses or 3 %, where a question gets lost, and \
                 where the end of the session died with its isolate"
            }
            Self::Platform => "no value, memory or number of calls is more than the platform takes",
        }
    }
}

/// The outcome of a story with regard to the laws.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Visitors who came, waited, and entered.
    pub visitors: (u64, u64, u64),
    /// A hash of all admissions in their order.
    pub fingerprint: u64,
    /// Visitors inside beyond N, including those whose renewal died with its isolate.
    pub over: u64,
    /// The laws, each with the reached and the allowed figure.
    figures: Vec<(Law, f64, f64)>,
}

/// Returns the further wait and the idle part in percent that are allowed. A slow room calls nobody
/// without a free slot. In a lottery, visitors called in one round are awaited in the next: if all
/// have left, the room continues a round later.
fn awaited(settings: &Settings) -> (u64, f64) {
    let is_drawn = settings.queueing_method == QueueingMethod::Random;
    let is_slow = settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE;
    let awaited_ms = if is_drawn && is_slow { ROUND_MS } else { 0 };
    (awaited_ms, if is_drawn { IDLE_DRAWN_PERCENT } else { IDLE_PERCENT })
}

/// A law that is broken.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The law.
    pub law: Law,
    /// The reached and the allowed figure.
    pub figures: (f64, f64),
}

impl Outcome {
    /// Reads the outcome from a finished story.
    pub fn of(
        world: &World,
        measures: &Measures,
        summary: &Summary,
        settings: &Settings,
        draft: &Draft,
    ) -> Self {
        let most = |limit: u32| (OVER_PART * f64::from(limit)).floor().max(1.0);
        let fault_ms = if draft.has_faults { FAULT_MS } else { 0 };
        let (awaited_ms, most_idle_percent) = awaited(settings);
        let standstill_ms = settings.session_ms() + STANDSTILL_MS + fault_ms + awaited_ms;
        let keeps_order = draft.is_in_order && !draft.has_faults;
        let seconds = |time_ms: u64| time_ms as f64 / SECOND_MS as f64;
        let truth = world.truth();
        let sooner_ms = CHECK_INS * settings.longest_refresh_ms();
        let overtaken = overtaken(world.visitors(), MINUTE_YOUNGER_MS, sooner_ms);
        let few = (OVERTAKEN_PART * summary.admitted as f64).floor().max(OVERTAKEN_FEW);
        let (uses, served) = world.late_uses_of_copies();
        let lost = 2.0 * draft.scenario().network_conditions.loss;
        let served_few = ((SERVED_PART + lost) * uses as f64).floor().max(SERVED_FEW);
        // Copies that are used inside hold places of which the truth knows nothing.
        let habits = draft.scenario().habits;
        let may_be_idle = draft.has_faults || habits.shared_inside || habits.keeps_copies;
        let idle = truth.idle_behind_line;
        let is_mean = idle.seconds() >= IDLE_SECONDS && !may_be_idle;
        let figures = vec![
            (Law::Places, truth.over_unexplained as f64, most(settings.total_active_users)),
            (Law::Rate, truth.rate_over_visitors as f64, most(settings.new_users_per_minute)),
            (Law::Start, truth.admitted_early as f64, 0.0),
            (Law::Drained, summary.waiting_at_end as f64, 0.0),
            (Law::Progress, seconds(truth.standstill_ms), seconds(standstill_ms)),
            (Law::Busy, if is_mean { idle.percent() } else { 0.0 }, most_idle_percent),
            (Law::Order, if keeps_order { overtaken as f64 } else { 0.0 }, few),
            (Law::Platform, measures.platform_failures as f64, 0.0),
            (Law::Ended, if draft.has_faults { 0.0 } else { served as f64 }, served_few),
        ];
        let visitors = (summary.arrived, summary.queued, summary.admitted);
        Self {
            visitors,
            fingerprint: summary.fingerprint,
            over: truth.active_over_visitors,
            figures,
        }
    }

    /// Returns the broken laws.
    pub fn broken(&self) -> Vec<Broken> {
        let broken = self.figures.iter().filter(|(_, is, most)| is > most);
        broken.map(|(law, is, most)| Broken { law: *law, figures: (*is, *most) }).collect()
    }

    /// Returns the laws, each with the reached and the allowed figure.
    pub fn figures(&self) -> &[(Law, f64, f64)] {
        &self.figures
    }
}

impl Broken {
    /// Returns the broken law of a machine that panicked.
    pub fn panic() -> Self {
        Self { law: Law::Sound, figures: (1.0, 0.0) }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (law, (is, most)) = (self.law, self.figures);
        write!(formatter, "{}: {is} of at most {most} ({})", law.name(), law.sentence())
    }
}
