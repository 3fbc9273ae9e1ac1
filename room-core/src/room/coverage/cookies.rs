//! Where the cookie of a room goes: the host or domain, and the path.

use std::collections::BTreeMap;

use super::reading::{WidestReading, folded_key};
use crate::base::id::RoomId;
use crate::base::sorted::{SortedMap, SortedSet};
use crate::room::Room;
use crate::ticket::cookie::is_cookie_path;

/// Returns the beginning of `asked` that is the path `canonical` in a spelling of its own, if it is
/// one that can be told to a browser.
pub(super) fn beginning_like<'a>(asked: &'a str, canonical: &str) -> Option<&'a str> {
    let mut slashes = asked.match_indices('/').map(|(place, _)| place).chain([asked.len()]);
    let beginning = asked.get(..slashes.nth(canonical.matches('/').count())?)?;
    let read = WidestReading::of(beginning).joined();
    (folded_key(&read) == folded_key(canonical) && is_cookie_path(beginning)).then_some(beginning)
}

/// Returns the domain of each cookie that goes to several hosts. No other room's cookie has its
/// name, so that none overwrites another one.
pub(super) fn cookie_domains(rooms: &[Room]) -> SortedMap<RoomId, String> {
    let mut named = SortedMap::<&str, usize>::new();
    for room in rooms {
        *named.get_or_default(&room.cookie_name) += 1;
    }
    let is_alone = |room: &&Room| named.get(room.cookie_name.as_str()) == Some(&1);
    let domain = |room: &Room| {
        let mut hosts = room.routes.iter().map(|route| route.host.as_str());
        let shortest = hosts.clone().min_by_key(|host| host.len())?;
        let is_below = |host: &str| {
            host.strip_suffix(shortest)
                .is_some_and(|above| above.is_empty() || above.ends_with('.'))
        };
        // Browsers take no cookie for a whole top-level domain, and none for `localhost`.
        let is_one = shortest.contains('.')
            && !room.strip_cookie
            && hosts.clone().any(|host| host != shortest);
        (is_one && hosts.all(is_below)).then(|| (room.id, shortest.to_owned()))
    };
    rooms.iter().filter(is_alone).filter_map(domain).collect()
}

/// Returns the `Path` of each cookie that another room of the same host would otherwise overwrite,
/// by the paths of the host.
pub(super) fn cookie_paths(
    by_path: &BTreeMap<&str, usize>,
    rooms: &[Room],
) -> SortedMap<usize, String> {
    let mut paths = SortedMap::<usize, Vec<&str>>::new();
    let mut rooms_by_cookie = SortedMap::<&str, SortedSet<usize>>::new();
    for (path, place) in by_path {
        paths.get_or_default(*place).push(path);
        if let Some(room) = rooms.get(*place) {
            rooms_by_cookie.get_or_default(&room.cookie_name).insert(*place);
        }
    }
    let contested = rooms_by_cookie
        .into_iter()
        .map(|(_, places)| places)
        .filter(|places| places.len() > 1)
        .flatten();
    contested
        .filter_map(|place| match paths.get(&place)?.as_slice() {
            [path] if !path.is_empty() => Some((place, (*path).to_owned())),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::management::config::parse_rooms;
    use crate::room::coverage::Coverage;
    use crate::room::coverage::tests::coverage;
    use crate::ticket::cookie::CookieScope;

    #[test]
    fn rooms_of_one_host_do_not_overwrite_each_others_cookie() {
        let check = |places: &[&str], url: &str, want: &str| {
            let coverage = coverage(places);
            let room = coverage.lookup(url).unwrap().expect("a room").id;
            let want = CookieScope { path: want, domain: None };
            assert_eq!(coverage.cookie_scope(url, room), want, "{url} of {places:?}");
        };
        check(&["a.example/shop"], "https://a.example/shop/x", "/");
        check(&["a.example/shop", "b.example/"], "https://a.example/shop", "/");
        let both = ["a.example/", "a.example/shop"];
        check(&both, "https://a.example/", "/");
        check(&both, "https://A.example/shop/x", "/shop");
        check(&both, "https://a.example/SHOP/x", "/SHOP");
        check(&both, "https://a.example/%73hop/x", "/%73hop");
        check(&both, "https://a.example/./shop/x", "/shop");
        check(&both, "https://a.example/shop;a=b/x", "/shop");
        let other = ["a.example/", "a.example/käse", "a.example/sale@home/a+b"];
        check(&other, "https://a.example/k%c3%a4se", "/k%c3%a4se");
        check(&other, "https://a.example/sale@home/a+b/c", "/sale@home/a+b");
        check(&other, "https://a.example/sale%40home/a+b;c", "/sale@home/a+b");
    }

    #[test]
    fn whoever_is_inside_on_one_host_of_a_room_is_so_on_those_below() {
        let check = |hosts: &[&str], suffixes: [&str; 2], want: Option<&str>| {
            let routes = hosts.iter().skip(1).map(|host| json!({ "host": host }));
            let room = json!({
                "id": format!("{:032x}", 1), "zone_id": "0123456789abcdef0123456789abcdef",
                "name": "shop", "host": hosts[0], "additional_routes": routes.collect::<Value>(),
                "cookie_suffix": suffixes[0], "strip_cookie": suffixes[0] == "hidden",
                "total_active_users": 1, "new_users_per_minute": 1,
            });
            let mut other = room.clone();
            let fields = [
                ("id", json!(format!("{:032x}", 2))),
                ("name", json!("other")),
                ("host", json!("other.example")),
                ("additional_routes", json!([])),
                ("cookie_suffix", json!(suffixes[1])),
            ];
            for (name, value) in fields {
                other[name] = value;
            }
            let rooms = parse_rooms(&json!([room, other]).to_string()).expect("valid rooms");
            let coverage = Coverage::new(rooms.into());
            let scope =
                |place: usize| coverage.cookie_scope("https://a.net/", coverage.rooms()[place].id);
            assert_eq!(scope(0), CookieScope { path: "/", domain: want }, "{hosts:?}");
            assert_eq!(scope(1).domain, None);
            let dotted = coverage.cookie_scope("https://www.a.net./", coverage.rooms()[0].id);
            assert_eq!(dotted.domain, None);
        };
        let own = ["shop", "other"];
        check(&["a.net"], own, None);
        check(&["a.net", "www.a.net"], own, Some("a.net"));
        check(&["www.a.net", "A.net", "b.www.a.net"], own, Some("a.net"));
        check(&["www.a.net", "tickets.a.net"], own, None);
        check(&["a.net", "ba.net"], own, None);
        check(&["a.net", "www.a.net", "b.example"], own, None);
        check(&["localhost", "a.localhost"], own, None);
        check(&["a.net", "www.a.net"], ["same", "same"], None);
        check(&["a.net", "www.a.net"], ["hidden", "other"], None);
    }
}
