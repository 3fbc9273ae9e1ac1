//! One request to a room: the order of its checks, and what each leads to.
//!
//! [`enter`] finds the room and lets requests pass that no room decides. [`Visit::step`] then
//! checks the request in order. It ends with an answer, or with a [`Need`]: what its caller must
//! get first, like a view or the check of a token. The caller notes that in [`Learned`] and steps
//! again. The Worker, the simulator, the laws and the model drive it.

pub mod answer;
mod challenged;
pub mod draw;
mod ended;
mod entrance;
pub mod invitation;
pub mod log;
mod need;
mod own_ticket;
pub mod place;
pub mod request;
pub mod session;
pub mod turn_notice;
pub mod verdict;

use crate::admission::{self, Ask, Decision, RandomInputs, confirmation, moving};
use crate::base::time::Timestamp;
use crate::capacity::slots::SlotClass;
use crate::machines::isolate::{Asking, Isolate, Outcome};
use crate::machines::wire::CounterReply;
use crate::page::event_stream;
use crate::room::event::InForce;
use crate::room::settings::Settings;
use crate::room::turnstile::{ChallengeEvent, split_token};
use crate::room::{Room, TicketSharing};
use crate::ticket::{Ticket, TicketState};

pub use entrance::{Entrance, Site, enter};
pub use need::{Learned, Need, PlaceState};
pub use own_ticket::own_ticket;
use request::{RequestHead, RequestKind, accepts_event_stream_alone};

/// The parts of a request that only some steps need. They are read on demand, since reading them
/// costs time.
pub trait VisitSource {
    /// Opens the cookies of the request and returns the visitor's own ticket ([`own_ticket()`]);
    /// `None` if no cookie holds a readable one. `isolate` knows which tickets are void.
    fn ticket(&mut self, isolate: Option<&Isolate>) -> Option<Ticket>;

    /// Draws the random inputs of this visit; a second call may give others.
    fn random(&mut self) -> RandomInputs;

    /// Reads the `Accept` header; "" where there is none.
    fn accept(&self) -> String;

    /// Whether one of the older headers says that the request is a prefetch.
    fn prefetches(&self) -> bool {
        false
    }

    /// Whether a page loads the request for a part of it, like a picture or a style sheet.
    fn loads_part(&self) -> bool {
        false
    }

    /// Returns how to treat this ticket of a session: `Allow`, unless others use it and the room
    /// forbids that.
    fn sharing(&mut self, _ticket: &Ticket) -> TicketSharing {
        TicketSharing::Allow
    }

    /// Whether the request is a check-in of a page that reports itself as hidden.
    fn is_hidden(&self) -> bool {
        false
    }

    /// Whether the client's network has used up the new places that the room gives it per minute.
    fn has_no_place_left(&self) -> bool {
        false
    }
}

/// A source with given answers. The simulator and tests use it.
#[derive(Clone, Debug)]
pub struct GivenSource {
    /// The ticket that the visitor comes with.
    pub ticket: Option<Ticket>,
    /// The random inputs of the visit.
    pub random: RandomInputs,
}

impl VisitSource for GivenSource {
    fn ticket(&mut self, _isolate: Option<&Isolate>) -> Option<Ticket> {
        self.ticket.clone()
    }

    fn random(&mut self) -> RandomInputs {
        self.random
    }

    fn accept(&self) -> String {
        String::new()
    }
}

/// One request to a room, before its ticket is opened.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    /// The moment of the request.
    pub now: Timestamp,
    /// The absolute URL of the request.
    pub url: &'a str,
    /// The method, and the headers that show the kind of the request.
    pub head: RequestHead<'a>,
    /// The settings in force for this visitor (the room's, or its event's): see
    /// [`InForce::after_challenge`].
    pub in_force: &'a InForce<'a>,
    /// What the request asks for besides a page.
    pub asks: Asks,
    /// What was found out for this visit so far.
    pub learned: Learned,
}

/// What a request asks the room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asks {
    /// A page of the site, as most do.
    #[default]
    Page,
    /// The visitor's session ([`session::is_asked`]), in a room that answers that.
    Session,
    /// The log of admissions ([`log::is_asked`]), in a room that has one.
    Log,
}

impl Asks {
    /// Returns what a request to this URL asks for in this room.
    pub fn of(url: &str, room: &Room) -> Self {
        if room.session_endpoint && session::is_asked(url) {
            Self::Session
        } else if log::is_asked(url, room) {
            Self::Log
        } else {
            Self::Page
        }
    }
}

/// The result of [`Visit::step`]: an answer, or what its caller must do before there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something is needed first. Then the same visit is stepped again.
    Need(Need),
    /// [`draw::answer`] answers.
    Draw,
    /// A prefetch by a visitor who is not inside is refused. A page that may never be opened takes
    /// no slot and no place in the line.
    RefusePrefetch,
    /// A part of a page is refused to a visitor who is not inside. It is no check-in and takes no
    /// place, and no page is sent instead of a picture.
    RefusePart,
    /// [`session::reply`] answers; the ticket is the visitor's own if it holds a session.
    Session(Option<Ticket>),
    /// [`log::verdict`] answers; the ticket is the visitor's own if it holds a session.
    Log(Option<Ticket>),
    /// The request is one of [`place`]; the ticket is the visitor's own if it holds a place.
    Place(Option<Ticket>),
    /// The place has moved to another device, and the page says so.
    Moved,
    /// The waiting holder of this ticket is answered with an event stream.
    Stream(Ticket),
    /// The outcome, decided without a call.
    Answer(Outcome),
}

/// An outcome, with what is left to do besides sending the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conclusion {
    /// The outcome; a ticket in it is marked with the state of the visitor's challenge.
    pub outcome: Outcome,
    /// The event to add to the counts of challenges; `None` if there was none.
    pub challenge: Option<ChallengeEvent>,
    /// Whether the isolate has to report or to refresh its view after the answer.
    pub work_is_left: bool,
}

impl<'a> Visit<'a> {
    /// Makes the visit of somebody who asks for a page by `GET`, without a token.
    pub fn of_page(now: Timestamp, in_force: &'a InForce<'a>) -> Self {
        let head = RequestHead { method: "GET", ..RequestHead::default() };
        let learned = Learned::default();
        Self { now, url: "", head, in_force, asks: Asks::Page, learned }
    }

    /// Checks the request in order until there is an answer or something is missing.
    ///
    /// `isolate` is the room's machine in this isolate; `None` before one was made. The step is
    /// then [`Need::View`] at the latest.
    pub fn step(&self, isolate: Option<&mut Isolate>, source: &mut impl VisitSource) -> Step {
        let settings: &Settings = &self.in_force.settings;
        if let Some(step) = self.by_address() {
            return step;
        }
        let (ticket, sharing) = self.own_ticket(isolate.as_deref(), source);
        let is_inside = ticket.as_ref().is_some_and(|one| self.holds_session(one));
        let prefetches = || match self.head.kind() {
            RequestKind::Prefetch => true,
            RequestKind::Ordinary => source.prefetches(),
            RequestKind::Preflight | RequestKind::Upgrade => false,
        };
        if !is_inside && prefetches() {
            return Step::RefusePrefetch;
        }
        if self.asks != Asks::Page {
            let is_own = is_inside && sharing != TicketSharing::Challenge;
            return self.about_session(ticket.filter(|_| is_own));
        }
        let ticket = match self.settled_place(ticket) {
            Ok(ticket) => ticket,
            Err(step) => return step,
        };
        let Some(isolate) = isolate else { return Step::Need(Need::View) };
        if !self.learned.view_was_read && !is_inside && isolate.view().is_none() {
            return Step::Need(Need::View);
        }
        let (ticket, is_checked) = match self.checked(isolate, ticket, is_inside) {
            Ok(checked) => checked,
            Err(step) => return step,
        };
        let is_new = !ticket.as_ref().is_some_and(|one| has_place(one, self.now, settings));
        // A queue page whose parts stand at covered addresses asks for them without being inside.
        let may_enter = is_inside || is_new && isolate.view().is_none_or(|view| view.open);
        if !may_enter && source.loads_part() {
            return Step::RefusePart;
        }
        if let Some(ticket) = ticket.as_ref().filter(|ticket| self.listens(ticket, source)) {
            return Step::Stream(ticket.clone());
        }
        if let Some(ticket) =
            ticket.as_ref().filter(|_| self.learned.place == Some(PlaceState::Open))
        {
            let ticket = moving::asking_later(ticket, self.now);
            return Step::Answer(Outcome::Wait { ticket, counted: true });
        }
        let random = source.random();
        let is_challenged = sharing == TicketSharing::Challenge && self.in_force.turnstile.is_on();
        if is_challenged && self.learned.passed != Some(true) {
            return Step::Answer(self.challenge(isolate, random));
        }
        if is_new && !is_inside && source.has_no_place_left() {
            return Step::Answer(self.without_place(isolate, random));
        }
        let passing = ticket.clone().filter(|_| is_challenged || is_checked);
        // Asked of those who wait alone: most visits are by others, and each header costs time.
        let own = (!is_new).then(|| self.settings_of_waiting(source)).flatten();
        let settings = own.as_ref().unwrap_or(settings);
        let is_refused =
            self.learned.passed == Some(false) && settings.challenge_required && !is_inside;
        let outcome = if is_refused {
            isolate.refuse(self.now, settings, ticket, random)
        } else {
            isolate.visit(self.now, settings, ticket, random)
        };
        match self.as_newcomer(isolate, outcome, source) {
            // The cookie has to say who has passed, and until when.
            Outcome::Pass if passing.is_some() => {
                Step::Answer(passing.map_or(Outcome::Pass, Outcome::PassWith))
            }
            Outcome::Ask(ask) => Step::Need(self.slot(isolate, ask)),
            outcome => Step::Answer(outcome),
        }
    }

    /// Returns what a visit needs that wants a slot. A newer view may make the question needless.
    fn slot(&self, isolate: &Isolate, ask: Ask) -> Need {
        let is_old = !self.learned.view_was_read && isolate.wants_view(self.now);
        if is_old { Need::View } else { Need::Slot(ask) }
    }

    /// Opens the visitor's ticket. Also returns how to treat it, if others use its session; a
    /// ticket that is worth nothing then is none.
    fn own_ticket(
        &self,
        isolate: Option<&Isolate>,
        source: &mut impl VisitSource,
    ) -> (Option<Ticket>, TicketSharing) {
        let ticket = not_revoked(source.ticket(isolate), isolate);
        let session = ticket.as_ref().filter(|one| self.holds_session(one));
        let sharing = session.map_or(TicketSharing::Allow, |one| source.sharing(one));
        (ticket.filter(|_| sharing != TicketSharing::NewVisitor), sharing)
    }

    fn holds_session(&self, ticket: &Ticket) -> bool {
        admission::is_inside(ticket, self.now, &self.in_force.settings)
    }

    /// Returns the step for a request about the visitor's own session, or for the log.
    fn about_session(&self, own: Option<Ticket>) -> Step {
        if self.asks == Asks::Log { Step::Log(own) } else { Step::Session(own) }
    }

    /// Returns the step that the address alone decides, for any visitor.
    fn by_address(&self) -> Option<Step> {
        let takes_tokens = self.in_force.turnstile.is_on() && !self.head.submits();
        if takes_tokens
            && let Some(split) = split_token(self.url)
            && self.head.kind() == RequestKind::Ordinary
        {
            return Some(Step::Need(Need::Token(split)));
        }
        let draws = &self.in_force.settings.shuffles;
        draw::is_asked(&self.head, self.url, draws).then_some(Step::Draw)
    }

    /// Answers a request of [`place`], and finds out who has a place in transfer. A visitor who
    /// waits with it needs the answer of the room's object once the next check-in is due.
    fn settled_place(&self, ticket: Option<Ticket>) -> Result<Option<Ticket>, Step> {
        let now = self.now;
        let ticket = ticket.filter(|ticket| {
            ticket.state == TicketState::Accepted || admission::is_waiting(ticket, now)
        });
        if place::is_asked(&self.head, self.url) {
            // Whoever came without an invitation has no place, and may use one all the same.
            let may_ask = |ticket: &Ticket| {
                admission::is_waiting(ticket, now) || confirmation::is_asked(ticket, now)
            };
            return Err(Step::Place(ticket.filter(may_ask)));
        }
        match (ticket, self.learned.place) {
            (Some(ticket), state) if ticket.moving => match state {
                None if admission::is_too_early(now, &self.in_force.settings, &ticket) => {
                    Ok(Some(ticket))
                }
                None => Err(Step::Need(Need::Place(ticket))),
                Some(PlaceState::Open) => Ok(Some(ticket)),
                Some(PlaceState::Here) => Ok(Some(moving::settled(&ticket))),
                Some(PlaceState::Elsewhere) => Err(Step::Moved),
            },
            (ticket, _) => Ok(ticket),
        }
    }

    /// Returns the settings for this visit of a waiting visitor, if they differ from those in
    /// force.
    fn settings_of_waiting(&self, source: &impl VisitSource) -> Option<Settings> {
        source.is_hidden().then(|| self.in_force.settings.of_hidden_page())
    }

    /// Returns the question to the counter, or what is done instead. `looks` says how often this
    /// request has waited for that.
    pub fn ask(
        &self,
        isolate: &mut Isolate,
        ask: &Ask,
        looks: u32,
        source: &mut impl VisitSource,
    ) -> Asking {
        match isolate.ask(self.now, &self.in_force.settings, ask, looks, source.random()) {
            Asking::Settled(outcome) => Asking::Settled(self.as_newcomer(isolate, outcome, source)),
            asking => asking,
        }
    }

    /// Decides the visit after the counter was asked; `None` stands for a timeout.
    pub fn settle(
        &self,
        isolate: &mut Isolate,
        ask: Ask,
        reply: Option<CounterReply>,
        source: &mut impl VisitSource,
    ) -> Outcome {
        let waited = ask.class == SlotClass::Queued;
        let own = waited.then(|| self.settings_of_waiting(source)).flatten();
        let settings = own.as_ref().unwrap_or(&self.in_force.settings);
        let outcome = isolate.settle(self.now, settings, ask, source.random(), reply);
        self.as_newcomer(isolate, outcome, source)
    }

    /// Answers the holder of a spent ticket as a newcomer. Other outcomes stay.
    fn as_newcomer(
        &self,
        isolate: &mut Isolate,
        outcome: Outcome,
        source: &mut impl VisitSource,
    ) -> Outcome {
        match outcome {
            Outcome::Spent if source.has_no_place_left() => {
                self.without_place(isolate, source.random())
            }
            Outcome::Spent => isolate.join(self.now, &self.in_force.settings, source.random()),
            outcome => outcome,
        }
    }

    /// Whether the outcome would send a page instead of a picture. That is so for a part of a page
    /// if the counter had no slot. [`answer::not_inside`] then answers.
    pub fn refuses_part(outcome: &Outcome, source: &impl VisitSource) -> bool {
        !matches!(outcome, Outcome::Pass | Outcome::PassWith(_)) && source.loads_part()
    }

    /// Adds to an outcome what is left to do besides sending the answer.
    pub fn conclude(&self, isolate: &Isolate, outcome: Outcome) -> Conclusion {
        let (outcome, challenge) =
            challenged::marked(outcome, self.in_force.turnstile, self.learned.passed.is_some());
        let work_is_left = match outcome {
            Outcome::Pass
            | Outcome::Reject(_)
            | Outcome::Uninvited(_)
            | Outcome::InfiniteQueue { .. }
            | Outcome::WithoutPlace(_)
            | Outcome::Spent
            | Outcome::Wait { counted: false, .. } => false,
            // There is nothing to report of somebody who is not in the line; still the view
            // must be refreshed when it is old.
            Outcome::Challenge(_) => isolate.wants_view(self.now),
            Outcome::PassWith(_) | Outcome::Wait { counted: true, .. } | Outcome::Ask(_) => true,
        };
        Conclusion { outcome, challenge, work_is_left }
    }

    /// Answers a visitor who uses the ticket of another client, with a challenge to pass.
    fn challenge(&self, isolate: &Isolate, random: RandomInputs) -> Outcome {
        let Self { now, in_force, .. } = *self;
        let context = isolate.context(now, &in_force.settings, false, random);
        Outcome::Challenge(admission::new_ticket(context))
    }

    /// Answers a newcomer who gets no place now. The page is that of waiting visitors, without a
    /// challenge: to pass one would change nothing.
    fn without_place(&self, isolate: &Isolate, random: RandomInputs) -> Outcome {
        let Self { now, in_force, .. } = *self;
        let context = isolate.context(now, &in_force.settings, false, random);
        match admission::decide(context, None) {
            Decision::Queue { ticket, .. } | Decision::Challenge { ticket } => {
                Outcome::WithoutPlace(ticket)
            }
            Decision::Uninvited(ticket) => Outcome::Uninvited(ticket),
            _ => Outcome::Reject(None),
        }
    }

    /// Whether this request of a waiting visitor asks for an event stream, in a room that has them.
    fn listens(&self, ticket: &Ticket, source: &impl VisitSource) -> bool {
        event_stream::is_for(self.now, &self.in_force.settings, ticket)
            && self.head.method == "GET"
            && self.head.kind() == RequestKind::Ordinary
            && accepts_event_stream_alone(&source.accept())
    }
}

/// Whether a newcomer gets a place, inside or in the line, by this outcome of a visit at `now`. It
/// begins later than `now` where the clock is behind.
pub fn takes_new_place(now: Timestamp, outcome: &Outcome) -> bool {
    match outcome {
        Outcome::PassWith(ticket) | Outcome::Wait { ticket, counted: true } => {
            ticket.joined_at >= now
        }
        _ => false,
    }
}

/// Keeps the ticket if it still holds a session or a place in the line, and was not revoked.
pub fn valid_ticket(
    now: Timestamp,
    settings: &Settings,
    isolate: Option<&Isolate>,
    ticket: Option<Ticket>,
) -> Option<Ticket> {
    let is_valid = |ticket: &Ticket| {
        admission::is_inside(ticket, now, settings) || has_place(ticket, now, settings)
    };
    not_revoked(ticket, isolate).filter(is_valid)
}

/// Ends the session of this ticket and of all its copies, as the origin ordered. Returns false if
/// the ticket holds no session.
pub fn end_session(
    now: Timestamp,
    settings: &Settings,
    isolate: &mut Isolate,
    ticket: &Ticket,
) -> bool {
    let is_inside = admission::is_inside(ticket, now, settings);
    if is_inside {
        isolate.revoke(now, ticket);
    }
    is_inside
}

/// Whether a visitor is in the line, or is asked to confirm the turn.
fn has_place(ticket: &Ticket, now: Timestamp, settings: &Settings) -> bool {
    admission::is_in_line(ticket, now, settings) || confirmation::is_asked(ticket, now)
}

/// Drops the ticket of a session that the origin has ended. Its holder is a new visitor.
fn not_revoked(ticket: Option<Ticket>, isolate: Option<&Isolate>) -> Option<Ticket> {
    ticket.filter(|ticket| !isolate.is_some_and(|isolate| isolate.is_revoked(ticket)))
}

#[cfg(test)]
mod tests;
