//! A visitor's browser: its cookie, and its owner's patience. It decides no admission.

use room_core::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use room_core::page::told_step;
use room_core::queue::estimate;
use room_core::ticket::Ticket;

use crate::baseline;
use crate::chance::Stream;

/// How long a visitor has been inside before the session is ended, in milliseconds
/// (`docs/simulation.md`).
const DONE_MS: u64 = 3 * MINUTE_MS;
/// The longest patience, in milliseconds: 30 days, longer than any story.
const PATIENCE_MS_MAX: u64 = 30 * 24 * 60 * MINUTE_MS;

/// How the visitors of a scenario behave.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// Part of the visitors who leave as soon as they see a queue page.
    pub leave_at_once: f64,
    /// The mean patience of the others, in milliseconds.
    pub patience_ms: f64,
    /// How long visitors stay on the site.
    pub stay: Stay,
    /// Mean time between two requests of a visitor inside, in milliseconds.
    pub request_ms: f64,
    /// Part of the requests that are sent several times at once, with the same cookie.
    pub parallel: f64,
    /// Part of the queue pages that are reloaded before their time.
    pub impatient: f64,
    /// Part of the visitors who are done after three minutes: the origin ends their sessions.
    pub revoked: f64,
    /// Whether visitors whose session the origin ends keep a copy of the cookie that others use.
    pub keeps_copies: bool,
    /// Part of the visitors who pass no challenge.
    pub bots: f64,
    /// Part of the visitors whose cookie many others also use while they wait.
    pub shared: f64,
    /// Whether the same cookies are used in many data centers once they are inside too.
    pub shared_inside: bool,
    /// Part of the visitors who wait until their turn may be kept, and never come again.
    pub ghosts: f64,
}

/// How long visitors stay on the site.
#[derive(Clone, Copy, Debug)]
pub enum Stay {
    /// Log-normal with a median of 120 s and sigma 1.2 (`docs/simulation.md`).
    Long,
    /// Exponential with this mean, in milliseconds.
    Browsing(f64),
    /// Uniform between these bounds, in milliseconds.
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
        keeps_copies: false,
        bots: 0.0,
        shared: 0.0,
        shared_inside: false,
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

/// The state of a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitorState {
    /// Not answered yet.
    Arrives,
    /// Waiting, until the visitor gives up at this moment.
    Waits(Timestamp),
    /// On the site until this moment.
    Inside(Timestamp),
    /// On the site until one last page request at this moment, whose answer ends the session.
    Ends(Timestamp),
    /// Will not come back.
    Gone,
    /// Gone, since the site has ended the session. Answers to requests of the same moment are no
    /// visit.
    Revoked,
}

/// The owner of a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A person who uses the cookie alone.
    Person,
    /// A person whose cookie many others also use while it waits.
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
    /// Returns when the cookie's session began; 0 before that, `None` for a published design.
    pub fn accepted_at(&self) -> Option<Timestamp> {
        match self {
            Self::Ticket(ticket) => Some(ticket.accepted_at),
            Self::None | Self::Published(_) => None,
        }
    }

    /// Returns the ticket of a published design, if the browser holds one.
    pub fn published(&self) -> Option<baseline::Ticket> {
        match self {
            Self::Published(ticket) => Some(*ticket),
            Self::None | Self::Ticket(_) => None,
        }
    }
}

/// One visitor's browser: its cookie, its owner's state, and what the measures need.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// The number of its data center, from 0 on.
    pub data_center: usize,
    /// What its cookie says.
    pub cookie: Cookie,
    /// The state of its owner.
    pub standing: VisitorState,
    /// When it first came.
    pub arrived_at: Timestamp,
    /// When it first entered.
    pub entered_at: Option<Timestamp>,
    /// When it gives up waiting, once it waits.
    pub gives_up_at: Option<Timestamp>,
    /// The end of its session, as the origin sees it: D after the last page.
    pub session_ends: Timestamp,
    /// When a wait was first shown, and its seconds.
    pub told: Option<(Timestamp, u32)>,
    /// The shortest wait shown, in seconds. A minute for anything shorter, 0 before the first.
    pub told_least_s: u32,
    /// The longest wait shown after that, in percent of it; 0 if there was none.
    pub told_rise_percent: u32,
    /// The fewest minutes read on a page, 0 before the first. Less than a minute reads as one.
    pub read_least: u64,
    /// The most minutes read after that, in percent of them; 0 if there were none.
    pub read_rise_percent: u32,
    /// How often a page read longer than the one before it.
    pub read_longer: u32,
    /// The minutes read on the last page.
    pub read_last: u64,
    /// Whether a queue page was ever the answer.
    pub has_waited: bool,
    /// Whether more than one newcomer per second reaches its data center.
    pub in_crowd: bool,
    /// Its owner.
    pub owner: Owner,
    /// The outcome of its challenge, if there was one.
    pub passed: Option<bool>,
}

impl Visitor {
    /// Makes the browser of a visitor who comes for the first time, without a cookie.
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

    /// Reads from all over the browser, so that it gets into the caches of the processor.
    pub fn glance(&self) -> u64 {
        let ticket_at = self.cookie.accepted_at().map_or(0, |at| at.0);
        ticket_at
            .wrapping_add(self.arrived_at.0)
            .wrapping_add(self.session_ends.0)
            .wrapping_add(self.data_center as u64)
            .wrapping_add(u64::from(self.has_waited))
            .wrapping_add(u64::from(self.standing == VisitorState::Gone))
            .wrapping_add(u64::from(self.entered_at.is_some()))
            .wrapping_add(u64::from(self.told.is_some()))
            .wrapping_add(u64::from(self.read_longer))
    }

    /// Counts the visitor as one who came, from this moment on, unless it has been inside before.
    pub fn join(&mut self, at: Timestamp) {
        if self.entered_at.is_none() {
            self.arrived_at = at;
        }
    }

    /// Shows the visitor a first queue page. Returns until when it waits at most.
    pub fn wait(&mut self, now: Timestamp, habits: &Habits, stream: &mut Stream) -> Timestamp {
        let patience_ms = stream.exponential_ms(habits.patience_ms).min(PATIENCE_MS_MAX);
        let until = if stream.happens(habits.leave_at_once) { now } else { now + patience_ms };
        self.standing = VisitorState::Waits(until);
        self.gives_up_at = Some(until);
        self.has_waited = true;
        until
    }

    /// Shows the visitor a wait of `told_s` seconds.
    pub fn hear(&mut self, now: Timestamp, told_s: u32) {
        if self.entered_at.is_some() {
            return;
        }
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

    /// Shows the visitor the site for the first time.
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

    /// Returns whether the visitor still wants something. If not, it is gone from now on.
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

    /// Returns when the visitor inside requests the next page.
    pub fn next_request(&self, now: Timestamp, habits: &Habits, stream: &mut Stream) -> Timestamp {
        let next = now + stream.exponential_ms(habits.request_ms);
        match self.standing {
            VisitorState::Ends(last) => next.min(last.max(now + 1)),
            _ => next,
        }
    }

    /// Whether the answer at this moment is the last one.
    pub fn is_done(&self, now: Timestamp) -> bool {
        matches!(self.standing, VisitorState::Ends(last) if now >= last)
    }
}
