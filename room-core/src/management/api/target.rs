//! The paths of the API. They are the 24 operations of Cloudflare's Waiting Room API, those of its
//! lists, the look-ups of zones and accounts, tokens, and our own: history, trace, webhooks, trial
//! of rules, file of rooms, audit log and doctor.

use serde::{Deserialize, Serialize};

use super::reply::Failure;
use super::trace::unknown_reference;
use crate::base::id::{EventId, ListId, ListItemId, RoomId, RuleId, TokenId, WebhookId, ZoneId};
use crate::ticket::reference::Reference;

/// What a request is about, from its path below `client/v4/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// `accounts/{account}/waiting_rooms`: the rooms of all zones.
    AccountRooms,
    /// `zones/{zone}/waiting_rooms`.
    Rooms(ZoneId),
    /// `zones/{zone}/waiting_rooms/{room}`.
    Room(ZoneId, RoomId),
    /// `zones/{zone}/waiting_rooms/{room}/status`.
    Status(ZoneId, RoomId),
    /// `zones/{zone}/waiting_rooms/{room}/history`: what happened in it. Ours.
    History(ZoneId, RoomId),
    /// `zones/{zone}/waiting_rooms/{room}/trace/{reference}`: why a visitor waited. Ours.
    Trace(ZoneId, RoomId, Reference),
    /// `zones/{zone}/waiting_rooms/{room}/invitation_keys`: sign invitations to its groups. Ours.
    InvitationKeys(ZoneId, RoomId),
    /// `zones/{zone}/waiting_rooms/preview`.
    Preview(ZoneId),
    /// `zones/{zone}/waiting_rooms/settings`.
    Settings(ZoneId),
    /// `zones/{zone}/waiting_rooms/{room}/events`.
    Events(ZoneId, RoomId),
    /// `zones/{zone}/waiting_rooms/{room}/events/{event}`.
    Event(ZoneId, RoomId, EventId),
    /// `zones/{zone}/waiting_rooms/{room}/events/{event}/details`: with what the event inherits.
    EventDetails(ZoneId, RoomId, EventId),
    /// `zones/{zone}/waiting_rooms/{room}/rules`.
    Rules(ZoneId, RoomId),
    /// `zones/{zone}/waiting_rooms/{room}/rules/test`: would this request pass? Ours.
    RuleTrial(ZoneId, RoomId),
    /// `zones/{zone}/waiting_rooms/{room}/rules/{rule}`.
    Rule(ZoneId, RoomId, RuleId),
    /// `zones/{zone}/waiting_rooms/{room}/webhooks`: where its messages go. Ours.
    Webhooks(ZoneId, RoomId),
    /// `zones/{zone}/waiting_rooms/{room}/webhooks/{webhook}`. Ours.
    Webhook(ZoneId, RoomId, WebhookId),
    /// `zones/{zone}/waiting_rooms/{room}/webhooks/{webhook}/test`: sends it a message. Ours.
    WebhookTest(ZoneId, RoomId, WebhookId),
    /// `accounts/{account}/rules/lists`: the named lists that rules refer to.
    Lists,
    /// `accounts/{account}/rules/lists/{list}`.
    List(ListId),
    /// `accounts/{account}/rules/lists/{list}/items`.
    ListItems(ListId),
    /// `accounts/{account}/rules/lists/{list}/items/{item}`.
    ListItem(ListId, ListItemId),
    /// `accounts/{account}/rules/lists/bulk_operations/{operation}`.
    ListOperation(ListItemId),
    /// `zones`: the zones that there are.
    Zones,
    /// `zones/{zone}`.
    Zone(ZoneId),
    /// `accounts`: the one account.
    Accounts,
    /// `accounts/{account}`: the same, whichever is named.
    Account,
    /// `user`: whose token the request has.
    User,
    /// `user/tokens/verify`, `accounts/{account}/tokens/verify`: whether the request's token is
    /// valid, and what it allows.
    TokenVerify,
    /// `user/tokens`: the named tokens.
    Tokens,
    /// `user/tokens/{token}`.
    Token(TokenId),
    /// `user/tokens/{token}/value`: gives the token another value.
    TokenValue(TokenId),
    /// `waiting_rooms/file`: all rooms as `rooms.json` holds them. Ours.
    File,
    /// `waiting_rooms/audit_log`: who changed what. Ours.
    AuditLog,
    /// `waiting_rooms/doctor`: what an isolate measures about itself and the objects. Ours.
    Doctor,
}

/// The methods of the API, and what each does to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Reads.
    Get,
    /// Adds to a list.
    Post,
    /// Replaces as a whole.
    Put,
    /// Changes the fields that are given.
    Patch,
    /// Removes.
    Delete,
}

impl Method {
    /// Returns the method's name on the wire, like `GET`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether the method changes nothing.
    pub const fn reads(self) -> bool {
        matches!(self, Self::Get)
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "GET" | "HEAD" => Self::Get,
            "POST" => Self::Post,
            "PUT" => Self::Put,
            "PATCH" => Self::Patch,
            "DELETE" => Self::Delete,
            _ => return None,
        })
    }
}

/// Finds the operation of a method and the path below `client/v4/`. `HEAD` is the same as `GET`.
///
/// Errors: no such path (404), or no such method of it (405).
pub fn route(method: &str, path: &str) -> Result<(Target, Method), Failure> {
    let target = target(path)?;
    let allowed = target.methods();
    let found = Method::parse(method).filter(|method| allowed.contains(method));
    found.map(|method| (target, method)).ok_or_else(|| {
        let names: Vec<_> = allowed.iter().map(|method| method.name()).collect();
        Failure::method(method, &names.join(", "))
    })
}

impl Target {
    fn methods(self) -> &'static [Method] {
        use Method::{Delete, Get, Patch, Post, Put};
        match self {
            Self::AccountRooms
            | Self::Status(..)
            | Self::History(..)
            | Self::Trace(..)
            | Self::InvitationKeys(..)
            | Self::EventDetails(..)
            | Self::ListItem(..)
            | Self::ListOperation(_)
            | Self::Zones
            | Self::Zone(_)
            | Self::Accounts
            | Self::Account
            | Self::User
            | Self::TokenVerify
            | Self::AuditLog
            | Self::Doctor => &[Get],
            Self::List(_) | Self::Token(_) => &[Get, Put, Delete],
            Self::TokenValue(_) => &[Put],
            Self::ListItems(_) => &[Get, Post, Put, Delete],
            Self::Rooms(_) => &[Get, Post, Delete],
            Self::Events(..) | Self::Webhooks(..) | Self::Lists | Self::Tokens => &[Get, Post],
            Self::Room(..) | Self::Event(..) => &[Get, Put, Patch, Delete],
            Self::Webhook(..) => &[Get, Patch, Delete],
            Self::Preview(_) | Self::RuleTrial(..) | Self::WebhookTest(..) => &[Post],
            Self::Settings(_) => &[Get, Put, Patch],
            Self::Rules(..) => &[Get, Post, Put],
            Self::Rule(..) => &[Patch, Delete],
            Self::File => &[Get, Put],
        }
    }
}

fn target(path: &str) -> Result<Target, Failure> {
    let token = |id: &str| id.parse().map_err(|_| Failure::not_found("token"));
    let segments: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    match segments.as_slice() {
        ["zones"] => Ok(Target::Zones),
        ["zones", zone] => Ok(Target::Zone(zone.parse().map_err(|_| Failure::no_route())?)),
        ["accounts"] => Ok(Target::Accounts),
        ["accounts", account] if !account.is_empty() => Ok(Target::Account),
        ["accounts", account, "tokens", "verify"] if !account.is_empty() => Ok(Target::TokenVerify),
        ["user"] => Ok(Target::User),
        // This stands where the id of a token would: it comes first.
        ["user", "tokens", "verify"] => Ok(Target::TokenVerify),
        ["user", "tokens"] => Ok(Target::Tokens),
        ["user", "tokens", id] => Ok(Target::Token(token(id)?)),
        ["user", "tokens", id, "value"] => Ok(Target::TokenValue(token(id)?)),
        ["waiting_rooms", "file"] => Ok(Target::File),
        ["waiting_rooms", "audit_log"] => Ok(Target::AuditLog),
        ["waiting_rooms", "doctor"] => Ok(Target::Doctor),
        ["accounts", account, "waiting_rooms"] if !account.is_empty() => Ok(Target::AccountRooms),
        ["accounts", account, "rules", "lists", rest @ ..] if !account.is_empty() => lists(rest),
        ["zones", zone, "waiting_rooms", rest @ ..] => {
            of_zone(zone.parse().map_err(|_| Failure::no_route())?, rest)
        }
        _ => Err(Failure::no_route()),
    }
}

fn lists(path: &[&str]) -> Result<Target, Failure> {
    let list = |id: &str| id.parse().map_err(|_| Failure::not_found("list"));
    let item = |id: &str| id.parse().map_err(|_| Failure::not_found("item"));
    match path {
        [] => Ok(Target::Lists),
        // This stands where the id of a list would: it comes first.
        ["bulk_operations", id] => Ok(Target::ListOperation(item(id)?)),
        [id] => Ok(Target::List(list(id)?)),
        [id, "items"] => Ok(Target::ListItems(list(id)?)),
        [id, "items", of] => Ok(Target::ListItem(list(id)?, item(of)?)),
        _ => Err(Failure::no_route()),
    }
}

fn of_zone(zone: ZoneId, path: &[&str]) -> Result<Target, Failure> {
    let (room, rest) = match path {
        [] => return Ok(Target::Rooms(zone)),
        // These stand where the id of a room would: they come first.
        ["preview"] => return Ok(Target::Preview(zone)),
        ["settings"] => return Ok(Target::Settings(zone)),
        [room, rest @ ..] => (*room, rest),
    };
    let room = room.parse().map_err(|_| Failure::not_found("waiting room"));
    let event = |id: &str| id.parse().map_err(|_| Failure::not_found("event"));
    let rule = |id: &str| id.parse().map_err(|_| Failure::not_found("rule"));
    let webhook = |id: &str| id.parse().map_err(|_| Failure::not_found("webhook"));
    Ok(match rest {
        [] => Target::Room(zone, room?),
        ["status"] => Target::Status(zone, room?),
        ["history"] => Target::History(zone, room?),
        ["trace", reference] => {
            let reference = Reference::parse(reference).ok_or_else(unknown_reference)?;
            Target::Trace(zone, room?, reference)
        }
        ["invitation_keys"] => Target::InvitationKeys(zone, room?),
        ["events"] => Target::Events(zone, room?),
        ["events", id] => Target::Event(zone, room?, event(id)?),
        ["events", id, "details"] => Target::EventDetails(zone, room?, event(id)?),
        ["rules"] => Target::Rules(zone, room?),
        // This stands where the id of a rule would: it comes first.
        ["rules", "test"] => Target::RuleTrial(zone, room?),
        ["rules", id] => Target::Rule(zone, room?, rule(id)?),
        ["webhooks"] => Target::Webhooks(zone, room?),
        ["webhooks", id] => Target::Webhook(zone, room?, webhook(id)?),
        ["webhooks", id, "test"] => Target::WebhookTest(zone, room?, webhook(id)?),
        _ => return Err(Failure::no_route()),
    })
}

#[cfg(test)]
mod tests {
    use super::{Method, Reference, Target, route};
    use crate::base::id::VisitorId;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn the_24_operations_those_of_lists_and_ours_are_routed() {
        let (zone, room) = (ID.parse().unwrap(), ID.parse().unwrap());
        let (event, rule) = (ID.parse().unwrap(), ID.parse().unwrap());
        let webhook = ID.parse().unwrap();
        let traced = Reference::of(VisitorId(7));
        let rooms = format!("zones/{ID}/waiting_rooms");
        let (lists, list, item) =
            ("accounts/any/rules/lists", ID.parse().unwrap(), ID.parse().unwrap());
        let lists = lists.to_owned();
        let cases = [
            ("accounts/any/waiting_rooms".to_owned(), Target::AccountRooms, "GET"),
            (rooms.clone(), Target::Rooms(zone), "GET POST DELETE"),
            (format!("{rooms}/preview"), Target::Preview(zone), "POST"),
            (format!("{rooms}/settings"), Target::Settings(zone), "GET PUT PATCH"),
            (format!("{rooms}/{ID}"), Target::Room(zone, room), "GET PUT PATCH DELETE"),
            (format!("{rooms}/{ID}/status"), Target::Status(zone, room), "GET"),
            (format!("{rooms}/{ID}/history"), Target::History(zone, room), "GET"),
            (format!("{rooms}/{ID}/trace/avb2v14bbv"), Target::Trace(zone, room, traced), "GET"),
            (format!("{rooms}/{ID}/invitation_keys"), Target::InvitationKeys(zone, room), "GET"),
            (format!("{rooms}/{ID}/events"), Target::Events(zone, room), "GET POST"),
            (
                format!("{rooms}/{ID}/events/{ID}"),
                Target::Event(zone, room, event),
                "GET PUT PATCH DELETE",
            ),
            (
                format!("{rooms}/{ID}/events/{ID}/details"),
                Target::EventDetails(zone, room, event),
                "GET",
            ),
            (format!("{rooms}/{ID}/rules"), Target::Rules(zone, room), "GET POST PUT"),
            (format!("{rooms}/{ID}/rules/test"), Target::RuleTrial(zone, room), "POST"),
            (format!("{rooms}/{ID}/rules/{ID}"), Target::Rule(zone, room, rule), "PATCH DELETE"),
            (format!("{rooms}/{ID}/webhooks"), Target::Webhooks(zone, room), "GET POST"),
            (
                format!("{rooms}/{ID}/webhooks/{ID}"),
                Target::Webhook(zone, room, webhook),
                "GET PATCH DELETE",
            ),
            (
                format!("{rooms}/{ID}/webhooks/{ID}/test"),
                Target::WebhookTest(zone, room, webhook),
                "POST",
            ),
            (lists.clone(), Target::Lists, "GET POST"),
            (format!("{lists}/{ID}"), Target::List(list), "GET PUT DELETE"),
            (format!("{lists}/{ID}/items"), Target::ListItems(list), "GET POST PUT DELETE"),
            (format!("{lists}/{ID}/items/{ID}"), Target::ListItem(list, item), "GET"),
            (format!("{lists}/bulk_operations/{ID}"), Target::ListOperation(item), "GET"),
            ("waiting_rooms/file".to_owned(), Target::File, "GET PUT"),
            ("waiting_rooms/audit_log".to_owned(), Target::AuditLog, "GET"),
            ("waiting_rooms/doctor".to_owned(), Target::Doctor, "GET"),
        ];
        let mut operations = 0;
        for (path, target, allowed) in cases {
            for name in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
                let routed = route(name, &path).ok();
                let want = allowed.split(' ').any(|method| method == name);
                assert_eq!(routed.map(|(target, _)| target), want.then_some(target), "{path}");
                operations += usize::from(want);
            }
            let refused = route("OPTIONS", &path).unwrap_err();
            assert_eq!(
                (refused.status, refused.allow),
                (405, allowed.replace(' ', ", ")),
                "{path}"
            );
        }
        assert_eq!(operations, 24 + 11 + 6 + 6 + 1 + 1 + 1);
        assert_eq!(route("HEAD", &rooms).unwrap().1, Method::Get);
    }

    #[test]
    fn look_ups_are_routed_and_read_alone() {
        let zone = format!("zones/{ID}");
        let cases = [
            ("zones", Target::Zones),
            (zone.as_str(), Target::Zone(ID.parse().unwrap())),
            ("accounts", Target::Accounts),
            ("accounts/any", Target::Account),
            ("accounts/any/tokens/verify", Target::TokenVerify),
            ("user", Target::User),
        ];
        for (path, target) in cases {
            assert_eq!(route("GET", path).ok(), Some((target, Method::Get)), "{path}");
            assert_eq!(route("POST", path).unwrap_err().status, 405, "{path}");
        }
    }

    #[test]
    fn tokens_are_routed_beside_their_verification() {
        let (token, value) = (format!("user/tokens/{ID}"), format!("user/tokens/{ID}/value"));
        let cases = [
            ("user/tokens/verify", Target::TokenVerify, "GET"),
            ("user/tokens", Target::Tokens, "GET POST"),
            (token.as_str(), Target::Token(ID.parse().unwrap()), "GET PUT DELETE"),
            (value.as_str(), Target::TokenValue(ID.parse().unwrap()), "PUT"),
        ];
        for (path, target, allowed) in cases {
            for name in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
                let routed = route(name, path).ok().map(|(target, _)| target);
                let want = allowed.split(' ').any(|method| method == name);
                assert_eq!(routed, want.then_some(target), "{name} {path}");
            }
        }
    }

    #[test]
    fn what_is_not_there_says_what_is_missing() {
        let check = |path: &str, code: u32| {
            let failure = route("GET", path).unwrap_err();
            assert_eq!((failure.status, failure.errors[0].code), (404, code), "{path}");
        };
        check("", 7_003);
        check("zones/abc", 7_003);
        check("zones/abc/waiting_rooms", 7_003);
        check(&format!("zones/{ID}/waiting_rooms/{ID}/queue"), 7_003);
        check(&format!("zones/{ID}/waiting_rooms/shop"), 1_001);
        check(&format!("zones/{ID}/waiting_rooms/{ID}/events/sale"), 1_001);
        check(&format!("zones/{ID}/waiting_rooms/{ID}/rules/1"), 1_001);
        check(&format!("zones/{ID}/waiting_rooms/{ID}/trace/AVB2V"), 1_001);
        check(&format!("zones/{ID}/waiting_rooms/{ID}/webhooks/1"), 1_001);
        check("accounts//waiting_rooms", 7_003);
    }
}
