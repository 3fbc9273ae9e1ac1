//! What a visitor does with the place by a form: transfers it to another device, confirms the turn,
//! or joins a group with an invitation.
//!
//! For a transfer one device shows a code for a minute, and the other one enters it, once. Both
//! forms of the queue page go to its own address followed by [`QUERY`], by a `POST` whose `Origin`
//! is the site's own. The code is in the body, so no address that a server sees has a secret. The
//! room's object decides who has the place ([`crate::machines::moves`]).

use percent_encoding::percent_decode_str;

use super::invitation::{Invitation, Proof};
use super::request::RequestHead;
use super::session::is_origin_of;
use super::turn_notice::Share;
use crate::admission::invitation::has_no_place;
use crate::admission::{confirmation, moving};
use crate::base::id::VisitorId;
use crate::base::time::Timestamp;
use crate::machines::moves::MoveReply;
use crate::page::place::CodeFailure;
use crate::ticket::Ticket;
use crate::ticket::client::ClientMark;
use crate::ticket::place_code::PlaceCode;

/// The query of a request about a place.
pub const QUERY: &str = "?waiting-room-place";
/// The most codes that the clients of one network may make and enter in a minute, at each isolate.
/// A guess finds one of a thousand good codes with a chance of 1 in 10^9.
pub const CODES_PER_MINUTE: u32 = 20;
/// The most questions per minute and isolate by which the clients of one network ask what has
/// become of a place. After more of them it counts as open.
pub const QUESTIONS_PER_MINUTE: u32 = 120;

/// Whether a request is about a place.
pub fn is_asked(head: &RequestHead<'_>, url: &str) -> bool {
    head.method == "POST" && url.ends_with(QUERY)
}

/// What to do about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// A code is made with this ticket, which becomes the visitor's.
    Start(Ticket),
    /// This visitor enters this code.
    Take(PlaceCode, VisitorId),
    /// The visitor who holds this ticket confirms the turn.
    Enter(Ticket),
    /// The visitor who holds this ticket has typed the code of an invitation.
    Invite(Ticket, String),
    /// The code is good if the proof is, and this visitor wants to use it.
    Prove(Ticket, Invitation, Proof),
    /// The code is good, and this visitor wants to use it.
    Join(Ticket, Invitation),
    /// Nobody needs to be asked.
    Tell(Told),
}

/// The answer to a visitor's request about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// The code of this ticket, which becomes the visitor's.
    Code(Ticket),
    /// The place of this ticket, which becomes the visitor's, is here now.
    Taken(Ticket),
    /// The visitor is inside, with this ticket of a new session.
    Entered(Ticket),
    /// The visitor has joined a group, with this ticket.
    Joined(Ticket),
    /// The code of an invitation did not work, for this reason.
    Uninvited(CodeFailure),
    /// Nothing has changed: a form of another site, or a visitor without a place.
    Refused {
        /// The status for apps.
        status: u16,
        /// The reason for apps.
        reason: &'static str,
        /// The reason that pages show.
        why: CodeFailure,
    },
    /// The ticket is forgotten, so that the visitor can join the line again.
    Forgotten,
    /// This address or number, as typed, was given. The answer says whether it is accepted.
    Contact(String),
    /// The address or number is forgotten.
    NoContact,
    /// This address or number, as typed, was not accepted. Too many were given, or nobody can tell
    /// whether a message would come.
    TooManyContacts(String),
    /// No message will go to this address or number, as typed: other places have it.
    FullMailbox(String),
}

impl Told {
    /// Returns the answer about an address or number once the room's object has said whether a
    /// message will come.
    #[must_use]
    pub fn with_share(self, share: Share) -> Self {
        match (self, share) {
            (Self::Contact(typed), Share::Full) => Self::FullMailbox(typed),
            (Self::Contact(typed), Share::NotNow) => Self::TooManyContacts(typed),
            (told, _) => told,
        }
    }
}

/// Refuses everything that is not a form of the site's own page.
const FOREIGN: Told = refused(403, "Only a page of this site can move a place.");
const NO_PLACE: Told = refused(409, "There is no place here.");
const DUE: Told = refused(409, "Check in first, and ask again then.");
const ELSEWHERE: Told = refused(409, "The place is on another device.");
const WRONG: Told = no_code("The code is wrong.", CodeFailure::Wrong);
const USED: Told = no_code("The code has been used.", CodeFailure::Used);
const OVER: Told = no_code("The code is over.", CodeFailure::Over);
const SILENT: Told = refused(503, "Not now; try again in a minute.");
/// The refusal of a network that has made or entered too many codes.
const TOO_MANY: Told = refused(429, "Try again in a minute.");

const fn refused(status: u16, reason: &'static str) -> Told {
    Told::Refused { status, reason, why: CodeFailure::NotTried }
}

const fn no_code(reason: &'static str, why: CodeFailure) -> Told {
    Told::Refused { status: 404, reason, why }
}

/// Decides what to do about a request to `url` with this form as its body. `origin` is the header
/// `Origin`; `ticket` is the visitor's waiting ticket.
pub fn plan(now: Timestamp, url: &str, origin: &str, form: &str, ticket: Option<&Ticket>) -> Plan {
    if !is_origin_of(origin, url) {
        return Plan::Tell(FOREIGN);
    }
    let Some(ticket) = ticket else { return Plan::Tell(NO_PLACE) };
    if confirmation::is_asked(ticket, now) {
        let confirms = field(form, "act") == "enter";
        return if confirms { Plan::Enter(ticket.clone()) } else { Plan::Tell(NO_PLACE) };
    }
    match field(form, "act") {
        "code" if has_no_place(ticket) => Plan::Tell(NO_PLACE),
        "code" if !moving::may_get_code(ticket, now) => Plan::Tell(DUE),
        "code" => Plan::Start(moving::with_code(ticket, now)),
        "take" => match PlaceCode::parse(percent_decode_str(field(form, "code"))) {
            Some(code) => Plan::Take(code, ticket.id.visitor()),
            None => Plan::Tell(WRONG),
        },
        "anew" if ticket.moving => Plan::Tell(Told::Forgotten),
        "join" if !ticket.moving => Plan::Invite(ticket.clone(), typed(field(form, "invitation"))),
        "tell" => Plan::Tell(Told::Contact(typed(field(form, "contact")))),
        "tell-not" => Plan::Tell(Told::NoContact),
        _ => Plan::Tell(NO_PLACE),
    }
}

/// The outcome of asking the room's object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It answered with this.
    Reply(MoveReply),
    /// It did not answer in time.
    Silent,
    /// The client's network has asked too often.
    TooOften,
}

impl Plan {
    /// Returns what to do about the code of an invitation, which `read` reads. Other plans stay.
    #[must_use]
    pub fn checked(
        self,
        read: impl FnOnce(&str) -> Result<(Invitation, Option<Proof>), CodeFailure>,
    ) -> Self {
        let Self::Invite(ticket, typed) = self else { return self };
        match read(&typed) {
            Err(why) => Self::Tell(Told::Uninvited(why)),
            // Who has failed the challenge joins nothing, and must not hear why.
            Ok(_) if ticket.infinite => Self::Tell(Told::Uninvited(CodeFailure::Wrong)),
            // Another code of the same group changes nothing, and is not used for it.
            Ok((known, _)) if known.group == ticket.group => Self::Tell(Told::Joined(ticket)),
            Ok((invitation, None)) => Self::Join(ticket, invitation),
            Ok((invitation, Some(proof))) => Self::Prove(ticket, invitation, proof),
        }
    }

    /// Returns what is left to check of a code, if anything.
    pub fn proof(&self) -> Option<&Proof> {
        if let Self::Prove(_, _, proof) = self { Some(proof) } else { None }
    }

    /// Returns what to do about a code whose proof is good or not. Other plans stay.
    #[must_use]
    pub fn proven(self, is_good: bool) -> Self {
        match self {
            Self::Prove(ticket, invitation, _) if is_good => Self::Join(ticket, invitation),
            Self::Prove(..) => Self::Tell(Told::Uninvited(CodeFailure::Wrong)),
            plan => plan,
        }
    }

    /// Returns the answer to a visitor who confirms the turn; `enter` begins the session. `None`
    /// for any other plan.
    pub fn entered(&self, enter: impl FnOnce(&Ticket) -> Option<Ticket>) -> Option<Told> {
        let Self::Enter(ticket) = self else { return None };
        Some(enter(ticket).map_or(NO_PLACE, Told::Entered))
    }

    /// Returns the answer, by the outcome of asking. `open` opens what was sealed with a code, and
    /// `join` makes the ticket of a visitor who has joined a group, at a place if it gave one.
    pub fn told(
        self,
        asked: Asked,
        open: impl FnOnce(PlaceCode, &str) -> Option<Ticket>,
        join: impl FnOnce(&Ticket, u8, Option<Timestamp>) -> Ticket,
    ) -> Told {
        match (self, asked) {
            (Self::Tell(told), _) => told,
            (Self::Enter(_) | Self::Invite(..) | Self::Prove(..), _) => NO_PLACE,
            (Self::Join(ticket, to), Asked::Reply(MoveReply::Open)) => {
                Told::Joined(join(&ticket, to.group, None))
            }
            (Self::Join(ticket, to), Asked::Reply(MoveReply::Placed(at))) => {
                Told::Joined(join(&ticket, to.group, Some(at)))
            }
            (Self::Join(..), Asked::Reply(MoveReply::Used)) => Told::Uninvited(CodeFailure::Used),
            (Self::Join(..), Asked::Reply(MoveReply::Over)) => Told::Uninvited(CodeFailure::Over),
            (Self::Join(..), _) => Told::Uninvited(CodeFailure::NotTried),
            (_, Asked::TooOften) => TOO_MANY,
            (Self::Start(ticket), Asked::Reply(MoveReply::Open)) => Told::Code(ticket),
            (Self::Start(_), Asked::Reply(MoveReply::Taken)) => ELSEWHERE,
            (Self::Start(_), _) | (_, Asked::Silent) => SILENT,
            (Self::Take(code, _), Asked::Reply(MoveReply::Ticket(sealed))) => {
                // It is for the client that has given the code.
                let own = |ticket| Ticket { client: ClientMark::default(), ..ticket };
                open(code, &sealed).map_or(WRONG, |ticket| Told::Taken(own(ticket)))
            }
            (Self::Take(..), Asked::Reply(MoveReply::Used)) => USED,
            (Self::Take(..), Asked::Reply(MoveReply::Over)) => OVER,
            (Self::Take(..), _) => WRONG,
        }
    }
}

/// Reads what a visitor has typed into a field, as browsers write it into a form.
fn typed(value: &str) -> String {
    let spaced = value.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

/// Reads one field of a form; "" if it has none of this name.
fn field<'f>(form: &'f str, name: &str) -> &'f str {
    let value = |pair: &'f str| pair.strip_prefix(name)?.strip_prefix('=');
    form.split('&').find_map(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Asked, CODES_PER_MINUTE, DUE, ELSEWHERE, FOREIGN, NO_PLACE, OVER, Plan, SILENT};
    use super::{Invitation, TOO_MANY, Told, USED, WRONG, is_asked, plan};
    use crate::admission::moving::with_code;
    use crate::admission::tests::queued;
    use crate::base::id::VisitorId;
    use crate::base::time::Timestamp;
    use crate::machines::moves::MoveReply;
    use crate::page::place::CodeFailure;
    use crate::ticket::bucket::Bucket;
    use crate::ticket::client::ClientMark;
    use crate::ticket::place_code::PlaceCode;
    use crate::ticket::{Ticket, TicketState};
    use crate::visit::request::RequestHead;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);
    const URL: &str = "https://shop.example/tickets?waiting-room-place";
    const SITE: &str = "https://shop.example";

    fn waiting() -> Ticket {
        queued(NOW.0 - 60_000, NOW.0 - 2_000)
    }

    #[test]
    fn only_a_form_to_the_address_of_a_page_moves_a_place() {
        let check = |method: &str, url: &str, want: bool| {
            let head = RequestHead { method, ..RequestHead::default() };
            assert_eq!(is_asked(&head, url), want, "{method} {url}");
        };
        check("POST", URL, true);
        check("POST", "https://shop.example/?waiting-room-place", true);
        check("GET", URL, false);
        check("POST", "https://shop.example/?waiting-room-place=1", false);
        check("POST", "https://shop.example/?a=b&waiting-room-place", false);
        check("POST", "https://shop.example/waiting-room-place", false);
    }

    #[test]
    fn a_form_is_read_as_browsers_send_it() {
        let code = PlaceCode::parse("7K3M-9QXB".bytes()).unwrap();
        let check = |form: &str, ticket: Option<&Ticket>, want: Plan| {
            assert_eq!(plan(NOW, URL, SITE, form, ticket), want, "{form}");
        };
        let (own, refused) = (waiting(), |told: Told| Plan::Tell(told));
        check("act=code", Some(&own), Plan::Start(with_code(&own, NOW)));
        for form in
            ["code=7k3m+9qxb&act=take", "act=take&code=7K3M%E2%80%939QXB", "act=take&code=7K3M9QXB"]
        {
            check(form, Some(&own), Plan::Take(code, own.id.visitor()));
        }
        for form in
            ["act=take", "act=take&code=", "act=take&code=7K3M-9QX", "act=take&decode=7K3M-9QXB"]
        {
            check(form, Some(&own), refused(WRONG));
        }
        let contact = |text: &str| refused(Told::Contact(text.to_owned()));
        let typed = "contact=+a%2Bb%40c.example&act=tell";
        check(typed, Some(&own), contact(" a+b@c.example"));
        check("act=tell", Some(&own), contact(""));
        check("act=tell&contact=%ff", Some(&own), contact("\u{fffd}"));
        check("act=tell-not", Some(&own), refused(Told::NoContact));
        check(typed, None, refused(NO_PLACE));
        for form in ["", "act", "act=", "act=other", "act=anew"] {
            check(form, Some(&own), refused(NO_PLACE));
        }
        check("act=anew", Some(&with_code(&own, NOW)), refused(Told::Forgotten));
        check("act=code", None, refused(NO_PLACE));
        let uninvited = Ticket { interval_s: 300, ..waiting() };
        check("act=code", Some(&uninvited), refused(NO_PLACE));
        let due = Ticket { last_check_in: NOW.minus_seconds(30), ..waiting() };
        check("act=code", Some(&due), refused(DUE));
    }

    fn unjoined(ticket: &Ticket, _: u8, _: Option<Timestamp>) -> Ticket {
        ticket.clone()
    }

    #[test]
    fn an_invitation_is_used_once_and_only_with_a_place() {
        let own = waiting();
        let invited = |ticket: &Ticket| Plan::Invite(ticket.clone(), "a.b-c.d".to_owned());
        let asks =
            |ticket: Option<&Ticket>| plan(NOW, URL, SITE, "invitation=a.b-c.d&act=join", ticket);
        assert_eq!(asks(Some(&own)), invited(&own));
        assert_eq!(asks(None), Plan::Tell(NO_PLACE));
        assert_eq!(asks(Some(&asked())), Plan::Tell(NO_PLACE));
        assert_eq!(asks(Some(&with_code(&own, NOW))), Plan::Tell(NO_PLACE));
        let name = "members/a".to_owned();
        let code = Invitation { group: 2, name, uses: 1, one_in: 0, ends_at: NOW };
        let check = |ticket: &Ticket, read: Result<Invitation, CodeFailure>, want: Plan| {
            let checked = invited(ticket).checked(|typed| {
                assert_eq!(typed, "a.b-c.d");
                read.map(|invitation| (invitation, None))
            });
            assert_eq!(checked, want);
        };
        check(&own, Ok(code.clone()), Plan::Join(own.clone(), code.clone()));
        let member = Ticket { group: 2, ..waiting() };
        check(&member, Ok(code.clone()), Plan::Tell(Told::Joined(member.clone())));
        let wrong = Told::Uninvited(CodeFailure::Wrong);
        check(&own, Err(CodeFailure::Wrong), Plan::Tell(wrong.clone()));
        // Whoever has failed the challenge hears of each code what others hear of a wrong one.
        let infinite = Ticket { infinite: true, ..waiting() };
        assert_eq!(asks(Some(&infinite)), invited(&infinite));
        check(&infinite, Ok(code.clone()), Plan::Tell(wrong.clone()));
        check(&infinite, Err(CodeFailure::Wrong), Plan::Tell(wrong));
        // Signed by the owner: nobody joins before that is checked.
        let key = crate::room::invitation::PublicKey([9; 32]);
        let proof = super::Proof { key, text: "a.b".to_owned(), signature: vec![1] };
        let unproven = || invited(&own).checked(|_| Ok((code.clone(), Some(proof.clone()))));
        assert_eq!(unproven().proof(), Some(&proof));
        let asked = Asked::Reply(MoveReply::Open);
        assert_eq!(unproven().told(asked, |_, _| None, unjoined), NO_PLACE);
        assert_eq!(unproven().proven(true), Plan::Join(own.clone(), code.clone()));
        assert_eq!(unproven().proven(false), Plan::Tell(Told::Uninvited(CodeFailure::Wrong)));
        assert_eq!(invited(&own).proven(true), invited(&own));
        let told = |reply: Asked| {
            let join = |ticket: &Ticket, group: u8, at: Option<Timestamp>| {
                let placed_at = at.unwrap_or_default();
                Ticket { group, placed_at, ..ticket.clone() }
            };
            Plan::Join(own.clone(), code.clone()).told(reply, |_, _| None, join)
        };
        let reply = |reply: MoveReply| told(Asked::Reply(reply));
        assert_eq!(reply(MoveReply::Open), Told::Joined(Ticket { group: 2, ..own.clone() }));
        let placed = Ticket { group: 2, placed_at: Timestamp(7), ..own.clone() };
        assert_eq!(reply(MoveReply::Placed(Timestamp(7))), Told::Joined(placed));
        let failed = Told::Uninvited;
        assert_eq!(reply(MoveReply::Used), failed(CodeFailure::Used));
        assert_eq!(reply(MoveReply::Over), failed(CodeFailure::Over));
        for silent in [Asked::Silent, Asked::TooOften, Asked::Reply(MoveReply::Nothing)] {
            assert_eq!(told(silent), failed(CodeFailure::NotTried));
        }
    }

    /// The ticket of a visitor who is asked to confirm the turn, for a minute more.
    fn asked() -> Ticket {
        let counted_bucket = Bucket(u32::try_from(NOW.seconds() + 60).unwrap());
        let state = TicketState::Accepted;
        Ticket { state, accepted_at: NOW, counted_bucket, kept_minutes: 5, ..waiting() }
    }

    #[test]
    fn who_is_asked_confirms_with_a_form_and_does_nothing_else() {
        let own = asked();
        let tells = |form: &str| plan(NOW, URL, SITE, form, Some(&own));
        assert_eq!(tells("act=enter"), Plan::Enter(own.clone()));
        for form in ["act=code", "act=take&code=7K3M-9QXB", "act=anew", "act=tell", ""] {
            assert_eq!(tells(form), Plan::Tell(NO_PLACE), "{form}");
        }
        for origin in ["", "null", "https://other.example"] {
            let told = plan(NOW, URL, origin, "act=enter", Some(&own));
            assert_eq!(told, Plan::Tell(FOREIGN), "{origin}");
        }
        let later = NOW.plus_seconds(60);
        let told = |ticket| plan(later, URL, SITE, "act=enter", ticket);
        assert_eq!(told(Some(&own)), Plan::Tell(NO_PLACE), "the window is over");
        assert_eq!(told(None), Plan::Tell(NO_PLACE));
        assert_eq!(plan(NOW, URL, SITE, "act=enter", Some(&waiting())), Plan::Tell(NO_PLACE));
        let entered = Plan::Enter(own.clone()).entered(|ticket| Some(ticket.clone()));
        assert_eq!(entered, Some(Told::Entered(own.clone())));
        assert_eq!(Plan::Enter(own).entered(|_| None), Some(NO_PLACE));
        assert_eq!(Plan::Tell(NO_PLACE).entered(|_| None), None);
    }

    #[test]
    fn no_other_site_moves_a_place() {
        for origin in ["", "null", "https://other.example", "http://shop.example"] {
            let contact = ["act=tell&contact=a%40b.example", "act=tell-not", "act=join"];
            for form in [
                "act=code",
                "act=take&code=7K3M-9QXB",
                "act=anew",
                contact[0],
                contact[1],
                contact[2],
            ] {
                let told = plan(NOW, URL, origin, form, Some(&waiting()));
                assert_eq!(told, Plan::Tell(FOREIGN), "{origin} {form}");
            }
        }
    }

    #[test]
    fn what_the_object_says_is_what_the_visitor_is_told() {
        let ticket = waiting();
        let start = |asked: Asked| Plan::Start(ticket.clone()).told(asked, |_, _| None, unjoined);
        assert_eq!(start(Asked::Reply(MoveReply::Open)), Told::Code(ticket.clone()));
        assert_eq!(start(Asked::Reply(MoveReply::Taken)), ELSEWHERE);
        assert_eq!(start(Asked::Reply(MoveReply::Nothing)), SILENT);
        assert_eq!((start(Asked::Silent), start(Asked::TooOften)), (SILENT, TOO_MANY));
        let code = PlaceCode::from_bytes([7; 5]);
        let sealed = Ticket { client: ClientMark(9), ..ticket.clone() };
        let take = |asked: Asked| {
            let is_it = |given, text: &str| given == code && text == "sealed";
            let open = |given, text: &str| is_it(given, text).then(|| sealed.clone());
            Plan::Take(code, VisitorId(1)).told(asked, open, unjoined)
        };
        let found = |text: &str| Asked::Reply(MoveReply::Ticket(text.to_owned()));
        assert_eq!(take(found("sealed")), Told::Taken(ticket.clone()), "for the client that comes");
        assert_eq!(take(found("other")), WRONG);
        assert_eq!(take(Asked::Reply(MoveReply::Nothing)), WRONG);
        assert_eq!(take(Asked::Reply(MoveReply::Used)), USED);
        assert_eq!(take(Asked::Reply(MoveReply::Over)), OVER);
        assert_eq!((take(Asked::Silent), take(Asked::TooOften)), (SILENT, TOO_MANY));
        assert_eq!(Plan::Tell(NO_PLACE).told(Asked::Silent, |_, _| None, unjoined), NO_PLACE);
    }

    /// A week of guesses at a thousand codes, by a thousand networks at ten isolates each.
    #[test]
    fn a_code_is_too_long_to_be_guessed() {
        let guesses = f64::from(CODES_PER_MINUTE) * 1_000.0 * 10.0;
        let a_minute = guesses * 1_000.0 / 2_f64.powi(40);
        assert!(a_minute < 0.000_2, "{a_minute}");
    }
}
