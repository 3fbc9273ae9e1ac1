//! Turns the outcome of a visit into the verdict: the page, the cookie, and the address for the
//! origin.

mod contact;

use super::invitation;
use super::place::{self, Told};
use super::request::{RequestHead, RequestKind, accepts_json_alone};
use super::session;
use super::verdict::{Forward, Verdict};
use crate::admission::moving;
use crate::base::prefix_budget::ClientPrefix;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::base::url::split_url;
use crate::keys::key_ring::{KeyRing, NONCE_BYTES};
use crate::machines::isolate::Outcome;
use crate::page::arrival::{Arrival, CHECK_IN_HEADER, MODE_HEADER, SITE_HEADER, form_address};
use crate::page::contact::ContactForm;
use crate::page::place::PlaceMove;
use crate::page::response::{Delivery, Form, HttpResponse};
use crate::page::waiting::PageContext;
use crate::page::widget::Widget;
use crate::page::{Page, Waiting, Words, event_stream};
use crate::queue::view::View;
use crate::room::Room;
use crate::room::coverage::Coverage;
use crate::room::event::InForce;
use crate::room::invitation::name_of;
use crate::room::language::Language;
use crate::room::turn_notice::TurnNotice;
use crate::room::turnstile::split_token;
use crate::room::zone_settings::ZoneSettings;
use crate::ticket::client::ClientMark;
use crate::ticket::cookie::{self, SameSite};
use crate::ticket::{GRACE_S, Ticket, TicketState};

pub use contact::may_be_told;

/// What only some answers need. It is provided on demand, since each part costs time.
pub trait AnswerSource {
    /// Reads a header of the request by its name in lower case; "" if it is absent.
    fn header(&self, name: &str) -> String;

    /// Returns the network of the client.
    fn network(&self) -> ClientPrefix;

    /// Draws a nonce for sealing a ticket. No nonce may be used twice.
    fn nonce(&self) -> [u8; NONCE_BYTES];

    /// Returns the words of a language and the built-in page in it. `None` if the texts of the
    /// language cannot be read.
    fn texts(&mut self, language: Language) -> Option<&(Words, Page)>;

    /// Returns a domain in its ASCII form: `xn--bcher-kva.example` for `bücher.example`.
    fn domain_in_ascii(&self, domain: &str) -> String;
}

/// The inputs of the answer to one request, apart from the outcome.
#[derive(Clone, Copy)]
pub struct ResponseContext<'a> {
    /// The moment of the request.
    pub now: Timestamp,
    /// The absolute URL of the request.
    pub url: &'a str,
    /// The `Cookie` header; "" if there is none.
    pub cookies: &'a str,
    /// The method, and the headers that show the kind of the request.
    pub head: RequestHead<'a>,
    /// Whether the Turnstile token of this request was accepted; `None` if it brought no token.
    pub passed: Option<bool>,
    /// The room that covers the URL.
    pub room: &'a Room,
    /// The settings in force in the room at `now`: its own, or those of the active event.
    pub in_force: &'a InForce<'a>,
    /// What the isolate knows of the line; `None` before its first view.
    pub view: Option<&'a View>,
    /// The settings that all rooms of the zone share.
    pub zone: ZoneSettings,
    /// The owner's page; `None` for the built-in one.
    pub page: Option<&'a Page>,
    /// Finds the room of a URL. Here it gives the path for the room's cookie.
    pub coverage: &'a Coverage,
    /// The client, in a room that watches for shared tickets.
    pub client: ClientMark,
    /// What visitors may type to get a message before their turn. Off if no webhook would send one.
    pub turn_notice: TurnNotice,
    /// Whether the room's object has taken the message that was due now.
    pub is_handed: bool,
    /// The public site key of Turnstile; "" if the deployment has none.
    pub site_key: &'a str,
}

impl ResponseContext<'_> {
    /// Turns the outcome of the visit into the verdict on its request.
    ///
    /// A request that brought a token is answered with a redirect to its address without the token,
    /// whatever the outcome.
    pub fn verdict(
        &self,
        keys: &mut KeyRing,
        source: &mut impl AnswerSource,
        outcome: Outcome,
    ) -> Verdict {
        if self.passed.is_some() {
            return self.redeemed(keys, source, &outcome);
        }
        match outcome {
            Outcome::Pass => self.forward(None),
            Outcome::PassWith(ticket) => {
                let cookie = self.set_cookie(keys, source, &ticket);
                // Renewals are many and need no header: theirs is an earlier check-in.
                let enters = ticket.last_check_in == self.now;
                if enters && !source.header(CHECK_IN_HEADER).is_empty() {
                    return Verdict::Respond(HttpResponse::entered(&[cookie]));
                }
                self.forward(Some((cookie, &ticket)))
            }
            Outcome::Wait { ticket, counted } | Outcome::InfiniteQueue { ticket, counted } => {
                let cookie = counted.then(|| self.set_cookie(keys, source, &ticket));
                let mut waiting = self.waiting(keys, &ticket, counted);
                // Nobody is called with it.
                waiting.event_stream &= !ticket.moving;
                if moving::shows_code(&ticket, self.now) {
                    let code = keys.place_code(self.room.id, &ticket);
                    waiting.place = PlaceMove::Code(code, moving::code_left_s(&ticket, self.now));
                }
                let shows_widget = self.in_force.turnstile.shows_widget(&ticket);
                let widget = shows_widget.then(|| self.widget(false));
                let (form, contact) = self.contact(keys, source, &ticket, &waiting, counted);
                let cookies: Vec<String> = cookie.into_iter().chain(contact).collect();
                self.respond_with(source, &waiting, &cookies, widget, &form)
            }
            Outcome::WithoutPlace(ticket) => {
                self.verdict(keys, source, Outcome::Wait { ticket, counted: false })
            }
            Outcome::Challenge(ticket) => {
                let waiting = self.page_context().challenged(&ticket);
                self.respond(source, &waiting, &[], Some(self.widget(true)))
            }
            Outcome::Uninvited(ticket) => {
                let cookie = self.set_cookie(keys, source, &ticket);
                self.respond(source, &self.page_context().uninvited(&ticket), &[cookie], None)
            }
            Outcome::Reject(ticket) => {
                let waiting = self.page_context().rejected(ticket.as_ref());
                self.respond(source, &waiting, &[], None)
            }
            Outcome::Ask(_) | Outcome::Spent => Verdict::Undecided,
        }
    }

    /// Answers the waiting holder of a ticket with an event stream. It stays open while the turn is
    /// near; otherwise it ends after one event.
    pub fn stream(&self, ticket: &Ticket) -> Verdict {
        let told = event_stream::told(&self.page_context(), ticket);
        let response = HttpResponse::stream(told.text);
        if told.goes_on { Verdict::Stream(response) } else { Verdict::Respond(response) }
    }

    /// Answers a visitor whose place has moved to another device.
    pub fn moved(&self, source: &mut impl AnswerSource) -> Verdict {
        let rejected = self.page_context().rejected(None);
        let waiting = Waiting { place: PlaceMove::Done, ..rejected };
        self.respond(source, &waiting, &[], None)
    }

    /// Answers a request about a place, of a visitor who has waited with the ticket `own`. The
    /// answer is the page that sent it, which then shows the change, or JSON.
    pub fn place(
        &self,
        keys: &mut KeyRing,
        source: &mut impl AnswerSource,
        told: &Told,
        own: Option<&Ticket>,
    ) -> Verdict {
        let (status, facts) = match told {
            Told::Contact(_)
            | Told::NoContact
            | Told::TooManyContacts(_)
            | Told::FullMailbox(_) => {
                return self.contact_given(keys, source, told, own);
            }
            Told::Code(ticket) => (
                200,
                format!(
                    "{{\"code\":\"{}\",\"secondsLeft\":{}}}",
                    keys.place_code(self.room.id, ticket),
                    moving::CODE_MS / SECOND_MS,
                ),
            ),
            Told::Taken(_) => (200, "{\"taken\":true}".to_owned()),
            Told::Entered(_) => (200, "{\"entered\":true}".to_owned()),
            Told::Joined(ticket) => {
                let group = name_of(&self.room.invitation_groups, ticket.group);
                (200, format!("{{\"invitation\":\"{group}\"}}"))
            }
            Told::Uninvited(why) => {
                let (status, reason) = invitation::refusal(*why);
                (status, format!("{{\"error\":\"{reason}\"}}"))
            }
            Told::Forgotten => (200, "{\"taken\":false}".to_owned()),
            Told::Refused { status, reason, .. } => {
                (*status, format!("{{\"error\":\"{reason}\"}}"))
            }
        };
        let cookie = match told {
            Told::Code(ticket)
            | Told::Taken(ticket)
            | Told::Entered(ticket)
            | Told::Joined(ticket) => Some(self.set_cookie(keys, source, ticket)),
            Told::Forgotten => Some(self.cookie(&self.room.cookie_name, "", 0)),
            _ => None,
        };
        if status == 403 || accepts_json_alone(&source.header("accept")) {
            let answer = HttpResponse::of_session(status, &facts, cookie.as_slice());
            return Verdict::Respond(answer);
        }
        if let (Told::Refused { why, .. }, Some(own)) = (told, own.filter(|own| !own.moving)) {
            let waiting = self.page_context().waiting(own);
            let waiting = Waiting { place: PlaceMove::Failed(*why), ..waiting };
            return self.respond(source, &waiting, &[], None);
        }
        if let (Told::Uninvited(why), Some(own)) = (told, own) {
            let mut waiting = if self.in_force.settings.invitations.lets_in(own.group) {
                self.page_context().waiting(own)
            } else {
                self.page_context().uninvited(own)
            };
            waiting.invitation.failed = Some(*why);
            return self.respond(source, &waiting, &[], None);
        }
        self.back(source, cookie.as_slice())
    }

    /// Redirects to the page from which a form came.
    fn back(&self, source: &impl AnswerSource, set_cookies: &[String]) -> Verdict {
        let referrer = source.header("referer");
        let back = self.arrival(source, &referrer).back.unwrap_or(self.url);
        Verdict::Respond(HttpResponse::see_other(back, set_cookies))
    }

    /// Redirects to the address without the token, with the ticket that the visit led to.
    fn redeemed(
        &self,
        keys: &mut KeyRing,
        source: &impl AnswerSource,
        outcome: &Outcome,
    ) -> Verdict {
        let ticket = match outcome {
            Outcome::PassWith(ticket)
            | Outcome::Wait { ticket, counted: true }
            | Outcome::InfiniteQueue { ticket, counted: true } => Some(ticket),
            _ => None,
        };
        let cookie = ticket.map(|ticket| self.set_cookie(keys, source, ticket));
        Verdict::Respond(HttpResponse::see_other(self.url, cookie.as_slice()))
    }

    fn forward(&self, entered: Option<(String, &Ticket)>) -> Verdict {
        let (set_cookie, ticket) = entered.unzip();
        let told = ticket.filter(|_| self.room.session_endpoint);
        let settings = &self.in_force.settings;
        let cookies = self.room.strip_cookie.then(|| {
            let name = &self.room.cookie_name;
            let rest = cookie::without(self.cookies, name).unwrap_or_default();
            cookie::without(&rest, &cookie::contact_name(name)).unwrap_or_default()
        });
        Verdict::Forward(Forward {
            url: without_token(self.url, !self.site_key.is_empty()),
            cookies,
            set_cookie,
            session: told.and_then(|ticket| session::header(self.now, settings, ticket)),
            heeds_commands: self.room.origin_may_revoke,
        })
    }

    fn widget(&self, is_gate: bool) -> Widget<'_> {
        let Self { site_key, in_force, room, .. } = self;
        Widget { site_key, mode: in_force.turnstile.mode, room: room.id, is_gate }
    }

    fn page_context(&self) -> PageContext<'_> {
        let Self { now, room, in_force, view, .. } = *self;
        let submits = self.head.submits() && !place::is_asked(&self.head, self.url);
        PageContext { now, room, in_force, view, submits }
    }

    /// Returns what a waiting visitor is told.
    fn waiting(&self, keys: &mut KeyRing, ticket: &Ticket, counted: bool) -> Waiting {
        // To open a ticket costs the most here: a page that is not due does without.
        let before = counted.then(|| self.ticket_before(keys, ticket)).flatten();
        let page = self.page_context();
        before.map_or_else(|| page.waiting(ticket), |before| page.waiting_since(ticket, &before))
    }

    /// Returns the waiting ticket with which this visitor came.
    fn ticket_before(&self, keys: &mut KeyRing, ticket: &Ticket) -> Option<Ticket> {
        let (now, room) = (self.now, self.room);
        let values = cookie::find(self.cookies, &room.cookie_name);
        let mut opened =
            values.filter_map(|value| keys.open(now, room.id, &room.cookie_name, value));
        opened.find(|before| before.id == ticket.id && before.state == TicketState::Queued)
    }

    fn set_cookie(
        &self,
        keys: &mut KeyRing,
        source: &impl AnswerSource,
        ticket: &Ticket,
    ) -> String {
        let name = &self.room.cookie_name;
        let mut ticket = ticket.clone();
        // Whoever has passed a challenge is taken for the visitor from now on.
        if self.passed == Some(true) || !self.client.is_foreign_to(ticket.client) {
            ticket.client = self.client;
        }
        let value = keys.seal(self.now, source.nonce(), self.room.id, name, &ticket);
        let settings = &self.in_force.settings;
        let max_age_s = match ticket.state {
            TicketState::Queued => waiting_life_s(&ticket),
            TicketState::Accepted => settings.session_ms() / SECOND_MS + settings.bucket_width_s(),
        };
        self.cookie(name, &value, max_age_s)
    }

    fn cookie(&self, name: &str, value: &str, max_age_s: u64) -> String {
        let scope = self.coverage.cookie_scope(self.url, self.room.id);
        let attributes = self.room.cookie_attributes.resolve(self.zone.uses_https_alone(self.url));
        cookie::set_cookie(name, value, scope, max_age_s, attributes)
    }

    fn respond(
        &self,
        source: &mut impl AnswerSource,
        waiting: &Waiting,
        set_cookies: &[String],
        widget: Option<Widget<'_>>,
    ) -> Verdict {
        self.respond_with(source, waiting, set_cookies, widget, &ContactForm::default())
    }

    fn respond_with(
        &self,
        source: &mut impl AnswerSource,
        waiting: &Waiting,
        set_cookies: &[String],
        widget: Option<Widget<'_>>,
        contact: &ContactForm,
    ) -> Verdict {
        let plain = |words: &Words| {
            HttpResponse::upgrade_refused(words, waiting.refresh_interval_s, set_cookies)
        };
        if self.head.kind() == RequestKind::Upgrade {
            let texts = source.texts(self.language(source));
            return Verdict::Respond(
                texts.map_or_else(|| plain(&Words::default()), |(w, _)| plain(w)),
            );
        }
        let (head, status) = (self.head.is_head(), self.room.queueing_status_code);
        let referrer = if self.head.submits() { source.header("referer") } else { String::new() };
        let arrival = self.arrival(source, &referrer);
        let branding = &self.in_force.branding(&self.room.branding);
        let url = self.url;
        let group = name_of(&self.room.invitation_groups, waiting.invitation.group);
        // In a frame of a neighboring host a click for something else would confirm the turn.
        let is_for_frames = self.room.cookie_attributes.same_site == SameSite::None;
        let may_be_framed = is_for_frames || !waiting.confirms_turn;
        let delivery = Delivery {
            status,
            head,
            set_cookies,
            widget,
            arrival,
            may_be_framed,
            branding,
            url,
            contact,
            group,
        };
        let response = self.form(source).map(|form| HttpResponse::queue(form, waiting, delivery));
        // Where the owner's page grew beyond its bound, the plain text keeps the place.
        Verdict::Respond(response.and_then(Result::ok).unwrap_or_else(|| plain(&Words::default())))
    }

    /// Returns how the visitor checks in again. After a form that is where it was filled in, if
    /// this room covers that address.
    fn arrival<'r>(&'r self, source: &impl AnswerSource, referrer: &'r str) -> Arrival<'r> {
        let is_here = |address: &&str| {
            let covers = self.coverage.lookup(address).ok().flatten();
            covers.is_some_and(|room| room.id == self.room.id) && split_token(address).is_none()
        };
        let back = form_address(referrer, self.url).filter(is_here);
        // The form that moves a place goes to the address of its page.
        let page = |address: &'r str| address.strip_suffix(place::QUERY);
        let back = back.map(|address| page(address).unwrap_or(address)).or_else(|| page(self.url));
        let mode = if self.page.is_some() { String::new() } else { source.header(MODE_HEADER) };
        let checks_in = !mode.is_empty() && !source.header(CHECK_IN_HEADER).is_empty();
        let stays = checks_in || mode == "navigate";
        let is_form = stays && !checks_in && self.head.method == "POST" && page(self.url).is_none();
        let can_resend = is_form && source.header(SITE_HEADER) == "same-origin";
        Arrival { stays, checks_in, can_resend, back }
    }

    /// Chooses the page or JSON, and the page's language, by the headers of the request. `None` if
    /// the texts of the language cannot be read.
    fn form<'s>(&'s self, source: &'s mut impl AnswerSource) -> Option<Form<'s>> {
        let room = self.room;
        if room.json_response_enabled && accepts_json_alone(&source.header("accept")) {
            return Some(Form::Json);
        }
        let (words, built_in) = source.texts(self.language(source))?;
        Some(Form::Page(self.page.unwrap_or(built_in), words))
    }

    fn language(&self, source: &impl AnswerSource) -> Language {
        let preferred = source.header("accept-language");
        Language::preferred(&preferred, self.room.default_template_language)
    }
}

/// How long the browser keeps the cookies of a waiting visitor, in seconds: as long as the place is
/// kept.
fn waiting_life_s(ticket: &Ticket) -> u64 {
    GRACE_S + u64::from(ticket.interval_s)
}

/// Answers a prefetch or a request for a part of a page, by a visitor who is not inside: 503, with
/// a retry after 1 s. The answer to the icon that browsers request with any page is 204, since a
/// failure would be shown as one of the page.
pub fn not_inside(url: &str) -> Verdict {
    let mut headers = vec![("cache-control", "private, no-store".to_owned())];
    let is_icon = split_url(url).is_some_and(|parts| parts.path == "/favicon.ico");
    if !is_icon {
        headers.push(("retry-after", "1".to_owned()));
    }
    let status = if is_icon { 204 } else { 503 };
    Verdict::Respond(HttpResponse { status, headers, body: String::new() })
}

/// Answers a URL that can be read as belonging to more than one room (see
/// [`super::Entrance::Contradictory`]): 400, with a sentence for the reader.
pub fn contradictory() -> Verdict {
    let headers = vec![
        ("cache-control", "private, no-store".to_owned()),
        ("content-type", "text/plain; charset=utf-8".to_owned()),
    ];
    let body = "This address can be read in more than one way. \
                Please follow the links of the site.\n";
    Verdict::Respond(HttpResponse { status: 400, headers, body: body.to_owned() })
}

/// Answers a request to a host without a room (see [`super::Entrance::Unlisted`]): leads on to
/// `counterpart`, or refuses with 421 and a sentence for the operator.
pub fn unlisted(counterpart: Option<String>) -> Verdict {
    if let Some(location) = counterpart {
        let headers =
            vec![("cache-control", "private, no-store".to_owned()), ("location", location)];
        return Verdict::Respond(HttpResponse { status: 307, headers, body: String::new() });
    }
    let headers = vec![
        ("cache-control", "private, no-store".to_owned()),
        ("content-type", "text/plain; charset=utf-8".to_owned()),
    ];
    let body = "This host has no waiting room and is not in OPEN_HOSTS.\n";
    Verdict::Respond(HttpResponse { status: 421, headers, body: body.to_owned() })
}

/// Redirects to `url`, the address without a token that changes nothing; sets no cookie.
pub fn sent_on(url: &str) -> Verdict {
    Verdict::Respond(HttpResponse::see_other(url, &[]))
}

/// Forwards a request that no room decides. Where the deployment has challenges, a Turnstile token
/// is taken out of the address: the origin never sees one.
pub fn passed_by(url: &str, has_challenges: bool, heeds_commands: bool) -> Verdict {
    let url = without_token(url, has_challenges);
    Verdict::Forward(Forward { url, heeds_commands, ..Forward::default() })
}

/// Forwards a CORS preflight. Browsers send none with cookies, so nothing that comes with one may
/// be decided by a session.
pub fn preflight(url: &str, has_challenges: bool) -> Verdict {
    let url = without_token(url, has_challenges);
    Verdict::Forward(Forward { url, cookies: Some(String::new()), ..Forward::default() })
}

fn without_token(url: &str, has_challenges: bool) -> Option<String> {
    has_challenges.then(|| split_token(url)).flatten().map(|split| split.url)
}

#[cfg(test)]
mod tests;
