//! Finds the room that covers a URL, by host and path alone. Query, extension and headers do not
//! matter.

mod cookies;
mod reading;
mod served_alike;

use std::collections::BTreeMap;
use std::rc::Rc;

use self::cookies::{beginning_like, cookie_domains, cookie_paths};
use self::reading::{WidestReading, exact_key, folded_key, is_plain};
pub use self::served_alike::served_alike;
use crate::base::id::RoomId;
use crate::base::letter_case::folded;
use crate::base::sorted::SortedMap;
use crate::base::url::{UrlParts, authority, lower_case, split_url};
use crate::room::Room;
use crate::room::route::Route;
use crate::ticket::cookie::CookieScope;

/// The longest ambiguous path that is examined, in bytes. It bounds the work that a request can
/// cause. The platform takes addresses of 16 KB.
const MAX_AMBIGUOUS_PATH_BYTES: usize = 16 * 1_024;
/// The same if names have control characters or decomposed letters in them, for which the work
/// grows with the square.
const MAX_BROKEN_PATH_BYTES: usize = 1_024;

/// All rooms, to be found by URL and by id.
#[derive(Debug, Default)]
pub struct Coverage {
    rooms: Rc<[Room]>,
    /// The routes of each host, in lower case. A tree, because a vector of 1,000 names takes 1.6
    /// times as long to search as one of 20.
    by_host: BTreeMap<String, HostRoutes>,
    by_id: SortedMap<RoomId, usize>,
    /// The domain of the cookie of each room on several hosts.
    cookie_domains: SortedMap<RoomId, String>,
}

/// The routes of one host. A number is the index of a room in `Coverage::rooms`.
#[derive(Debug, Default)]
struct HostRoutes {
    /// The paths that count in any letter case.
    by_path: BTreeMap<String, usize>,
    /// The paths that count only in their own letter case: those of rooms that want that, and the
    /// second of two paths that differ by the case alone.
    by_exact_path: BTreeMap<String, usize>,
    /// The largest number of segments of these paths. Nothing deeper need be looked up.
    deepest: usize,
    /// The `Path` of the cookie of each room whose cookie another room of this host would otherwise
    /// overwrite.
    cookie_paths: SortedMap<usize, String>,
}

/// The error for a path that can be read in two ways which lead to different rooms, or that is
/// ambiguous and too long to examine.
///
/// Such a path has `..` segments, separators in a parameter (`/shop;/../sale`), or a name that may
/// be no part of the path (`//shop/sale`). With such a path a visitor whom one room has admitted
/// could enter another room, so the request is refused (400). The links of a site rarely lead to
/// such paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContradictoryPath;

impl Coverage {
    /// Makes the index of `rooms`. If two have the same id or route, the first one gets it.
    pub fn new(rooms: Rc<[Room]>) -> Self {
        let mut by_host = BTreeMap::<String, HostRoutes>::new();
        let mut by_id = SortedMap::new();
        for (place, room) in rooms.iter().enumerate() {
            by_id.get_or_insert_with(room.id, || place);
            for Route { host, path } in &room.routes {
                let routes = by_host.entry(host.as_str().to_owned()).or_default();
                routes.add(place, path.canonical(), room.case_sensitive_path);
                routes.deepest = routes.deepest.max(path.depth());
            }
        }
        let mut spelled = BTreeMap::<&str, BTreeMap<&str, usize>>::new();
        for (place, room) in rooms.iter().enumerate() {
            for Route { host, path } in &room.routes {
                if by_host.get(host.as_str()).is_some_and(HostRoutes::has_several) {
                    let paths = spelled.entry(host.as_str()).or_default();
                    paths.entry(path.canonical()).or_insert(place);
                }
            }
        }
        for (host, paths) in spelled {
            if let Some(routes) = by_host.get_mut(host) {
                routes.cookie_paths = cookie_paths(&paths, &rooms);
            }
        }
        let cookie_domains = cookie_domains(&rooms);
        Self { rooms, by_host, by_id, cookie_domains }
    }

    /// Finds the room that covers the absolute `url`, suspended or not. Of several, it is the one
    /// with the longest path.
    pub fn lookup(&self, url: &str) -> Result<Option<&Room>, ContradictoryPath> {
        let Some(UrlParts { host, path, .. }) = split_url(url) else {
            return Ok(None);
        };
        let Some(routes) = self.by_host.get(&*lower_case(host)) else {
            return Ok(None);
        };
        let place = if is_plain(path) {
            routes.longest(path).map(|(_, place)| place)
        } else {
            routes.possible(path)?
        };
        Ok(place.and_then(|place| self.rooms.get(place)))
    }

    /// Whether a room, suspended or not, is on the host of `url`.
    pub fn has_host(&self, url: &str) -> bool {
        split_url(url).is_some_and(|parts| self.by_host.contains_key(&*lower_case(parts.host)))
    }

    /// Returns the scope of the cookie of a room on the host of `url`.
    ///
    /// It is the host alone, unless all hosts of the room are at or below one of them. Then it is
    /// that one and all below it, so that a visitor who is inside on one host is so on all. A room
    /// that hides its cookie from the site does not send it to hosts that it does not cover.
    ///
    /// Its path is usually `/`. If another room of this host has a cookie of the same name and this
    /// room has a single path here, it is that path. So neither overwrites the other's ticket. It
    /// is spelled as in `url`, since browsers compare the spelling.
    pub fn cookie_scope<'a>(&'a self, url: &'a str, room: RoomId) -> CookieScope<'a> {
        // A host with a final dot is below no domain without one.
        let ends_with_dot = split_url(url).zip(authority(url)).is_some_and(|(parts, written)| {
            written.split_once(parts.host).is_some_and(|(_, rest)| rest.starts_with('.'))
        });
        let domain = self.cookie_domains.get(&room).filter(|_| !ends_with_dot);
        let domain = domain.map(String::as_str);
        CookieScope { path: self.cookie_path(url, room), domain }
    }

    fn cookie_path<'a>(&'a self, url: &'a str, room: RoomId) -> &'a str {
        let own = || {
            let parts = split_url(url)?;
            let routes = self.by_host.get(&*lower_case(parts.host))?;
            let path = routes.cookie_paths.get(self.by_id.get(&room)?)?;
            Some(beginning_like(parts.path, path).unwrap_or(path))
        };
        own().unwrap_or("/")
    }

    /// Finds the room with this id.
    pub fn room(&self, id: RoomId) -> Option<&Room> {
        self.by_id.get(&id).and_then(|place| self.rooms.get(*place))
    }

    /// Returns all rooms, in the order in which they were given.
    pub fn rooms(&self) -> &[Room] {
        &self.rooms
    }
}

impl HostRoutes {
    /// Whether two rooms could have the same cookie.
    fn has_several(&self) -> bool {
        self.by_path.len() + self.by_exact_path.len() > 1
    }

    fn add(&mut self, place: usize, canonical: &str, is_exact: bool) {
        let key = folded_key(canonical);
        if is_exact || self.by_path.contains_key(&key) {
            self.by_exact_path.entry(exact_key(canonical)).or_insert(place);
        } else {
            self.by_path.insert(key, place);
        }
    }

    /// Finds the longest route that contains `path`. Returns its number of segments and its room.
    fn longest(&self, path: &str) -> Option<(usize, usize)> {
        let folded = self.longest_in(&self.by_path, &folded(path));
        let exact = self.longest_in(&self.by_exact_path, path);
        // Of two with as many segments the exact one.
        let is_exact = exact.map(|(depth, _)| depth) >= folded.map(|(depth, _)| depth);
        if is_exact { exact } else { folded }
    }

    /// Finds the longest route in one of the maps. Also returns its number of segments.
    fn longest_in(&self, paths: &BTreeMap<String, usize>, path: &str) -> Option<(usize, usize)> {
        if paths.is_empty() {
            return None;
        }
        let segment_ends = path
            .bytes()
            .enumerate()
            .filter(|(_, byte)| *byte == b'/')
            .map(|(position, _)| position)
            .chain([path.len()])
            .take(self.deepest.saturating_add(1));
        let room = |end| path.get(..end).and_then(|prefix| paths.get(prefix)).copied();
        segment_ends.map(room).enumerate().filter_map(|(depth, room)| Some((depth, room?))).last()
    }

    /// Finds the room of a path that servers may read in several ways.
    fn possible(&self, path: &str) -> Result<Option<usize>, ContradictoryPath> {
        let reading = WidestReading::of(path);
        if !reading.is_ambiguous() && !self.may_be_put_together(path, &reading) {
            return self.whole_or_rest(&reading);
        }
        let is_long = path.len() > MAX_BROKEN_PATH_BYTES && reading.is_broken()
            || path.len() > MAX_AMBIGUOUS_PATH_BYTES;
        if is_long {
            return self.only_room().map(Some).ok_or(ContradictoryPath);
        }
        let reach = reading.reach();
        let folded = self.by_path.iter().filter(|(key, _)| reach.includes(key));
        let exact = self.by_exact_path.iter().filter(|(key, _)| reach.includes(&folded_key(key)));
        let mut rooms = folded.chain(exact).map(|(_, place)| *place);
        let first = rooms.next();
        let all_one = rooms.all(|place| Some(place) == first);
        if all_one { Ok(first) } else { Err(ContradictoryPath) }
    }

    /// Finds the room of a path whose segments are clear, where a server may take a rest of it for
    /// the whole. A room for the whole host gives way: it is asked by all who are asked by another.
    fn whole_or_rest(&self, reading: &WidestReading) -> Result<Option<usize>, ContradictoryPath> {
        let whole = self.longest(&reading.joined());
        let rests = reading.rests(self.deepest);
        let parts = rests.iter().filter_map(|rest| self.longest(rest));
        let mut rooms = whole.into_iter().chain(parts).filter(|(depth, _)| *depth > 0);
        let Some((_, first)) = rooms.next() else { return Ok(whole.map(|(_, place)| place)) };
        if rooms.all(|(_, place)| place == first) {
            Ok(Some(first))
        } else {
            Err(ContradictoryPath)
        }
    }

    /// Returns the room of all paths here, if there is just one: it decides what is too long to
    /// examine.
    fn only_room(&self) -> Option<usize> {
        let mut rooms = self.by_path.values().chain(self.by_exact_path.values()).copied();
        let first = rooms.next()?;
        rooms.all(|room| room == first).then_some(first)
    }

    /// Whether the path has a decomposed letter that may belong to a room's path.
    /// One that is too long to examine may.
    fn may_be_put_together(&self, path: &str, reading: &WidestReading) -> bool {
        if !reading.is_in_parts() {
            return false;
        }
        let keys = self.by_path.keys().chain(self.by_exact_path.keys());
        let mut composed = keys.filter(|key| !key.is_ascii()).peekable();
        if composed.peek().is_none() || path.len() > MAX_BROKEN_PATH_BYTES {
            return composed.peek().is_some();
        }
        let reach = reading.reach();
        composed.any(|key| reach.includes(&folded_key(key)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ContradictoryPath, Coverage};
    use crate::management::config::parse_rooms;

    /// The coverage of one room for each place (host and path), named after it.
    pub(super) fn coverage(places: &[&str]) -> Coverage {
        let room = |(index, place): (usize, &&str)| {
            let (host, path) = place.split_at(place.find('/').expect("a place has a path"));
            json!({
                "id": format!("{index:032x}"),
                "zone_id": "0123456789abcdef0123456789abcdef",
                "name": format!("room-{index}"),
                "description": place,
                "host": host,
                "path": path,
                "total_active_users": 1,
                "new_users_per_minute": 1,
            })
        };
        let rooms = places.iter().enumerate().map(room).collect::<Value>().to_string();
        Coverage::new(parse_rooms(&rooms).expect("valid rooms").into())
    }

    fn check(coverage: &Coverage, url: &str, want: Result<Option<&str>, ContradictoryPath>) {
        let room = coverage.lookup(url).map(|room| room.map(|room| &*room.description));
        assert_eq!(room, want, "{url}");
    }

    /// A picture by way of a signed address, which servers may read in several ways.
    #[test]
    fn a_path_that_is_too_long_to_examine_is_of_the_only_room_of_its_host() {
        let only = coverage(&["a.net/shop", "b.net/"]);
        let several = coverage(&["a.net/shop", "a.net/sale"]);
        let signed = |bytes: usize| {
            let (picture, key) = ("https%3A%2F%2Fb.example%2Fa.png", "x".repeat(bytes));
            format!("https://a.net/img/{picture}%3FCredential=A%2F{key}")
        };
        // Up to the bound it is examined: it cannot lead to a room.
        for bytes in [10, 2_000, 16_000] {
            check(&only, &signed(bytes), Ok(None));
            check(&several, &signed(bytes), Ok(None));
        }
        check(&only, &signed(17_000), Ok(Some("a.net/shop")));
        check(&several, &signed(17_000), Err(ContradictoryPath));
        let parts = format!("https://a.net{}", "/a%CC%88".repeat(200));
        check(&several, &parts, Ok(None));
        check(&coverage(&["a.net/käse", "a.net/sale"]), &parts, Err(ContradictoryPath));
        check(&coverage(&["a.net/käse"]), &parts, Ok(Some("a.net/käse")));
        let broken = format!("https://a.net/a;/../shop/{}", "%01a".repeat(300));
        check(&only, &broken, Ok(Some("a.net/shop")));
        check(&several, &broken, Err(ContradictoryPath));
    }

    #[test]
    fn the_longest_path_of_whole_segments_wins() {
        let coverage = coverage(&["a.net/", "a.net/shop", "a.net/shop/buy/now", "b.net/Shop/"]);
        let check = |url: &str, want: &str| {
            check(&coverage, url, Ok((!want.is_empty()).then_some(want)));
        };
        check("https://a.net", "a.net/");
        check("https://a.net/", "a.net/");
        check("https://a.net?x", "a.net/");
        check("https://a.net/shopping", "a.net/");
        check("https://a.net/Shop", "a.net/shop");
        check("https://a.net/shop", "a.net/shop");
        check("https://a.net/shop/", "a.net/shop");
        check("https://a.net/shop/buy/no", "a.net/shop");
        check("https://a.net/shop/buy/now", "a.net/shop/buy/now");
        check("https://a.net/shop/buy/now/x/y/z.css", "a.net/shop/buy/now");
        check("https://a.net/?u=/shop", "a.net/");
        check("https://a.net/shop#/buy/now", "a.net/shop");
        check("http://A.NET.:8080/shop", "a.net/shop");
        check("http://user@a.net/shop", "a.net/shop");
        check("http://b.net/Shop/x", "b.net/Shop/");
        check("http://b.net/Shop", "b.net/Shop/");
        check("http://b.net/shop", "b.net/Shop/");
        check("http://b.net/", "");
        check("http://c.a.net/", "");
        check("http://a.net.evil/", "");
        check("a.net/shop", "");
    }

    #[test]
    fn other_spellings_of_a_covered_path_are_covered() {
        let coverage = coverage(&["a.net/shop/buy", "a.net/other"]);
        let check = |path: &str| {
            check(&coverage, &format!("http://a.net{path}"), Ok(Some("a.net/shop/buy")));
        };
        check("//shop//buy");
        check("/shop/buy/x.css");
        check("/%73hop/%62uy");
        check("/shop%2fbuy");
        check("/shop%2Fbuy%3fx");
        check("/shop%252fbuy");
        check("/shop%25252fbuy");
        check("/shop%u002fbuy");
        check("/shop%c0%afbuy");
        check("/SHOP/bUy");
        check("/S%48op/buy.");
        check("/shop/buy%20");
        check("/shop./buy");
        check("/%2573hop/buy");
        check("/shop\\buy");
        check("\\shop/buy");
        check("/shop%5cbuy");
        check("/./shop/./buy");
        check("/shop;id=1/buy;x");
        check("/x/../shop/buy");
        check("/x/%2e%2e/shop/y/..%2fbuy");
        check("/shop/..;/shop/buy");
        check("/shop/buy/../../elsewhere");
        check("/shop/x/%252e%252e/buy");
        for end in ["%0a", "%0D%0a", "%09", "%0b", "%0c", "%00", "%7f", "%C2%A0", "%ff", "%", "%85"]
        {
            check(&format!("/shop/buy{end}"));
            check(&format!("/shop{end}/buy{end}/x"));
            check(&format!("/x/..{end}/shop/buy"));
        }
        check("/%20shop/%c2%a0buy");
        check("/%0ashop/buy%0a.css");
        check("/x/.%00./shop/buy");
        check("/s%09hop/bu%ffy");
        check("/%C5%BFhop/buy");
        check("//x/shop/buy");
        check("/%5cuser@x:80/shop/buy");
        check("/http://x/shop/buy");
        check("/(S(a))/shop/(A(b)F(c))/buy");
    }

    #[test]
    fn a_path_whose_first_name_may_be_a_host_is_refused_between_two_rooms() {
        let coverage = coverage(&["a.net/news", "a.net/shop", "b.net/", "b.net/news"]);
        check(&coverage, "http://a.net//news/shop", Err(ContradictoryPath));
        check(&coverage, "http://a.net//x/shop", Ok(Some("a.net/shop")));
        check(&coverage, "http://a.net//news/x", Ok(Some("a.net/news")));
        check(&coverage, "http://a.net//x/img", Ok(None));
        check(&coverage, "http://b.net//news", Err(ContradictoryPath));
        check(&coverage, "http://b.net//x", Ok(Some("b.net/")));
    }

    #[test]
    fn a_rest_that_may_be_the_whole_path_is_covered() {
        let coverage = coverage(&["a.net/news", "a.net/shop/buy", "b.net/", "b.net/shop"]);
        let check = |url: &str, want| check(&coverage, &format!("http://{url}"), want);
        for path in ["/x//shop/buy", "/x/y//shop/buy/z", "/x/%2fshop/buy", "/x///y/shop/buy"] {
            check(&format!("a.net{path}"), Ok(Some("a.net/shop/buy")));
        }
        check("a.net/x/shop/buy", Ok(None));
        check("a.net/x//shop", Ok(None));
        check("a.net/news//shop/buy", Err(ContradictoryPath));
        check("a.net/news//shop", Ok(Some("a.net/news")));
        check("b.net/x//shop", Ok(Some("b.net/shop")));
        check("b.net/shop//x", Ok(Some("b.net/shop")));
    }

    #[test]
    fn a_letter_in_parts_is_taken_for_the_letter() {
        let coverage = coverage(&["a.net/k%C3%A4se", "a.net/shop"]);
        let check = |path: &str, want: Result<Option<&str>, ContradictoryPath>| {
            check(&coverage, &format!("http://a.net{path}"), want);
        };
        check("/ka%CC%88se", Ok(Some("a.net/k%C3%A4se")));
        check("/KA%cc%88SE/x", Ok(Some("a.net/k%C3%A4se")));
        check("/shop/cafe%CC%81", Ok(Some("a.net/shop")));
        check("/cafe%CC%81", Ok(None));
        check("/shop/ka%CC%88se", Err(ContradictoryPath));
    }

    #[test]
    fn a_room_covers_its_own_path_whatever_is_in_it() {
        for path in ["/a%E2%80%A8b", "/a%20b", "/a.", "/...", "/‥", "/a¥b", "/%C4%B0ı", "/ſK"]
        {
            let place = format!("a.net{path}");
            let coverage = coverage(&[&place]);
            check(&coverage, &format!("http://{place}"), Ok(Some(&place)));
            check(&coverage, &format!("http://{place}/x%0a"), Ok(Some(&place)));
        }
    }

    #[test]
    fn a_path_that_may_climb_into_another_room_is_refused() {
        let coverage = coverage(&["a.net/", "a.net/blog", "b.net/shop"]);
        check(&coverage, "http://a.net/blog/..%2fbuy", Err(ContradictoryPath));
        check(&coverage, "http://a.net/blog/../buy", Err(ContradictoryPath));
        check(&coverage, "http://a.net/x/../buy", Ok(Some("a.net/")));
        check(&coverage, "http://b.net/x/../img", Ok(None));
        check(&coverage, "http://b.net/shop/../img", Ok(Some("b.net/shop")));
        let url = |bytes: usize| format!("http://a.net/x/{}/..", "x".repeat(bytes - 6));
        check(&coverage, &url(16 * 1_024), Ok(Some("a.net/")));
        check(&coverage, &url(16 * 1_024 + 1), Err(ContradictoryPath));
        check(&coverage, &url(16 * 1_024 + 1).replace("a.net", "c.net"), Ok(None));
    }

    #[test]
    fn rooms_are_found_by_id() {
        let coverage = coverage(&["a.net/", "b.net/"]);
        let id = coverage.rooms()[1].id;
        assert_eq!(coverage.room(id).map(|room| &*room.description), Some("b.net/"));
        assert_eq!(coverage.room("f".repeat(32).parse().unwrap()), None);
    }
}
