//! Which route of a room a server may serve for a path that the room does not cover.

use super::reading::{WidestReading, folded_key};
use crate::base::letter_case::folded;
use crate::base::path::is_blank;
use crate::base::url::split_url;
use crate::room::Room;
use crate::room::route::Route;

/// Returns the route of `room` whose page some servers serve for `url` too. The path of `url` goes
/// on within the name, after a character that often begins an ending. For `/shop` these are
/// `/shop.json`, `/shop.php/a` and `/shop::$DATA`, and not `/shopping` or `/shop-help`.
///
/// No room covers such a path, since most are other pages. It is for a warning to the owner.
pub fn served_alike<'r>(room: &'r Room, url: &str) -> Option<&'r Route> {
    let parts = split_url(url)?;
    let reading = WidestReading::of(parts.path).joined();
    let path = folded(&reading);
    let goes_on = |route: &&Route| {
        let rest = path.strip_prefix(&*folded_key(route.path.canonical()));
        let next = rest.and_then(|rest| rest.chars().next());
        let is_page = |one| matches!(one, '/' | '-' | '_');
        next.is_some_and(|one| is_blank(one) || (one.is_ascii_punctuation() && !is_page(one)))
    };
    let is_here = |route: &&Route| parts.host.eq_ignore_ascii_case(route.host.as_str());
    room.routes.iter().filter(is_here).find(goes_on)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::served_alike;
    use crate::management::config::parse_rooms;

    #[test]
    fn a_path_that_goes_on_within_the_name_may_be_the_same_page() {
        let rooms = json!([{
            "id": "0".repeat(32),
            "zone_id": "0".repeat(32),
            "name": "buy",
            "host": "a.net",
            "path": "/Shop/buy",
            "total_active_users": 1,
            "new_users_per_minute": 1,
        }]);
        let rooms = parse_rooms(&rooms.to_string()).expect("a valid room");
        let check = |url: &str, want: bool| {
            let route = served_alike(&rooms[0], url).map(|route| route.path.as_str());
            assert_eq!(route, want.then_some("/Shop/buy"), "{url}");
        };
        for end in [".json", ".php/a", "::$DATA", "%3a:$data", ",a", "~1", "&a=1", "%20a", "+"] {
            check(&format!("https://A.net/shop/%62uy{end}"), true);
        }
        for path in ["/shop", "/shop/buy", "/shop/buy/a.json", "/shop/buying", "/shop/buy-a", "/"] {
            check(&format!("https://a.net{path}"), false);
        }
        check("https://b.net/shop/buy.json", false);
        check("nothing", false);
    }
}
