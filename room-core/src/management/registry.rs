//! The registry: every room, event, rule, list and zone setting, with the audit log of changes.
//!
//! [`Registry::perform`] answers one call of the management API and returns the rows to store. A
//! change is validated as a whole before any part of it is made.
//!
//! The object `Registry` keeps each room, setting and log entry as a row of its `SQLite` table. It
//! writes the rows of a change in one transaction before the answer leaves. Until the first change
//! the rooms of `rooms.json` count.
//!
//! The last good deployment (`rooms.json` and the variables that can be refused, never a secret) is
//! kept in a second table. A refused deployment falls back to it.

mod audit;
mod bypass_rules;
mod change;
mod configuration;
mod context;
mod covered_parts;
mod deployment;
mod document;
mod events;
mod export;
mod idempotency;
mod import;
mod import_parts;
mod named_lists;
mod own_routes;
mod preview;
mod previews;
mod rooms;
mod rows;
mod settings;
mod stored;
#[cfg(test)]
mod tests;
mod tokens;
mod trial;
mod webhooks;
mod zones;

use std::rc::Rc;

use self::change::Answer;
pub use self::configuration::{Configuration, ConfigurationError, FORMAT};
use self::context::CallContext;
pub use self::deployment::Bounds;
use self::deployment::Deployment;
pub use self::preview::Preview;
pub use self::rows::{BadRow, Row};
use self::stored::{Author, Stored};
use crate::base::id::RoomId;
use crate::base::time::Timestamp;
use crate::keys::key_ring::KeyRing;
use crate::management::api::{
    self, AuditFilter, Call, Failure, Method, Paging, Part, Reply, Target,
};
use crate::management::token::NamedToken;
use crate::room::Room;
use crate::room::zones::Zones;

/// Everything that owners configured, and what the deployment allows them.
#[derive(Debug)]
pub struct Registry {
    stored: Stored,
    deployment: Deployment,
    /// The rooms of `rooms.json`, which count until the first change.
    file: Rc<[Room]>,
}

/// The outcome of a call: the answer, and the rows that must be stored before it leaves.
#[derive(Debug)]
pub struct RegistryTurn {
    /// The answer to the owner.
    pub reply: Reply,
    /// The rows to write and delete, in one transaction; empty if nothing changed.
    pub rows: Vec<Row>,
}

impl Registry {
    /// Reads the registry from its stored rows (key and JSON text). Until a change is stored, its
    /// rooms are those of `file`, which is `rooms.json`.
    ///
    /// Errors: a row that this version of the Worker cannot read.
    pub fn new(
        rows: Vec<(String, String)>,
        file: impl Into<Rc<[Room]>>,
        zones: Zones,
        bounds: Bounds,
    ) -> Result<Self, BadRow> {
        let file = file.into();
        let stored = Stored::read(rows, &file)?;
        Ok(Self { stored, deployment: Deployment { bounds, zones, can_challenge: false }, file })
    }

    /// Sets whether the deployment has Turnstile's keys. Without them owners are warned that
    /// `turnstile_mode` acts as `off`.
    #[must_use]
    pub fn with_turnstile(self, can_challenge: bool) -> Self {
        Self { deployment: Deployment { can_challenge, ..self.deployment }, ..self }
    }

    /// Returns the version: the number of changes so far, 0 while `rooms.json` counts.
    pub fn version(&self) -> u64 {
        self.stored.version()
    }

    /// Writes the present configuration, for [`Configuration::parse`] in every isolate.
    pub fn configuration(&self) -> String {
        configuration::write(&self.stored)
    }

    /// Returns a warning for the log if `rooms.json` no longer counts and differs from what is
    /// stored; otherwise `None`.
    pub fn note_on_file(&self) -> Option<String> {
        import::note_on_file(&self.stored, &self.file)
    }

    /// Returns the preview with this id; `None` if there is none, or if it has expired.
    pub fn preview(&self, now: Timestamp, id: &str) -> Option<&Preview> {
        previews::find(&self.stored, now, id)
    }

    /// Writes the destinations of a room's webhook messages, as JSON with their secrets; "" if
    /// there is no such room.
    pub fn destinations(&self, room: RoomId) -> String {
        webhooks::destinations(&self.stored, room)
    }

    /// Returns the named tokens, for isolates to check those of requests.
    pub fn tokens(&self) -> Vec<NamedToken> {
        self.stored.tokens().to_vec()
    }

    /// Answers one call of the API.
    ///
    /// `draw` are fresh random bytes, from which new ids are made. For a preview they are its id,
    /// from `KeyRing::preview_id`. `keys` are those that draw the orders of events; without them no
    /// commitment is shown.
    pub fn perform(
        &mut self,
        now: Timestamp,
        draw: [u8; 16],
        keys: Option<&KeyRing>,
        call: &Call,
    ) -> RegistryTurn {
        let (stored, deployment) = (&self.stored, &self.deployment);
        let grant = &call.grant;
        let context = CallContext { now, draw, keys, stored, deployment, grant };
        let checked = check_grant(context, call).and_then(|()| check_version(context, call));
        let answered = checked.and_then(|()| answer_once(context, call));
        let done = answered.and_then(|(Answer { reply, changes }, mark)| {
            let (actor, method) = (call.actor.as_str(), call.method);
            let author = Author { actor, token: call.grant.token, method, mark };
            let rows = self.stored.commit(now, &author, changes)?;
            Ok(RegistryTurn { reply, rows })
        });
        done.unwrap_or_else(|failure| RegistryTurn { reply: failure.to_reply(), rows: Vec::new() })
    }
}

/// Refuses a call that its sender may not make, also by what isolates cannot see of it: the fields
/// of a change, and whether a zone has a room that the sender may see.
fn check_grant(context: CallContext<'_>, call: &Call) -> Result<(), Failure> {
    let (grant, target) = (context.grant, call.target);
    api::check(grant, target, call.method)?;
    if let Part::Zone(zone) = api::part_of(target)
        && !grant.scope.has_zone(zone)
        && !context.stored.rooms().values().any(|room| room.zone_id == zone && grant.sees(room))
    {
        return Err(api::out_of_scope());
    }
    if call.method != Method::Patch {
        return Ok(());
    }
    api::check_fields(grant, target, &document::parse(&call.body)?)
}

/// Refuses a change if the call names a version that is not the present one.
fn check_version(context: CallContext<'_>, call: &Call) -> Result<(), Failure> {
    if call.if_match.is_empty() || call.method.reads() {
        return Ok(());
    }
    let read = Call { method: Method::Get, body: String::new(), ..call.clone() };
    let present = call.target.has_tag().then(|| answer(context, &read)).transpose()?;
    api::check_if_match(&call.if_match, present.as_ref().map(|answer| answer.reply.body.as_str()))
}

/// Runs the operation that a call asks for. If the call is a repetition, returns what the first one
/// made. The second value is the mark by which the call is recognized later.
fn answer_once(context: CallContext<'_>, call: &Call) -> Result<(Answer, Option<String>), Failure> {
    let mark = idempotency::mark(call)?;
    match mark.as_deref().and_then(|mark| idempotency::repeated(context, mark)) {
        Some(made) => {
            let again = match made? {
                Target::Webhook(zone, room, webhook) => context
                    .room(zone, room)
                    .and_then(|room| webhooks::show_again(context, room, webhook)),
                made => answer(context, &idempotency::reading(call, made)),
            };
            Ok((again.map_err(idempotency::gone)?, None))
        }
        None => Ok((answer(context, call)?, mark)),
    }
}

/// Runs the operation that a call asks for.
fn answer(context: CallContext<'_>, call: &Call) -> Result<Answer, Failure> {
    use Method::{Delete, Get, Patch, Post, Put};
    let body = || document::parse(&call.body);
    let paging = || Paging::parse(&call.query);
    match (call.target, call.method) {
        (Target::Zones, _) => zones::list(context, &call.query),
        (Target::Zone(zone), _) => zones::show(context, zone),
        (Target::Accounts, _) => zones::list_accounts(&call.query),
        (Target::Account, _) => Ok(zones::show_account()),
        (Target::AccountRooms, _) => rooms::list(context, None, paging()?),
        (Target::Rooms(zone), Post) => rooms::create(context, zone, &body()?),
        (Target::Rooms(zone), Delete) => rooms::delete_many(context, zone, &body()?),
        (Target::Rooms(zone), _) => rooms::list(context, Some(zone), paging()?),
        (Target::Room(zone, room), Delete) => rooms::delete(context, zone, room),
        (Target::Room(zone, room), method @ (Put | Patch)) => {
            rooms::change(context, zone, room, method, &body()?)
        }
        (Target::Room(zone, room), _) => rooms::show(context, zone, room),
        (
            Target::Status(zone, room) | Target::History(zone, room) | Target::Trace(zone, room, _),
            _,
        ) => rooms::status(context, zone, room),
        (Target::InvitationKeys(zone, room), _) => {
            Ok(rooms::group_names(context.room(zone, room)?))
        }
        (Target::Preview(zone), _) => previews::create(context, zone, &call.base_url, &body()?),
        (Target::Settings(zone), Get | Post | Delete) => settings::show(context, zone),
        (Target::Settings(zone), Put | Patch) => settings::change(context, zone, &body()?),
        (Target::Rules(zone, room), Post) => {
            bypass_rules::create(context, context.room(zone, room)?, &body()?)
        }
        (Target::Rules(zone, room), Put) => {
            bypass_rules::replace(context, context.room(zone, room)?, &body()?)
        }
        (Target::Rules(zone, room), _) => Ok(bypass_rules::show(context.room(zone, room)?)),
        (Target::RuleTrial(zone, room), _) => {
            trial::answer(context, context.room(zone, room)?, &body()?)
        }
        (Target::Rule(zone, room, rule), Delete) => {
            bypass_rules::delete(context.room(zone, room)?, rule)
        }
        (Target::Rule(zone, room, rule), _) => {
            bypass_rules::change(context, context.room(zone, room)?, rule, &body()?)
        }
        (Target::Lists, Post) => named_lists::create(context, &body()?),
        (Target::Lists, _) => Ok(named_lists::list(context)),
        (Target::List(list), Put) => named_lists::describe(context, list, &body()?),
        (Target::List(list), Delete) => named_lists::delete(context, list),
        (Target::List(list), _) => named_lists::show(context, list),
        (Target::ListItems(list), method @ (Post | Put)) => {
            named_lists::add_items(context, list, method, &body()?)
        }
        (Target::ListItems(list), Delete) => named_lists::delete_items(context, list, &body()?),
        (Target::ListItems(list), _) => named_lists::list_items(context, list),
        (Target::ListItem(list, item), _) => named_lists::show_item(context, list, item),
        (Target::ListOperation(operation), _) => {
            Ok(named_lists::show_operation(context.now, operation))
        }
        (Target::File, Put) => import::import(context, &body()?),
        (Target::File, _) => Ok(Answer::of(match export::first_entry(&call.query)? {
            Some(from) => export::part(context, from),
            None => export::rooms_file(context),
        })),
        (Target::AuditLog, _) => {
            let filter = AuditFilter::parse(&call.query)?;
            Ok(context.stored.audit().page(&filter, context.grant, paging()?))
        }
        (target, _) => of_tokens(context, target, call),
    }
}

/// Runs an operation on named tokens.
fn of_tokens(context: CallContext<'_>, target: Target, call: &Call) -> Result<Answer, Failure> {
    use Method::{Delete, Post, Put};
    let body = || document::parse(&call.body);
    match (target, call.method) {
        (Target::Tokens, Post) => tokens::create(context, &body()?),
        (Target::Tokens, _) => Ok(tokens::list(context, Paging::parse(&call.query)?)),
        (Target::Token(token), Put) => tokens::replace(context, token, &body()?),
        (Target::Token(token), Delete) => tokens::delete(context, token),
        (Target::Token(token), _) => tokens::show(context, token),
        (Target::TokenValue(token), _) => tokens::roll(context, token),
        (target, _) => of_events(context, target, call),
    }
}

/// Runs an operation on events.
fn of_events(context: CallContext<'_>, target: Target, call: &Call) -> Result<Answer, Failure> {
    use Method::{Delete, Patch, Post, Put};
    let body = || document::parse(&call.body);
    match (target, call.method) {
        (Target::Events(zone, room), Post) => {
            events::create(context, context.room(zone, room)?, &body()?)
        }
        (Target::Events(zone, room), _) => {
            let paging = Paging::parse(&call.query)?;
            Ok(events::list(context.keys, context.room(zone, room)?, paging))
        }
        (Target::Event(zone, room, event), Delete) => {
            events::delete(context.room(zone, room)?, event)
        }
        (Target::Event(zone, room, event), method @ (Put | Patch)) => {
            events::change(context, context.room(zone, room)?, event, method, &body()?)
        }
        (Target::Event(zone, room, event), _) => {
            events::show(context.keys, context.room(zone, room)?, event)
        }
        (Target::EventDetails(zone, room, event), _) => {
            events::details(context.keys, context.room(zone, room)?, event)
        }
        _ => of_webhooks(context, target, call),
    }
}

/// Runs an operation on webhooks.
fn of_webhooks(context: CallContext<'_>, target: Target, call: &Call) -> Result<Answer, Failure> {
    use Method::{Delete, Patch, Post};
    let body = || document::parse(&call.body);
    match (target, call.method) {
        (Target::Webhooks(zone, room), Post) => {
            webhooks::create(context, context.room(zone, room)?, &body()?)
        }
        (Target::Webhooks(zone, room), _) => Ok(webhooks::list(context, context.room(zone, room)?)),
        (Target::Webhook(zone, room, webhook), Patch) => {
            webhooks::change_one(context, context.room(zone, room)?, webhook, &body()?)
        }
        (Target::Webhook(zone, room, webhook), Delete) => {
            webhooks::delete(context, context.room(zone, room)?, webhook)
        }
        (Target::WebhookTest(zone, room, webhook), _) => {
            webhooks::test(context, context.room(zone, room)?, webhook)
        }
        (Target::Webhook(zone, room, webhook), _) => {
            webhooks::show(context, context.room(zone, room)?, webhook)
        }
        // An isolate answers the doctor, and never asks the registry.
        _ => Err(Failure::no_route()),
    }
}
