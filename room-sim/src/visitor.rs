//! A visitor's browser: what it holds and how long its owner is patient. Decides no admission.

use room_core::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use room_core::page::told_step;
use room_core::queue::estimate;
use room_core::ticket::Ticket;

use crate::baseline;
use crate::chance::Stream;

/// Whoever is revoked has been inside for so long (`docs/simulation.md`).
const DONE_MS: u64 = 3 * MINUTE_MS;
/// Nobody waits for longer than any story lasts: 30 days.
const PATIENCE_MS_MAX: u64 = 30 * 24 * 60 * MINUTE_MS;

/// How the visitors of a scenario behave.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// Part of the visitors who leave as soon as they see a queue page.
    pub leave_at_once: f64,
    /// The others wait this long on average.
    pub patience_ms: f64,
    /// How long visitors stay on the site.
    pub stay: Stay,
    /// Between two requests of a visitor inside, on average.
    pub request_ms: f64,
    /// Part of the requests that come several times at once, with the same cookie.
    pub parallel: f64,
    /// Part of the queue pages that are reloaded before their time.
    pub impatient: f64,
    /// Part of the visitors who are done after three minutes: the origin ends their sessions.
    pub revoked: f64,
    /// Part of the visitors who pass no challenge.
    pub bots: f64,
    /// Part of the visitors whose cookie many others hold too while they wait.
    pub shared: f64,
    /// Part of the visitors who wait until their turn may be kept, and then never come again.
    pub ghosts: f64,
}

/// How long visitors stay on the site.
#[derive(Clone, Copy, Debug)]
pub enum Stay {
    /// Log-normal with a median of 120 s and sigma 1.2 (`docs/simulation.md`).
    Long,
    /// Exponential with this mean, in milliseconds.
    Browsing(f64),
    /// From so many to so many milliseconds, all equally likely.
    Between(u64, u64),
}

impl Habits {
    /// The visitors of `docs/simulation.md`.
    pub const USUAL: Self = Self {
        leave_at_once: 0.05,
        patience_ms: 20.0 * MINUTE_MS as f64,
        stay: Stay::Long,
        request_ms: 30.0 * SECOND_MS as f64,
        parallel: 0.05,
        impatient: 0.02,
        revoked: 0.0,
        bots: 0.0,
        shared: 0.0,
        ghosts: 0.0,
    };

    fn stay_ms(&self, stream: &mut Stream) -> u64 {
        match self.stay {
            Stay::Long => stream.log_normal_ms(120.0 * SECOND_MS as f64, 1.2),
            Stay::Browsing(mean_ms) => stream.exponential_ms(mean_ms),
            Stay::Between(low_ms, high_ms) => stream.between(low_ms, high_ms),
        }
    }
}

/// Where a visitor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitorState {
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
    /// Will not come back, since the site has ended the session: what it still answers to requests
    /// that came at the same time is no visit.
    Revoked,
}

/// Who sits before a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Somebody who uses the cookie alone.
    Person,
    /// Somebody whose cookie many others hold too, and use while it waits.
    Sharer,
    /// A program that passes no challenge.
    Bot,
    /// A program that never comes to its turn once the turn may be kept.
    Ghost,
}

/// What the browser's cookie says.
#[derive(Clone, Debug)]
pub enum Cookie {
    /// The browser holds no cookie of the room.
    None,
    /// A ticket of the production core.
    Ticket(Ticket),
    /// A ticket of a published design.
    Published(baseline::Ticket),
}

impl Cookie {
    /// When the session began that it stands for, 0 before; none of a published design.
    pub fn accepted_at(&self) -> Option<Timestamp> {
        match self {
            Self::Ticket(ticket) => Some(ticket.accepted_at),
            Self::None | Self::Published(_) => None,
        }
    }

    /// The ticket of a published design, if the browser holds one.
    pub fn published(&self) -> Option<baseline::Ticket> {
        match self {
            Self::Published(ticket) => Some(*ticket),
            Self::None | Self::Ticket(_) => None,
        }
    }
}

/// One visitor's browser: its cookie, where its owner stands, and what the measures need of it.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// The number of the data center that it reaches, from 0 on.
    pub data_center: usize,
    /// What its cookie says.
    pub cookie: Cookie,
    /// Where its owner stands.
    pub standing: VisitorState,
    /// When it came first.
    pub arrived_at: Timestamp,
    /// When it entered first.
    pub entered_at: Option<Timestamp>,
    /// When it gives up the wait, once it waits.
    pub gives_up_at: Option<Timestamp>,
    /// The end of its session, as the origin sees it: D after the last page.
    pub session_ends: Timestamp,
    /// When a wait was told first, and how many seconds.
    pub told: Option<(Timestamp, u32)>,
    /// The least wait that was told, in seconds; a minute for anything shorter, 0 before the first.
    pub told_least_s: u32,
    /// The most that was told after that, in percent of it; 0 where none was.
    pub told_rise_percent: u32,
    /// The least number of minutes that was read on a page, 0 before the first; less than a minute
    /// reads as one.
    pub read_least: u64,
    /// The most that was read after that, in percent of it; 0 where none was.
    pub read_rise_percent: u32,
    /// How often a page read longer than the one before it.
    pub read_longer: u32,
    /// What the last page read, in minutes.
    pub read_last: u64,
    /// True once a queue page was the answer.
    pub has_waited: bool,
    /// True if more than one newcomer per second reaches its data center.
    pub in_crowd: bool,
    /// Who sits before it.
    pub owner: Owner,
    /// What came of its challenge, once there was one.
    pub passed: Option<bool>,
}

impl Visitor {
    /// Makes the browser of somebody who comes for the first time, without a cookie.
    pub fn new(data_center: usize, arrived_at: Timestamp, in_crowd: bool) -> Self {
        Self {
            data_center,
            cookie: Cookie::None,
            standing: VisitorState::Arrives,
            arrived_at,
            entered_at: None,
            gives_up_at: None,
            session_ends: Timestamp::default(),
            told: None,
            told_least_s: 0,
            told_rise_percent: 0,
            read_least: 0,
            read_rise_percent: 0,
            read_longer: 0,
            read_last: u64::MAX,
            has_waited: false,
            in_crowd,
            owner: Owner::Person,
            passed: None,
        }
    }

    /// Reads from all over the browser, so that it is in the caches of the processor soon after.
    pub fn glance(&self) -> u64 {
        let ticket_at = self.cookie.accepted_at().map_or(0, |at| at.0);
        ticket_at
            .wrapping_add(self.arrived_at.0)
            .wrapping_add(self.session_ends.0)
            .wrapping_add(self.data_center as u64)
            .wrapping_add(u64::from(self.has_waited))
    }

    /// From this moment on the visitor counts as one who came, if it has not been inside before.
    pub fn join(&mut self, at: Timestamp) {
        if self.entered_at.is_none() {
            self.arrived_at = at;
        }
    }

    /// The visitor sees the queue page for the first time: until when it waits at most.
    pub fn wait(&mut self, now: Timestamp, habits: &Habits, stream: &mut Stream) -> Timestamp {
        let patience_ms = stream.exponential_ms(habits.patience_ms).min(PATIENCE_MS_MAX);
        let until = if stream.happens(habits.leave_at_once) { now } else { now + patience_ms };
        self.standing = VisitorState::Waits(until);
        self.gives_up_at = Some(until);
        self.has_waited = true;
        until
    }

    /// The visitor is told a wait of so many seconds.
    pub fn hear(&mut self, now: Timestamp, told_s: u32) {
        self.told.get_or_insert((now, told_s));
        // Shorter waits are shown as a minute.
        let shown_s = told_s.max(estimate::SHORTEST_S);
        if self.told_least_s == 0 || shown_s < self.told_least_s {
            self.told_least_s = shown_s;
        }
        let percent = u64::from(shown_s) * 100 / u64::from(self.told_least_s);
        self.told_rise_percent =
            self.told_rise_percent.max(u32::try_from(percent).unwrap_or(u32::MAX));
        let step = told_step(told_s);
        self.read_longer += u32::from(step > self.read_last);
        self.read_last = step;
        let read = step.max(1);
        if self.read_least == 0 || read < self.read_least {
            self.read_least = read;
        }
        let percent = u32::try_from(read * 100 / self.read_least).unwrap_or(u32::MAX);
        self.read_rise_percent = self.read_rise_percent.max(percent);
    }

    /// The visitor sees the site for the first time.
    pub fn enter(&mut self, now: Timestamp, habits: &Habits, stream: &mut Stream) {
        let is_revoked = stream.happens(habits.revoked);
        let stays_until = now + habits.stay_ms(stream);
        self.standing = if is_revoked {
            VisitorState::Ends(now + DONE_MS)
        } else {
            VisitorState::Inside(stays_until)
        };
        self.entered_at = Some(now);
    }

    /// Whether the visitor still wants something; from then on it is gone.
    pub fn still_comes(&mut self, now: Timestamp) -> bool {
        let until = match self.standing {
            VisitorState::Arrives | VisitorState::Ends(_) => return true,
            VisitorState::Waits(until) | VisitorState::Inside(until) => until,
            VisitorState::Gone | VisitorState::Revoked => return false,
        };
        if now >= until {
            self.standing = VisitorState::Gone;
        }
        now < until
    }

    /// When the visitor inside asks for the next page.
    pub fn next_request(&self, now: Timestamp, habits: &Habits, stream: &mut Stream) -> Timestamp {
        let next = now + stream.exponential_ms(habits.request_ms);
        match self.standing {
            VisitorState::Ends(last) => next.min(last.max(now + 1)),
            _ => next,
        }
    }

    /// Whether the answer of this moment is the last one.
    pub fn is_done(&self, now: Timestamp) -> bool {
        matches!(self.standing, VisitorState::Ends(last) if now >= last)
    }
}
