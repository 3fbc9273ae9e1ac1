//! Laws of coverage: no spelling uncovers a path, no server is fooled into another room.

#![expect(clippy::expect_used, reason = "a test that cannot make its rooms must fail")]

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;
use room_core::base::url::split_url;
use room_core::management::config::parse_rooms;
use room_core::room::coverage::Coverage;
use serde_json::{Value, json};

/// One room for each path on `shop.net`, described by its path without a slash at the end.
fn coverage(paths: &[String]) -> Coverage {
    let room = |(index, path): (usize, &String)| {
        json!({
            "id": format!("{index:032x}"),
            "zone_id": "0123456789abcdef0123456789abcdef",
            "name": format!("room-{index}"),
            "description": path.trim_end_matches('/'),
            "host": "shop.net",
            "path": path,
            "total_active_users": 1,
            "new_users_per_minute": 1,
        })
    };
    let rooms = paths.iter().enumerate().map(room).collect::<Value>().to_string();
    Coverage::new(parse_rooms(&rooms).expect("valid rooms").into())
}

/// The description of the room that covers the path, `None` without one, or a refusal.
fn lookup(coverage: &Coverage, path: &str) -> Result<Option<String>, ()> {
    let room = coverage.lookup(&format!("https://shop.net{path}")).map_err(|_| ())?;
    Ok(room.map(|room| room.description.clone()))
}

/// A path of short segments, so that two of them are often the same or begin with each other.
fn plain_path(segments: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    vec("[abA][ab]{0,1}", segments).prop_map(|segments| format!("/{}", segments.join("/")))
}

/// For each character of a path: how it is written, and what stands before it if it is a slash.
fn spellings(
    before_slash: &'static [&'static str],
) -> impl Strategy<Value = Vec<(usize, &'static str)>> {
    vec((0..5_usize, select(before_slash)), 16)
}

/// `path` with each character in its spelling; the first slash begins the path and stays.
fn respell(path: &str, spellings: &[(usize, &str)]) -> String {
    let spell = |(index, (character, spelling)): (usize, (char, &(usize, &str)))| {
        let (encoding, before_slash) = *spelling;
        let code = u32::from(character);
        match (character, encoding) {
            ('/', _) if index == 0 => "/".to_owned(),
            ('/', _) => format!("{before_slash}/"),
            (_, 0) => format!("%{code:02x}"),
            (_, 1) => format!("%{code:02X}"),
            (_, 2) => format!("%25{code:02x}"),
            _ => character.to_string(),
        }
    };
    path.chars().zip(spellings).enumerate().map(spell).collect()
}

/// Nothing of these goes up.
const LEVEL: [&str; 8] = ["", "", "", "/.", "/%2e", "/./.", ";x=1", ";x=1/."];
/// Nor of these, but what follows an empty name may be a whole path.
const EMPTY: [&str; 8] = ["", "", "", "/", "/.", ";x=1", "//", "%2f"];
/// Some of these go down and up again.
const CANCELLING: [&str; 8] = ["", "", "", "/a/..", "/b/%2e%2E", "/x%2f..", "/./ab/.%2e", "/a;/.."];

proptest! {
    #[test]
    fn a_room_covers_its_own_path_and_everything_below(
        path in plain_path(1..4),
        below in plain_path(0..4),
    ) {
        let coverage = coverage(std::slice::from_ref(&path));
        assert_eq!(lookup(&coverage, &path), Ok(Some(path.clone())));
        assert_eq!(lookup(&coverage, &format!("{path}{below}?{below}")), Ok(Some(path.clone())));
        assert_eq!(lookup(&coverage, &format!("{path}b{below}")), Ok(None));
        assert_eq!(lookup(&coverage, &format!("/x{path}")), Ok(None));
    }

    #[test]
    fn spelling_a_path_otherwise_changes_nothing(
        rooms in plain_path(0..3),
        path in plain_path(0..5),
        spellings in spellings(&LEVEL),
    ) {
        let coverage = coverage(&[rooms]);
        let written = respell(&path, &spellings);
        assert_eq!(lookup(&coverage, &written), lookup(&coverage, &path), "{written}");
    }

    #[test]
    fn empty_names_uncover_nothing(
        room in plain_path(0..3),
        path in plain_path(0..5),
        spellings in spellings(&EMPTY),
    ) {
        let coverage = coverage(&[room]);
        let written = respell(&path, &spellings);
        let (plain, found) = (lookup(&coverage, &path), lookup(&coverage, &written));
        assert!(found == plain || plain == Ok(None) && found.is_ok(), "{written}: {found:?}");
    }

    #[test]
    fn dot_segments_that_cancel_do_not_uncover(
        room in plain_path(0..3),
        below in plain_path(0..3),
        spellings in spellings(&CANCELLING),
    ) {
        let coverage = coverage(std::slice::from_ref(&room));
        let written = respell(&format!("{}{below}", room.trim_end_matches('/')), &spellings);
        let want = Ok(Some(room.trim_end_matches('/').to_owned()));
        assert_eq!(lookup(&coverage, &written), want, "{written}");
    }

    #[test]
    fn no_text_panics(
        text in any::<String>(),
        host in "[a-z:@\\[\\].]{0,8}",
        path in hostile_path(),
    ) {
        let coverage = coverage(&["/".to_owned(), "/a".to_owned()]);
        let _ = coverage.lookup(&text);
        let _ = coverage.lookup(&format!("http://shop.net{text}"));
        let _ = coverage.lookup(&format!("http://{host}{path}"));
        let _ = split_url(&format!("http://{host}{text}"));
    }
}

/// One server of a chain between the visitor and the page.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a habit that servers have or not")]
struct Server {
    decodes: bool,
    decodes_slashes: bool,
    drops_empty_segments: bool,
    drops_parameters: bool,
    ends_at_query: bool,
    resolves_dots: bool,
    splits_at_backslash: bool,
    drops_controls: bool,
    ends_at_control: bool,
    trims_names: bool,
    drops_host: bool,
    cuts_first_name: bool,
}

impl Server {
    /// The path as this server passes it on.
    fn pass(&self, path: &str) -> String {
        let mut path = path.to_owned();
        if self.decodes {
            path = decode(&path, self.decodes_slashes);
        }
        if self.ends_at_query {
            path.truncate(path.find('?').unwrap_or(path.len()));
        }
        if self.drops_controls {
            path.retain(|one| !one.is_control());
        }
        if self.ends_at_control {
            path.truncate(path.find(char::is_control).unwrap_or(path.len()));
        }
        if self.splits_at_backslash {
            path = path.replace('\\', "/");
        }
        let mut kept = Vec::new();
        for segment in path.split('/').skip(1) {
            let bare = if self.drops_parameters {
                segment.split(';').next().unwrap_or_default()
            } else {
                segment
            };
            let bare = if self.trims_names { bare.trim_matches(is_blank) } else { bare };
            match bare {
                "" if self.drops_empty_segments => {}
                "." if self.resolves_dots => {}
                ".." if self.resolves_dots => drop(kept.pop()),
                _ => kept.push(bare),
            }
        }
        let path = format!("/{}", kept.join("/"));
        let rest = path.get(1..).and_then(|below| below.split_once('/')).map(|(_, rest)| rest);
        // Resolved against a base, a rest that begins with a slash is a path of its own.
        let own = rest.filter(|rest| self.cuts_first_name && rest.starts_with('/'));
        let path = own.map_or_else(|| path.clone(), str::to_owned);
        match path.strip_prefix("//") {
            Some(url) if self.drops_host => {
                let url = url.trim_start_matches('/');
                format!("/{}", url.split_once('/').map_or("", |(_, path)| path))
            }
            _ => path,
        }
    }
}

/// Whether some server trims it; the texts here have no other blanks.
fn is_blank(one: char) -> bool {
    one.is_control() || one == ' '
}

/// Decodes once; written apart from the product's decoder. The texts here are all ASCII.
fn decode(text: &str, slashes: bool) -> String {
    let mut parts = text.split('%');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if byte.is_ascii() && (slashes || byte != b'/') => {
                decoded.push(char::from(byte));
                decoded.push_str(&part[2..]);
            }
            _ => {
                decoded.push('%');
                decoded.push_str(part);
            }
        }
    }
    decoded
}

fn server(decodes: bool) -> impl Strategy<Value = Server> {
    let habits = (any::<[bool; 6]>(), any::<[bool; 5]>());
    habits.prop_map(move |([slashes, empty, parameters, query, dots, backslash], others)| {
        let [drops_controls, ends_at_control, trims_names, drops_host, cuts_first_name] = others;
        Server {
            decodes,
            decodes_slashes: slashes,
            drops_empty_segments: empty,
            drops_parameters: parameters,
            ends_at_query: query,
            resolves_dots: dots,
            splits_at_backslash: backslash,
            drops_controls,
            ends_at_control,
            trims_names,
            drops_host,
            cuts_first_name,
        }
    })
}

/// A chain that decodes twice at most.
fn servers() -> impl Strategy<Value = Vec<Server>> {
    (
        server(false),
        any::<[bool; 2]>().prop_flat_map(|[first, second]| (server(first), server(second))),
    )
        .prop_map(|(raw, (first, second))| vec![raw, first, second])
}

fn hostile_path() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("a".to_owned()),
        Just("b".to_owned()),
        select(vec![
            "/", "/", "/", "//", "\\", "%2f", "%5C", "%252F", "%255c", "..", "../", "/..", ".",
            "%2e", "%2E%2e", "%252e", "..;x", ";", "%3b", "%61", "%2561", "%", "x", "%3f", "%253F",
            "%0a", "%00", "%09", "%20", "%2500", "/.%00.", "..%0d", "%20..",
        ])
        .prop_map(str::to_owned),
    ];
    let start =
        select(vec!["/", "/", "//x/", "/.//a/", "/%2fb/", "/\\x/", "/x//", "/a//b/", "/x/%2f/"]);
    (start, vec(piece, 0..14)).prop_map(|(start, pieces)| format!("{start}{}", pieces.concat()))
}

/// The longest of `rooms` that covers the path which the last server serves.
fn served(rooms: &[String], path: &str) -> Option<String> {
    let bare = rooms.iter().map(|room| room.trim_end_matches('/'));
    bare.filter(|room| path == *room || path.starts_with(&format!("{room}/")))
        .max_by_key(|room| room.len())
        .map(str::to_owned)
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(4_096))]

    /// Whatever the servers behind make of a path: if they serve something covered, the visitor
    /// was asked; and, unless the path is a plain one below two rooms, by the room of that page.
    #[test]
    fn no_chain_of_servers_serves_a_room_that_was_not_asked(
        path in hostile_path(),
        servers in servers(),
        rooms in select(vec![vec!["/a/b"], vec!["/a/b", "/b"], vec!["/", "/a", "/a/b"]]),
    ) {
        let rooms = rooms.iter().map(|room| (*room).to_owned()).collect::<Vec<_>>();
        let reached = servers.iter().fold(path.clone(), |path, server| server.pass(&path));
        let decoded = decode(&decode(&path, true), true);
        let mut segments = decoded.split(['/', '\\']);
        let climbs = segments.any(|segment| {
            let name = segment.split([';', '?']).next().unwrap_or_default();
            name.replace(is_blank, "") == ".."
        });
        let answer = lookup(&coverage(&rooms), &path);
        if let (Some(served), Ok(asked)) = (served(&rooms, &reached), answer) {
            let deeper = !climbs && asked.as_ref().is_some_and(|asked| asked.starts_with(&served));
            assert!(deeper || asked == Some(served), "{path} was served as {reached}: {asked:?}");
        }
    }
}
