//! A visitor's browser: what it holds and how long its owner is patient. Decides no admission.

use room_core::ticket::Ticket;
use room_core::time::{MINUTE_MS, SECOND_MS, Timestamp};

use crate::baseline;
use crate::chance::Stream;

/// Between two requests of a visitor inside.
const REQUEST_MS: f64 = 30.0 * SECOND_MS as f64;
/// Whoever is revoked has been inside for so long (`admission.md` section 7).
const DONE_MS: u64 = 3 * MINUTE_MS;

/// How the visitors of a scenario behave.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// Part of the visitors who leave as soon as they see a queue page.
    pub leave_at_once: f64,
    /// The others wait this long on average.
    pub patience_ms: f64,
    /// How long visitors stay on the site.
    pub stay: Stay,
    /// Part of the requests that come several times at once, with the same cookie.
    pub parallel: f64,
    /// Part of the queue pages that are reloaded before their time.
    pub impatient: f64,
    /// Part of the visitors who are done after three minutes: the origin ends their sessions.
    pub revoked: f64,
    /// Part of the visitors who pass no challenge.
    pub bots: f64,
}

/// How long visitors stay on the site.
#[derive(Clone, Copy, Debug)]
pub enum Stay {
    /// Log-normal with a median of 120 s and sigma 1.2 (`admission.md` section 7).
    Long,
    /// Exponential with this mean, in milliseconds.
    Browsing(f64),
}

impl Habits {
    /// The visitors of `admission.md` section 7.
    pub const USUAL: Self = Self {
        leave_at_once: 0.05,
        patience_ms: 20.0 * MINUTE_MS as f64,
        stay: Stay::Long,
        parallel: 0.05,
        impatient: 0.02,
        revoked: 0.0,
        bots: 0.0,
    };

    fn stay_ms(&self, stream: &mut Stream) -> u64 {
        match self.stay {
            Stay::Long => stream.log_normal_ms(120.0 * SECOND_MS as f64, 1.2),
            Stay::Browsing(mean_ms) => stream.exponential_ms(mean_ms),
        }
    }
}

/// Where a visitor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Has not been answered yet.
    Arrives,
    /// Waits, and gives up at this moment.
    Waits(Timestamp),
    /// Is on the site until this moment.
    Inside(Timestamp),
    /// Is on the site until it asks for one last page at this moment, whose answer revokes.
    Ends(Timestamp),
    /// Will not come back.
    Gone,
}

/// What the browser's cookie says.
#[derive(Clone, Debug)]
pub enum Cookie {
    /// There is none.
    None,
    /// A ticket of the production core.
    Ticket(Ticket),
    /// A ticket of a published design.
    Published(baseline::Ticket),
}

/// One browser.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// The data center it reaches.
    pub data_center: usize,
    /// Its cookie.
    pub cookie: Cookie,
    /// Where it stands.
    pub standing: Standing,
    /// When it came first.
    pub arrived_at: Timestamp,
    /// When it entered first.
    pub entered_at: Option<Timestamp>,
    /// The end of its session, as the origin sees it: D after the last page.
    pub session_ends: Timestamp,
    /// When a wait was told first, and how many seconds.
    pub told: Option<(Timestamp, u32)>,
    /// True once a queue page was the answer.
    pub has_waited: bool,
    /// True if more than one newcomer per second reaches its data center.
    pub in_crowd: bool,
    /// True if it passes no challenge.
    pub is_bot: bool,
    /// What came of its challenge, once there was one.
    pub passed: Option<bool>,
}

impl Visitor {
    /// Somebody who comes for the first time.
    pub fn new(data_center: usize, arrived_at: Timestamp, in_crowd: bool) -> Self {
        Self {
            data_center,
            cookie: Cookie::None,
            standing: Standing::Arrives,
            arrived_at,
            entered_at: None,
            session_ends: Timestamp::default(),
            told: None,
            has_waited: false,
            in_crowd,
            is_bot: false,
            passed: None,
        }
    }

    /// The visitor sees the queue page for the first time: until when it waits at most.
    pub fn wait(&mut self, now: Timestamp, habits: &Habits, stream: &mut Stream) -> Timestamp {
        let patience_ms = stream.exponential_ms(habits.patience_ms);
        let until = if stream.happens(habits.leave_at_once) { now } else { now + patience_ms };
        self.standing = Standing::Waits(until);
        self.has_waited = true;
        until
    }

    /// The visitor sees the site for the first time.
    pub fn enter(&mut self, now: Timestamp, habits: &Habits, stream: &mut Stream) {
        let is_revoked = stream.happens(habits.revoked);
        let stays_until = now + habits.stay_ms(stream);
        self.standing =
            if is_revoked { Standing::Ends(now + DONE_MS) } else { Standing::Inside(stays_until) };
        self.entered_at = Some(now);
    }

    /// Whether the visitor still wants something; from then on it is gone.
    pub fn still_comes(&mut self, now: Timestamp) -> bool {
        let until = match self.standing {
            Standing::Arrives | Standing::Ends(_) => return true,
            Standing::Waits(until) | Standing::Inside(until) => until,
            Standing::Gone => return false,
        };
        if now >= until {
            self.standing = Standing::Gone;
        }
        now < until
    }

    /// When the visitor inside asks for the next page.
    pub fn next_request(&self, now: Timestamp, stream: &mut Stream) -> Timestamp {
        let next = now + stream.exponential_ms(REQUEST_MS);
        match self.standing {
            Standing::Ends(last) => next.min(last.max(now + 1)),
            _ => next,
        }
    }

    /// Whether the answer of this moment is the last one.
    pub fn is_done(&self, now: Timestamp) -> bool {
        matches!(self.standing, Standing::Ends(last) if now >= last)
    }
}
