//! Warns the owner of a page whose parts the room covers. Waiting visitors would not get them.

use std::rc::Rc;

use crate::page::parts;
use crate::room::Room;
use crate::room::coverage::Coverage;

/// The most warnings for one page.
const WARNINGS_MAX: usize = 5;

/// Warns of each address that a page loads and its room covers; at most [`WARNINGS_MAX`] times.
pub fn covered_parts(room: &Room, page: Option<&str>) -> Vec<String> {
    let Some(page) = page else { return Vec::new() };
    let coverage = Coverage::new(Rc::from([room.clone()]));
    let is_covered = |address: &str| {
        let urls = room
            .routes
            .iter()
            .filter_map(|route| url(route.host.as_str(), route.path.canonical(), address));
        urls.into_iter().any(|url| !matches!(coverage.lookup(&url), Ok(None)))
    };
    let mut named: Vec<&str> = Vec::new();
    for address in parts::addresses(page) {
        if named.len() < WARNINGS_MAX && !named.contains(&address) && is_covered(address) {
            named.push(address);
        }
    }
    let warn = |address: &str| {
        format!(
            "custom_page_html loads {address}, which this room covers: visitors who wait do not \
             get it. Serve it from an address that no room covers, or write it as a data: address."
        )
    };
    named.into_iter().map(warn).collect()
}

/// Returns the whole address of a part of the page at this host and path. `None` if the part is not
/// loaded from a server, or if only the visitor's page knows its address.
fn url(host: &str, path: &str, address: &str) -> Option<String> {
    let has_scheme = address.split_once(':').is_some_and(|(scheme, _)| !scheme.contains('/'));
    if address.is_empty() || address.starts_with('#') || address.contains("{{") {
        return None;
    }
    if has_scheme {
        return address.contains("://").then(|| address.to_owned());
    }
    Some(if address.starts_with("//") {
        format!("https:{address}")
    } else if address.starts_with('/') {
        format!("https://{host}{address}")
    } else {
        format!("https://{host}{}/{address}", path.trim_end_matches('/'))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::covered_parts;
    use crate::management::config::parse_rooms;

    #[test]
    fn what_a_room_covers_is_named_and_nothing_else() {
        let check = |path: &str, page: &str, want: &[&str]| {
            let rooms = json!([{
                "id": "0123456789abcdef0123456789abcdef",
                "zone_id": "0123456789abcdef0123456789abcdef",
                "name": "shop", "host": "shop.example", "path": path,
                "total_active_users": 900, "new_users_per_minute": 300,
            }]);
            let rooms = parse_rooms(&rooms.to_string()).expect("valid rooms");
            let warnings = covered_parts(&rooms[0], Some(page));
            let named: Vec<&str> = warnings
                .iter()
                .filter_map(|one| one.strip_prefix("custom_page_html loads ")?.split(',').next())
                .collect();
            assert_eq!(named, want, "{path} {page}");
        };
        let picture = |address: &str| format!("<img src=\"{address}\">");
        for covered in ["/a.png", "a.png", "//shop.example/a.png", "https://shop.example/a.png?b=1"]
        {
            check("/", &picture(covered), &[covered]);
        }
        for free in [
            "https://cdn.example/a.png",
            "//cdn.example/a.png",
            "data:image/png;base64,QQ==",
            "{{pageLogo}}",
            "#a",
            "",
        ] {
            check("/", &picture(free), &[]);
        }
        check("/tickets", &picture("/static/a.png"), &[]);
        check("/tickets", &picture("/tickets/a.png"), &["/tickets/a.png"]);
        check("/", &(picture("/a.png") + &picture("/a.png")), &["/a.png"]);
        let many: String = (0..9).map(|at| picture(&format!("/{at}.png"))).collect();
        check("/", &many, &["/0.png", "/1.png", "/2.png", "/3.png", "/4.png"]);
    }
}
