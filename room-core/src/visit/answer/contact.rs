//! The part of an answer that is about a message to the visitor before the turn: the form on the
//! page, the cookie with the input, and the message for the room's object.

use super::{AnswerSource, ResponseContext, Waiting, waiting_life_s};
use crate::keys::key_ring::KeyRing;
use crate::machines::isolate::Outcome;
use crate::page::contact::ContactForm;
use crate::page::response::HttpResponse;
use crate::room::Room;
use crate::room::turn_notice::{TurnNotice, mailbox};
use crate::ticket::contact::Contact;
use crate::ticket::{Ticket, cookie};
use crate::visit::place::Told;
use crate::visit::request::accepts_json_alone;
use crate::visit::turn_notice::{self, ShareRequest, TurnMessage};
use crate::visit::verdict::Verdict;

/// The most characters of the input that a page shows again: as many as its field takes.
const TYPED_MAX: usize = 120;
/// The text for apps if no message will come.
const FULL: &str =
    "{\"error\":\"No message will be sent: three places have this address or number.\"}";

/// Whether a message may be due to a visitor with these cookies.
pub fn may_be_told(takes: TurnNotice, room: &Room, cookies: &str) -> bool {
    let name = || cookie::contact_name(&room.cookie_name);
    takes != TurnNotice::Off && cookie::find(cookies, &name()).next().is_some()
}

impl ResponseContext<'_> {
    /// Returns the message for the room's object that is due with this outcome. Whether the object
    /// takes it decides what the page says.
    pub fn turn_message(
        &self,
        keys: &mut KeyRing,
        source: &impl AnswerSource,
        outcome: &Outcome,
    ) -> Option<TurnMessage> {
        let Outcome::Wait { ticket, counted: true } = outcome else { return None };
        if self.turn_notice == TurnNotice::Off || self.passed.is_some() {
            return None;
        }
        let contact = self.contact_before(keys, ticket)?;
        let waiting = self.waiting(keys, ticket, true);
        let wait_s = turn_notice::due(self.now, ticket, &waiting, &contact)?;
        let ShareRequest { id, contact_id } =
            self.share_request(keys, source, ticket, &contact.text);
        Some(TurnMessage { id, contact_id, contact: contact.text, wait_s })
    }

    /// Returns what the page of a waiting visitor shows. A counted visit also returns the cookie
    /// again, so that it lives as long as the ticket.
    pub(super) fn contact(
        &self,
        keys: &mut KeyRing,
        source: &impl AnswerSource,
        ticket: &Ticket,
        waiting: &Waiting,
        counted: bool,
    ) -> (ContactForm, Option<String>) {
        if self.turn_notice == TurnNotice::Off {
            return (ContactForm::default(), None);
        }
        let Some(mut contact) = self.contact_before(keys, ticket) else {
            let may_ask = turn_notice::may_ask(ticket, waiting);
            let takes = if may_ask { self.turn_notice } else { TurnNotice::Off };
            return (ContactForm { takes, ..ContactForm::default() }, None);
        };
        if self.is_handed {
            contact = contact.handed(self.now);
        }
        let cookie = counted.then(|| self.contact_cookie(keys, source, ticket, &contact));
        let Contact { text: given, handed, .. } = contact;
        (ContactForm { given, is_sent: handed > 0, ..ContactForm::default() }, cookie)
    }

    /// Returns the question to the room's object before such a form is answered. `None` if the
    /// answer does not depend on it.
    pub fn share_asked(
        &self,
        keys: &mut KeyRing,
        source: &impl AnswerSource,
        told: &Told,
        own: Option<&Ticket>,
    ) -> Option<ShareRequest> {
        let own = own.filter(|_| self.turn_notice != TurnNotice::Off)?;
        match told {
            Told::Contact(typed) => {
                let waiting = self.page_context().waiting(own);
                let typed = self.turn_notice.read(typed)?;
                let may_ask = turn_notice::may_ask(own, &waiting);
                may_ask.then(|| self.share_request(keys, source, own, &typed))
            }
            Told::NoContact => {
                let id = keys.visitor_name(self.room.id, own);
                Some(ShareRequest { id, contact_id: String::new() })
            }
            _ => None,
        }
    }

    fn share_request(
        &self,
        keys: &mut KeyRing,
        source: &impl AnswerSource,
        ticket: &Ticket,
        contact: &str,
    ) -> ShareRequest {
        let room = self.room.id;
        let mailbox = mailbox(contact, |domain| source.domain_in_ascii(domain));
        let contact_id = keys.mailbox_name(room, source.network(), &mailbox);
        ShareRequest { id: keys.visitor_name(room, ticket), contact_id }
    }

    /// Answers a form with an address or number of a visitor who waits with the ticket `own`. The
    /// answer is the page that sent it, or JSON.
    pub(super) fn contact_given(
        &self,
        keys: &mut KeyRing,
        source: &mut impl AnswerSource,
        told: &Told,
        own: Option<&Ticket>,
    ) -> Verdict {
        let waits = own.map(|own| (own, self.page_context().waiting(own)));
        let is_on = self.turn_notice != TurnNotice::Off;
        let asked = waits.filter(|(own, waiting)| is_on && turn_notice::may_ask(own, waiting));
        let taken = match told {
            Told::Contact(typed) => asked.and_then(|(own, _)| {
                let contact = Contact::new(own.id.visitor(), self.turn_notice.read(typed)?);
                Some(self.contact_cookie(keys, source, own, &contact))
            }),
            Told::NoContact => {
                Some(self.cookie(&cookie::contact_name(&self.room.cookie_name), "", 0))
            }
            _ => None,
        };
        let (status, facts) = match (told, &taken) {
            (Told::NoContact, _) => (200, "{\"told\":false}"),
            (_, Some(_)) => (200, "{\"told\":true}"),
            (Told::Contact(_), _) if asked.is_none() => (409, "{\"error\":\"Not now.\"}"),
            (Told::Contact(_), _) => (400, "{\"error\":\"It cannot be read.\"}"),
            (Told::FullMailbox(_), _) => (409, FULL),
            _ => (429, "{\"error\":\"Try again in a minute.\"}"),
        };
        if accepts_json_alone(&source.header("accept")) {
            return Verdict::Respond(HttpResponse::of_session(status, &facts, taken.as_slice()));
        }
        if let Some((_, waiting)) = asked.filter(|_| status != 200) {
            let typed = match told {
                Told::Contact(typed) | Told::TooManyContacts(typed) | Told::FullMailbox(typed) => {
                    typed
                }
                _ => "",
            };
            let full = matches!(told, Told::FullMailbox(_));
            let typed = typed.chars().take(TYPED_MAX).collect();
            let takes = self.turn_notice;
            let form = ContactForm { takes, failed: true, full, typed, ..ContactForm::default() };
            return self.respond_with(source, &waiting, &[], None, &form);
        }
        self.back(source, taken.as_slice())
    }

    /// Returns what the holder of this ticket has typed.
    fn contact_before(&self, keys: &mut KeyRing, ticket: &Ticket) -> Option<Contact> {
        let name = cookie::contact_name(&self.room.cookie_name);
        let values = cookie::find(self.cookies, &name);
        let mut contacts =
            values.filter_map(|value| keys.open_contact(self.now, self.room.id, &name, value));
        contacts.find(|contact| contact.visitor == ticket.id.visitor())
    }

    fn contact_cookie(
        &self,
        keys: &mut KeyRing,
        source: &impl AnswerSource,
        ticket: &Ticket,
        contact: &Contact,
    ) -> String {
        let name = cookie::contact_name(&self.room.cookie_name);
        let value = keys.seal_contact(self.now, source.nonce(), self.room.id, &name, contact);
        self.cookie(&name, &value, waiting_life_s(ticket))
    }
}
