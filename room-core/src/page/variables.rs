//! The variables that a queue page may print, for one visitor: those that Cloudflare documents, and
//! a few of our own.

mod more;
mod nearest;

use self::more::MORE;
use super::code_picture::picture;
use super::draw::DrawTexts;
use super::english::{format_people, format_range, in_english};
use super::localized::Localized;
use super::words::Words;
use crate::base::time::MINUTE_MS;
use crate::page::arrival::Arrival;
use crate::page::contact::ContactForm;
use crate::page::place::PlaceMove;
use crate::page::template::Value;
use crate::page::waiting::Waiting;
use crate::page::widget::Widget;
use crate::queue::estimate::{SHORTEST_S, told_minutes};
use crate::room::branding::{Branding, in_language};
use crate::room::settings::QueueingMethod;
use crate::room::turn_notice::TurnNotice;

const MINUTES_PER_HOUR: u64 = 60;
/// The text for a time that is unknown.
const UNAVAILABLE: &str = "unavailable";

/// The values of all variables for one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variables {
    pub(super) waiting: Waiting,
    /// The estimate in whole minutes, at least 1. `None` if there is none, or if nobody enters.
    pub(super) wait_minutes: Option<u64>,
    wait_formatted: String,
    /// The quartiles of the estimate in minutes, rounded in the same way.
    range_minutes: Option<(u64, u64)>,
    range_formatted: String,
    /// Whether the wait is longer than the active event.
    is_beyond_event: bool,
    last_updated: String,
    people_ahead_formatted: String,
    draw: DrawTexts,
    pub(super) until_start: Countdown,
    until_end: Countdown,
    /// When the active event starts, in ISO 8601, during its prequeue; otherwise empty.
    event_start: String,
    localized: Localized,
    /// The markup of the challenge; empty without one.
    challenge: String,
    /// Whether the visitor gets a place only by passing the challenge.
    is_gate: bool,
    /// How the page checks in again, without the address.
    arrival: Arrival<'static>,
    /// What the page shows of its site.
    branding: Branding,
    /// The address to which the visitor comes back, if it differs from the requested one; otherwise
    /// empty.
    return_address: String,
    /// The number that the visitor can quote; otherwise empty.
    reference: String,
    /// The code for a transfer of the place; otherwise empty.
    place_code: String,
    /// The code as a picture, if a camera can find the page by it; otherwise empty.
    place_code_picture: String,
    /// How the visitor can get a message before the turn.
    contact: ContactForm,
    /// The name of the visitor's group; empty without an invitation.
    group: String,
}

/// The main message of a page: the first of these that is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Moved,
    Held,
    Rejected,
    Challenge,
    Turn,
    Full,
    Paused,
    Prequeue,
    Estimate,
    Unknown,
}

/// The time until a moment of the active event; 0 minutes if there is none to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Countdown {
    pub(super) minutes: u64,
    formatted: String,
}

impl Countdown {
    fn of(left_ms: Option<u64>) -> Self {
        let minutes = left_ms.map(|left_ms| left_ms.div_ceil(MINUTE_MS).max(1));
        let formatted = minutes.map_or_else(|| UNAVAILABLE.to_owned(), in_english);
        Self { minutes: minutes.unwrap_or(0), formatted }
    }
}

impl Variables {
    /// Computes the variables of a page in English for this visitor.
    pub fn of(waiting: &Waiting) -> Self {
        Self::in_language(waiting, &Words::default())
    }

    /// Computes the variables of a page for this visitor. Those called `...Formatted` are in
    /// English, as documented. Those called `...Localized` are in the language of `words`.
    pub fn in_language(waiting: &Waiting, words: &Words) -> Self {
        let mut own = Self::unlocalized(waiting);
        own.localized = Localized::of(&own, words);
        own
    }

    fn unlocalized(waiting: &Waiting) -> Self {
        // While nobody is let in, an estimate from an earlier pace would be false.
        let is_held = waiting.queue_all || waiting.is_prequeueing();
        let estimate_s = waiting.estimate_s.filter(|_| !is_held && !waiting.queue_is_full);
        let to_start = waiting.event.filter(|_| waiting.is_prequeueing());
        let wait_minutes = estimate_s.map(told_minutes);
        let quartiles_s = waiting.quartiles_s.filter(|_| estimate_s.is_some());
        let range_minutes =
            quartiles_s.map(|(low_s, high_s)| (told_minutes(low_s), told_minutes(high_s)));
        let range_formatted = range_minutes.map_or_else(|| UNAVAILABLE.to_owned(), format_range);
        let wait_formatted = match wait_minutes {
            Some(_) if waiting.method == QueueingMethod::Random && range_minutes.is_some() => {
                range_formatted.clone()
            }
            Some(minutes) => in_english(minutes),
            None => UNAVAILABLE.to_owned(),
        };
        let ends_in_ms = waiting.event.map(|event| event.ends_in_ms);
        let is_beyond_event = estimate_s
            .zip(ends_in_ms)
            .is_some_and(|(wait_s, ends_in_ms)| u64::from(wait_s) * 1_000 > ends_in_ms);
        Self {
            waiting: *waiting,
            wait_minutes,
            wait_formatted,
            range_minutes,
            range_formatted,
            is_beyond_event,
            last_updated: waiting.last_updated.to_iso8601(),
            people_ahead_formatted: waiting.people_ahead.map(format_people).unwrap_or_default(),
            draw: DrawTexts::of(waiting.draw),
            until_start: Countdown::of(to_start.map(|event| event.starts_in_ms)),
            until_end: Countdown::of(waiting.event.map(|event| event.ends_in_ms)),
            event_start: to_start.map(|event| event.starts_at.to_iso8601()).unwrap_or_default(),
            localized: Localized::default(),
            challenge: String::new(),
            is_gate: false,
            arrival: Arrival::default(),
            return_address: String::new(),
            reference: waiting.reference.map(|one| one.to_string()).unwrap_or_default(),
            place_code: match waiting.place {
                PlaceMove::Code(code, _) => code.to_string(),
                _ => String::new(),
            },
            place_code_picture: String::new(),
            branding: Branding::default(),
            contact: ContactForm::default(),
            group: String::new(),
        }
    }

    /// Names the visitor's group; "" for a visitor without an invitation.
    #[must_use]
    pub fn with_group(self, group: &str) -> Self {
        Self { group: group.to_owned(), ..self }
    }

    /// Whether the page asks for an invitation: of visitors who wait where it is worth something,
    /// which it is not in a lottery, and of those who cannot wait without one.
    fn asks_invitation(&self) -> bool {
        let waits = matches!(
            self.shown(),
            Shown::Paused | Shown::Prequeue | Shown::Estimate | Shown::Unknown | Shown::Full
        );
        let is_worth = waits && self.waiting.method != QueueingMethod::Random;
        self.waiting.invitation.asked && (self.waiting.invitation.needed || is_worth)
    }

    /// Puts a challenge on the page, in the words of the page.
    #[must_use]
    pub fn with_challenge(self, widget: Option<Widget<'_>>, words: &Words) -> Self {
        let is_gate = widget.is_some_and(|widget| widget.is_gate);
        let challenge = widget.map(|widget| widget.html(words)).unwrap_or_default();
        Self { challenge, is_gate, ..self }
    }

    /// Sets how the page checks in again.
    #[must_use]
    pub fn with_arrival(self, arrival: Arrival<'_>) -> Self {
        let return_address = arrival.back.unwrap_or_default().to_owned();
        let arrival = Arrival { back: None, ..arrival };
        Self { arrival, return_address, ..self }
    }

    /// Draws the code for a transfer of the place, for the page at this address.
    #[must_use]
    pub fn with_code_picture(self, address: &str) -> Self {
        let PlaceMove::Code(code, _) = self.waiting.place else { return self };
        Self { place_code_picture: picture(address, code), ..self }
    }

    /// Sets how the visitor can get a message before the turn.
    #[must_use]
    pub fn with_contact(self, contact: &ContactForm) -> Self {
        Self { contact: contact.clone(), ..self }
    }

    /// Whether the page asks where to send a message before the turn.
    fn asks_contact(&self) -> bool {
        self.contact.takes != TurnNotice::Off && self.place_can_move()
    }

    /// Returns the address or number that will get the message; "" for none.
    fn contact(&self) -> &str {
        if self.place_can_move() { &self.contact.given } else { "" }
    }

    /// Sets what the page shows of its site, which is on this host.
    #[must_use]
    pub fn with_branding(self, branding: &Branding, host: &str) -> Self {
        let mut branding = branding.clone();
        if branding.name.is_empty() {
            host.clone_into(&mut branding.name);
        }
        let language = self.localized.language;
        for text in [&mut branding.text, &mut branding.message] {
            *text = in_language(text, language).to_owned();
        }
        Self { branding, ..self }
    }

    /// Whether the page has the forms for a transfer of the place. Not if nobody has a place, as
    /// before a draw.
    fn place_can_move(&self) -> bool {
        self.waiting.place.is_possible() && !self.is_gate && self.place_is_kept()
    }

    /// Whether the visitor has a place that is kept for a while. There is none in a lottery, nor
    /// before lots are drawn.
    fn place_is_kept(&self) -> bool {
        let in_line = matches!(
            self.shown(),
            Shown::Paused | Shown::Prequeue | Shown::Estimate | Shown::Unknown
        );
        in_line && !self.is_before_draw()
    }

    /// Whether the order of the visitors is not drawn yet.
    fn is_before_draw(&self) -> bool {
        let is_drawn_at_start = self.waiting.event.is_some_and(|event| event.shuffles);
        self.waiting.method == QueueingMethod::Random
            || self.waiting.is_prequeueing() && is_drawn_at_start
    }

    /// Whether the wait is a minute at most. Seconds are not shown, since nobody knows when
    /// sessions end.
    fn is_below_minute(&self) -> bool {
        let told_s = self.waiting.estimate_s.filter(|_| self.wait_minutes.is_some());
        let is_lottery = self.waiting.method == QueueingMethod::Random;
        told_s.is_some_and(|told_s| told_s <= SHORTEST_S) && !is_lottery
    }

    /// Returns the number of the variable called `name`, for [`Self::numbered`]; `None` if there is
    /// none.
    pub fn find(name: &str) -> Option<usize> {
        let more = || Some(VARIABLES.len() + MORE.iter().position(|(known, _)| *known == name)?);
        VARIABLES.binary_search_by(|(known, _)| (*known).cmp(name)).ok().or_else(more)
    }

    /// Returns the variable that was probably meant by an unknown name.
    pub fn nearest(name: &str) -> Option<&'static str> {
        nearest::nearest(name, VARIABLES.into_iter().map(|(known, _)| known))
    }

    /// Returns the value of the variable called `name`; `None` if there is none of that name.
    pub fn value(&self, name: &str) -> Option<Value<'_>> {
        Self::find(name).map(|number| self.numbered(number))
    }

    /// Returns the value of the variable with this number; false for an unknown number.
    pub fn numbered(&self, number: usize) -> Value<'_> {
        let more = || MORE.get(number.checked_sub(VARIABLES.len())?);
        let read = VARIABLES.get(number).or_else(more);
        read.map_or(Value::Bool(false), |(_, read)| read(self))
    }

    /// Returns the minutes after which a quarter, a half and three quarters of all waiting visitors
    /// of a lottery are inside. Zeros in every other room.
    pub(super) fn percentiles(&self) -> [u64; 3] {
        let minutes = self.wait_minutes.zip(self.range_minutes);
        match minutes.filter(|_| self.waiting.method == QueueingMethod::Random) {
            Some((middle, (low, high))) => [low, middle, high],
            None => [0; 3],
        }
    }

    fn shown(&self) -> Shown {
        match self.wait_minutes {
            _ if self.waiting.place == PlaceMove::Done => Shown::Moved,
            _ if self.waiting.is_held => Shown::Held,
            _ if self.waiting.is_rejected() || self.waiting.invitation.needed => Shown::Rejected,
            _ if self.is_gate => Shown::Challenge,
            _ if self.waiting.turn_left_s.is_some() => Shown::Turn,
            _ if self.waiting.queue_is_full => Shown::Full,
            _ if self.waiting.queue_all => Shown::Paused,
            _ if self.waiting.is_prequeueing() => Shown::Prequeue,
            Some(_) => Shown::Estimate,
            None => Shown::Unknown,
        }
    }

    /// Whether the page keeps a form that the browser can send once the visitor is inside.
    fn form_can_be_sent(&self) -> bool {
        let comes_in = !matches!(self.shown(), Shown::Challenge | Shown::Rejected | Shown::Moved);
        self.waiting.submitted_nothing && self.arrival.can_resend && comes_in
    }

    /// Returns the time of day of `lastUpdated`, like `10:00:00`, for browsers that run no script.
    fn last_updated_time(&self) -> &str {
        let time = self.last_updated.split_once('T').map(|(_, time)| time);
        time.and_then(|time| time.split_once('.')).map_or("", |(to_the_second, _)| to_the_second)
    }
}

type Read = for<'a> fn(&'a Variables) -> Value<'a>;

/// Every variable except [`MORE`], sorted by name for the binary search.
///
/// Cloudflare does not have these: `awaitsDraw`, `checkIn`, `contact…`, `formCanBeSent`,
/// `pageStays`, `placeIsKept`,
/// `returnAddress`, `page…` (how the built-in page goes on), `placeCode…`, `placeMoved`,
/// `placeMoves` (how the place moves to another device), `waitTimeBelowMinute`,
/// `enteredLastMinute…`, `progress…`, `takesLonger`, `eventStart…` (while prequeueing, in UTC),
/// `eventStream`, `language…`, `lastUpdatedTime`, `nothingSubmitted`, `peopleAhead…`,
/// `shows…` (exactly one is true), `waitTimeExceedsEvent`, `waitTimeRange…` and all that end with
/// `Localized`.
const VARIABLES: [(&str, Read); 91] = [
    ("awaitsDraw", |own| Value::Bool(own.is_before_draw())),
    ("checkIn", |own| Value::Bool(own.arrival.checks_in)),
    ("contactAsked", |own| Value::Bool(own.asks_contact())),
    ("contactFailed", |own| Value::Bool(own.contact.failed)),
    ("contactGiven", |own| Value::Text(own.contact())),
    ("contactIsFull", |own| Value::Bool(own.contact.full)),
    ("contactIsSent", |own| Value::Bool(own.contact.is_sent)),
    ("contactTakesEmail", |own| Value::Bool(own.contact.takes.takes_email())),
    ("contactTakesPhone", |own| Value::Bool(own.contact.takes.takes_phone())),
    ("contactType", |own| Value::Text(own.contact.input_type())),
    ("enteredLastMinute", |own| Value::Integer(own.waiting.entered_last_minute.unwrap_or(0))),
    ("enteredLastMinuteKnown", |own| Value::Bool(own.waiting.entered_last_minute.is_some())),
    ("enteredLastMinuteLocalized", |own| Value::Text(&own.localized.entered_last_minute)),
    ("eventStart", |own| Value::Text(&own.event_start)),
    ("eventStartDate", |own| Value::Text(own.event_start.get(..10).unwrap_or(""))),
    ("eventStartTime", |own| Value::Text(own.event_start.get(11..16).unwrap_or(""))),
    ("eventStream", |own| Value::Bool(own.waiting.event_stream)),
    ("formCanBeSent", |own| Value::Bool(own.form_can_be_sent())),
    ("inWaitingRoom", |_| Value::Bool(true)),
    ("infiniteQueue", |own| Value::Bool(own.waiting.is_infinite)),
    ("isEventActive", |own| Value::Bool(own.waiting.event.is_some())),
    ("isEventPrequeueing", |own| Value::Bool(own.waiting.is_prequeueing())),
    ("isFIFOQueue", |own| Value::Bool(own.waiting.method == QueueingMethod::Fifo)),
    ("isPassthroughQueue", |own| Value::Bool(own.waiting.method == QueueingMethod::Passthrough)),
    ("isRandomQueue", |own| Value::Bool(own.waiting.method == QueueingMethod::Random)),
    ("isRejectQueue", |own| Value::Bool(own.waiting.method == QueueingMethod::Reject)),
    ("language", |own| Value::Text(own.localized.language.html_tag())),
    ("languageDirection", |own| Value::Text(own.localized.language.direction())),
    ("lastUpdated", |own| Value::Text(&own.last_updated)),
    ("lastUpdatedTime", |own| Value::Text(own.last_updated_time())),
    ("nothingSubmitted", |own| Value::Bool(own.waiting.submitted_nothing)),
    ("pageColor", |own| Value::Text(&own.branding.color)),
    ("pageEventName", |own| Value::Text(&own.branding.event_name)),
    ("pageHelpUrl", |own| Value::Text(&own.branding.help_url)),
    ("pageLogo", |own| Value::Text(&own.branding.logo)),
    ("pageMessage", |own| Value::Text(&own.branding.message)),
    ("pageName", |own| Value::Text(&own.branding.name)),
    ("pageStays", |own| Value::Bool(own.arrival.stays)),
    ("pageText", |own| Value::Text(&own.branding.text)),
    ("peopleAhead", |own| Value::Integer(own.waiting.people_ahead.unwrap_or(0))),
    ("peopleAheadFormatted", |own| Value::Text(&own.people_ahead_formatted)),
    ("peopleAheadKnown", |own| Value::Bool(own.waiting.people_ahead.is_some())),
    ("peopleAheadLocalized", |own| Value::Text(&own.localized.people_ahead)),
    ("placeCode", |own| Value::Text(&own.place_code)),
    ("placeCodeFailed", |own| Value::Bool(matches!(own.waiting.place, PlaceMove::Failed(_)))),
    ("placeIsKept", |own| Value::Bool(own.place_is_kept())),
    ("placeMoved", |own| Value::Bool(own.waiting.place == PlaceMove::Done)),
    ("placeMoves", |own| Value::Bool(own.place_can_move())),
    ("progressKnown", |own| Value::Bool(own.waiting.progress_percent.is_some())),
    ("progressPercent", |own| Value::Integer(own.waiting.progress_percent.unwrap_or(0).into())),
    ("queueAll", |own| Value::Bool(own.waiting.queue_all)),
    ("queueIsFull", |own| Value::Bool(own.waiting.queue_is_full)),
    ("queueingMethod", |own| Value::Text(own.waiting.method_name())),
    ("refreshIntervalLocalized", |own| Value::Text(&own.localized.refresh_interval)),
    ("refreshIntervalSeconds", |own| Value::Integer(own.waiting.refresh_interval_s.into())),
    ("returnAddress", |own| Value::Text(&own.return_address)),
    ("showsChallenge", |own| Value::Bool(own.shown() == Shown::Challenge)),
    ("showsEstimate", |own| Value::Bool(own.shown() == Shown::Estimate)),
    ("showsFull", |own| Value::Bool(own.shown() == Shown::Full)),
    ("showsHeld", |own| Value::Bool(own.shown() == Shown::Held)),
    ("showsMoved", |own| Value::Bool(own.shown() == Shown::Moved)),
    ("showsPaused", |own| Value::Bool(own.shown() == Shown::Paused)),
    ("showsPrequeue", |own| Value::Bool(own.shown() == Shown::Prequeue)),
    ("showsRejected", |own| Value::Bool(own.shown() == Shown::Rejected)),
    ("showsTurn", |own| Value::Bool(own.shown() == Shown::Turn)),
    ("showsUnknown", |own| Value::Bool(own.shown() == Shown::Unknown)),
    ("shuffleAtEventStart", |own| {
        Value::Bool(own.waiting.event.is_some_and(|event| event.shuffles))
    }),
    ("takesLonger", |own| Value::Bool(own.waiting.takes_longer)),
    ("timeUntilEventEnd", |own| Value::Integer(own.until_end.minutes)),
    ("timeUntilEventEndFormatted", |own| Value::Text(&own.until_end.formatted)),
    ("timeUntilEventStart", |own| Value::Integer(own.until_start.minutes)),
    ("timeUntilEventStartFormatted", |own| Value::Text(&own.until_start.formatted)),
    ("timeUntilEventStartHourMinutes", |own| {
        Value::Integer(own.until_start.minutes % MINUTES_PER_HOUR)
    }),
    ("timeUntilEventStartHours", |own| Value::Integer(own.until_start.minutes / MINUTES_PER_HOUR)),
    ("timeUntilEventStartLocalized", |own| Value::Text(&own.localized.until_start)),
    ("turnstile", |own| Value::Html(&own.challenge)),
    ("waitTime", |own| Value::Integer(own.wait_minutes.unwrap_or(0))),
    ("waitTime25Percentile", |own| Value::Integer(own.percentiles()[0])),
    ("waitTime50Percentile", |own| Value::Integer(own.percentiles()[1])),
    ("waitTime75Percentile", |own| Value::Integer(own.percentiles()[2])),
    ("waitTimeBelowMinute", |own| Value::Bool(own.is_below_minute())),
    ("waitTimeExceedsEvent", |own| Value::Bool(own.is_beyond_event)),
    ("waitTimeFormatted", |own| Value::Text(&own.wait_formatted)),
    ("waitTimeHourMinutes", |own| Value::Integer(own.wait_minutes.unwrap_or(0) % MINUTES_PER_HOUR)),
    ("waitTimeHours", |own| Value::Integer(own.wait_minutes.unwrap_or(0) / MINUTES_PER_HOUR)),
    ("waitTimeKnown", |own| Value::Bool(own.wait_minutes.is_some())),
    ("waitTimeLocalized", |own| Value::Text(&own.localized.wait)),
    ("waitTimeRangeFormatted", |own| Value::Text(&own.range_formatted)),
    ("waitTimeRangeHigh", |own| Value::Integer(own.range_minutes.map_or(0, |(_, high)| high))),
    ("waitTimeRangeKnown", |own| Value::Bool(own.range_minutes.is_some())),
    ("waitTimeRangeLow", |own| Value::Integer(own.range_minutes.map_or(0, |(low, _)| low))),
];

#[cfg(test)]
mod tests;
