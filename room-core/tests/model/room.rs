//! The bounds of one search: the room's limits, who comes, whose clock runs ahead, how much may go
//! wrong, and which bug is planted.

use room_core::base::time::Timestamp;
use room_core::room::settings::Settings;

/// One world to search.
#[derive(Clone, Debug)]
pub struct Room {
    pub settings: Settings,
    /// The data center that each visitor comes to, in the order in which they come.
    pub homes: Vec<usize>,
    /// How far these clocks run ahead of true time, in milliseconds.
    pub ahead: Vec<(Clock, u64)>,
    pub budget: Budget,
    /// What may be restarted.
    pub restarts: Vec<Place>,
    /// For how long everything may go its ordinary way in one event, in milliseconds.
    pub calms_ms: Vec<u64>,
    /// True if it may begin while messages are on their way, which then arrive in their order.
    pub is_calm_anywhere: bool,
    /// True if no message takes long: time passes only while none is on its way. Then the limit
    /// holds where sessions are renewed too.
    pub is_timely: bool,
    pub bug: Option<Bug>,
    /// What has happened before the search begins.
    pub before: Vec<Before>,
}

/// A step of the situation in which a search begins.
#[derive(Clone, Copy, Debug)]
pub enum Before {
    Arrive,
    /// Everything goes its ordinary way for so long, in milliseconds.
    Calm(u64),
    /// The same until a slot is free and this visitor may come for it.
    CalmUntilServed(usize),
}

/// How much may still happen on one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Faults of all kinds together.
    pub faults: u8,
    pub losses: u8,
    pub doubles: u8,
    /// Messages that get stuck.
    pub delays: u8,
    pub restarts: u8,
    /// Visitors whose tabs go to sleep.
    pub dozes: u8,
    /// Requests of visitors inside.
    pub renewals: u8,
    /// Ends of sessions by the site.
    pub ends: u8,
    /// Isolates that are cut from their aggregator, for good.
    pub cuts: u8,
    pub calms: u8,
}

/// Whose clock it is. True time is a clock that nobody has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    Global,
    Counter(usize),
    Aggregator(usize),
    Isolate(usize),
}

/// What can be restarted or woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Global,
    Counter(usize),
    Aggregator(usize),
    Isolate(usize),
}

/// A bug planted between the machines, to see that it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Counters are told that a lease ends later than it does.
    LeaseEndsLate,
    /// A question that comes again is answered with the slot of the first answer, however late.
    RepeatWithoutRateSlot,
    /// Each move of a visitor is reported once more, under another visitor's name.
    RenewalCountedTwice,
    /// Each end of a session is reported once more, under another visitor's name.
    EndCountedTwice,
    /// What an isolate could not report is not told to the global aggregator either.
    HoldsForgotten,
    /// The global aggregator answers before the row is stored.
    SaidBeforeStored,
}

impl Room {
    /// A room of these limits with sessions of a minute, where nothing goes wrong.
    pub fn new(places: u32, per_minute: u32, homes: &[usize]) -> Self {
        Self {
            settings: Settings {
                session_duration_minutes: 1,
                disable_session_renewal: true,
                ..Settings::with_limits(places, per_minute)
            },
            homes: homes.to_vec(),
            ahead: Vec::new(),
            budget: Budget { calms: 3, ..Budget::default() },
            restarts: Vec::new(),
            calms_ms: vec![2_000, 16_000, 45_000],
            is_calm_anywhere: false,
            is_timely: false,
            bug: None,
            before: Vec::new(),
        }
    }

    /// What a clock shows at a moment of true time.
    pub fn clock(&self, now: Timestamp, clock: Clock) -> Timestamp {
        now + self.ahead_ms(clock)
    }

    pub fn ahead_ms(&self, clock: Clock) -> u64 {
        let ahead = self.ahead.iter().find(|(whose, _)| *whose == clock);
        ahead.map_or(0, |(_, ahead_ms)| *ahead_ms)
    }
}

impl Budget {
    /// Whether nothing has gone wrong yet.
    pub fn is_whole(self, at_first: Self) -> bool {
        self.faults == at_first.faults
    }
}
