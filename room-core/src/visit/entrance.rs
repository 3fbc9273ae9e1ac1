//! Finds which room decides a request, if any, from the request alone and before any ticket.

use super::request::RequestHead;
use crate::base::host::Host;
use crate::base::id::{RoomId, ZoneId};
use crate::base::sorted::SortedMap;
use crate::base::url::{lower_case, split_url};
use crate::keys::public_values::is_local;
use crate::room::bypass::{self, Bypass};
use crate::room::coverage::{ContradictoryPath, Coverage};
use crate::room::zone_settings::ZoneSettings;
use crate::rules::{Lists, RequestSource};

/// The part of the configuration that says which requests a room decides.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Finds the room that covers a URL.
    pub coverage: &'a Coverage,
    /// The named lists to which bypass rules refer.
    pub lists: &'a Lists,
    /// The settings of the zones that differ from the default.
    pub zone_settings: &'a SortedMap<ZoneId, ZoneSettings>,
    /// The hosts that reach the origin without a room; no other host does. `None` if every host
    /// does, since the platform sends only those of the owner here.
    pub open_hosts: Option<&'a [Host]>,
    /// Whether the keys are the public ones of local development, with which anybody can make
    /// tickets. No visit to another host is then decided.
    pub only_local: bool,
    /// Whether the registry, or a copy of its answer, was read. Until then it may hold more rooms.
    pub is_known: bool,
}

impl Site<'_> {
    fn uncovered(&self, url: &str) -> Entrance {
        let is_open = |hosts: &[Host]| {
            let host = split_url(url).map(|url| lower_case(url.host));
            let is_named = |open: &Host| host.as_deref() == Some(open.as_str());
            self.coverage.has_host(url) || hosts.iter().any(is_named)
        };
        if self.open_hosts.is_none_or(is_open) { Entrance::Uncovered } else { Entrance::Unlisted }
    }

    /// Returns where the visitor of an unlisted host is sent: to the same address on the host with
    /// or without `www.`, if that one has a room. It has no scheme: the browser keeps its own,
    /// which a proxy may not have told.
    pub fn counterpart(&self, url: &str) -> Option<String> {
        let host = split_url(url)?.host;
        let other = match host.get(..4) {
            Some(www) if www.eq_ignore_ascii_case("www.") => host.get(4..)?.to_owned(),
            _ => format!("www.{host}"),
        };
        let (scheme, rest) = url.split_once("://")?;
        let address = format!("//{}", rest.replacen(host, &other, 1));
        self.coverage.has_host(&format!("{scheme}:{address}")).then_some(address)
    }
}

/// Who decides a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entrance {
    /// The origin answers, and gets the request untouched: no room covers it.
    Uncovered,
    /// The origin answers: the request bypasses its room.
    Pass {
        /// Whether the answer may order the end of the visitor's session.
        heeds_commands: bool,
    },
    /// The origin answers a CORS preflight, which is passed on without cookies.
    Preflight,
    /// Nobody answers: the host has no room and is not named as open, but leads to the origin.
    Unlisted,
    /// It is not known yet, since the registry may hold a room that covers this URL. The request
    /// does not pass as uncovered, so that a silent registry opens nothing; `ON_FAILURE` decides.
    /// The same counts if the keys are public and the host is not local.
    Undecided,
    /// Servers may read this path as belonging to more than one room, so none may admit it.
    Contradictory,
    /// More of the request must be read, for a rule or to recognize a CORS preflight. Then ask
    /// again.
    ReadRequest,
    /// The room that decides the request.
    Room(RoomId),
}

/// Finds who decides a request: no room, one room, or nobody until more is known.
pub fn enter(site: Site<'_>, head: RequestHead<'_>, source: &dyn RequestSource) -> Entrance {
    if site.only_local && !split_url(source.url()).is_some_and(|url| is_local(url.host)) {
        return Entrance::Undecided;
    }
    let room = match site.coverage.lookup(source.url()) {
        Ok(Some(room)) if !room.suspended => room,
        Ok(_) if site.is_known => return site.uncovered(source.url()),
        Ok(_) => return Entrance::Undecided,
        Err(ContradictoryPath) => return Entrance::Contradictory,
    };
    let zone = site.zone_settings.get(&room.zone_id).copied().unwrap_or_default();
    match bypass::decide(room, zone, site.lists, source) {
        Bypass::Skips => Entrance::Pass { heeds_commands: room.origin_may_revoke },
        Bypass::Unknown => Entrance::ReadRequest,
        Bypass::Stays if head.is_preflight_unknown() => Entrance::ReadRequest,
        Bypass::Stays if head.is_preflight() => Entrance::Preflight,
        Bypass::Stays => Entrance::Room(room.id),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::request::RequestHead;
    use super::{Entrance, Site, enter};
    use crate::base::id::RoomId;
    use crate::base::sorted::SortedMap;
    use crate::base::time::Timestamp;
    use crate::management::config::parse_rooms;
    use crate::room::bypass::FirstGlance;
    use crate::room::coverage::Coverage;
    use crate::rules::Lists;

    const SHOP: RoomId = RoomId::from_bytes([1; 16]);

    fn coverage() -> Coverage {
        let room = |number: u8, host: &str, path: &str, suspended: bool| {
            json!({
                "id": RoomId::from_bytes([number; 16]).to_string(),
                "zone_id": "0123456789abcdef0123456789abcdef",
                "name": format!("room-{number}"), "host": host, "path": path,
                "suspended": suspended, "total_active_users": 900, "new_users_per_minute": 300,
            })
        };
        let rooms = json!([
            room(1, "shop.example", "/", false),
            room(2, "shop.example", "/sale", false),
            room(3, "idle.example", "/", true),
        ]);
        Coverage::new(parse_rooms(&rooms.to_string()).expect("valid rooms").into())
    }

    fn entered(
        coverage: &Coverage,
        (is_known, only_local): (bool, bool),
        url: &str,
        head: RequestHead<'_>,
    ) -> Entrance {
        let (lists, zone_settings) = (Lists::new(), SortedMap::new());
        let site = Site {
            coverage,
            lists: &lists,
            zone_settings: &zone_settings,
            open_hosts: None,
            only_local,
            is_known,
        };
        let glance =
            FirstGlance { url, method: head.method, cookie: "", now: Timestamp::default() };
        enter(site, head, &glance)
    }

    #[test]
    fn with_public_keys_only_local_hosts_are_decided() {
        let coverage = coverage();
        let get = RequestHead { method: "GET", ..RequestHead::default() };
        let check = |url: &str, want: Entrance| {
            assert_eq!(entered(&coverage, (true, true), url, get), want, "{url}");
        };
        check("https://shop.example/", Entrance::Undecided);
        check("https://other.example/", Entrance::Undecided);
        check("http://localhost:8787/", Entrance::Uncovered);
        check("nothing", Entrance::Undecided);
    }

    #[test]
    fn only_what_a_room_covers_is_decided_by_it() {
        let coverage = coverage();
        let check = |is_known: bool, url: &str, head: RequestHead<'_>, want: Entrance| {
            assert_eq!(entered(&coverage, (is_known, false), url, head), want, "{url} {head:?}");
        };
        let get = RequestHead { method: "GET", ..RequestHead::default() };
        let options = |is_preflight| RequestHead {
            method: "OPTIONS",
            is_preflight,
            ..RequestHead::default()
        };
        let shop = "https://shop.example/";
        check(true, shop, get, Entrance::Room(SHOP));
        // What is covered for certain is decided before the registry's first word, too.
        check(false, shop, get, Entrance::Room(SHOP));
        for url in ["https://other.example/", "https://idle.example/"] {
            check(true, url, get, Entrance::Uncovered);
            check(false, url, get, Entrance::Undecided);
        }
        check(true, "https://shop.example/sale/a;/../..", get, Entrance::Contradictory);
        check(true, shop, options(None), Entrance::ReadRequest);
        check(true, shop, options(Some(true)), Entrance::Preflight);
        check(true, shop, options(Some(false)), Entrance::Room(SHOP));
    }

    /// Of the hosts that lead to the origin only those with a room and those named pass.
    #[test]
    fn a_host_without_a_room_passes_only_if_it_is_named() {
        let coverage = coverage();
        let (lists, zone_settings) = (Lists::new(), SortedMap::new());
        let open = ["img.shop.example".parse().expect("a host")];
        let site = Site {
            coverage: &coverage,
            lists: &lists,
            zone_settings: &zone_settings,
            open_hosts: Some(&open),
            only_local: false,
            is_known: true,
        };
        let check = |url: &str, want: Entrance, elsewhere: Option<&str>| {
            let head = RequestHead { method: "GET", ..RequestHead::default() };
            let glance = FirstGlance { url, method: "GET", cookie: "", now: Timestamp::default() };
            assert_eq!(enter(site, head, &glance), want, "{url}");
            assert_eq!(site.counterpart(url).as_deref(), elsewhere, "{url}");
        };
        check("https://idle.example/", Entrance::Uncovered, None);
        check("https://IMG.shop.example:8443/a", Entrance::Uncovered, None);
        check("https://img.shop.example.evil.example/", Entrance::Unlisted, None);
        check("https://a.shop.example/", Entrance::Unlisted, None);
        check("https://a.img.shop.example/", Entrance::Unlisted, None);
        check("https://elsewhere.example/?shop.example", Entrance::Unlisted, None);
        let at_shop = Some("//shop.example:8443/a?b=www.shop.example");
        check("https://www.shop.example:8443/a?b=www.shop.example", Entrance::Unlisted, at_shop);
        check("https://WWW.shop.example/", Entrance::Unlisted, Some("//shop.example/"));
        check("https://www.www.shop.example/", Entrance::Unlisted, None);
    }
}
