//! All readings of a request's path by the servers behind a room.

use std::collections::BTreeMap;

use percent_encoding::percent_decode;

use crate::base::letter_case::folded;
use crate::base::path::{is_blank, is_break, is_end, is_scheme, is_separator, is_session};

/// The most times that a path is decoded. A chain of servers decodes once or twice. A path that is
/// still encoded after this belongs to no room, see [`WidestReading::of`].
const DECODINGS: usize = 8;

/// Whether every server reads `path` in the same way, apart from the letter case, so that it can be
/// compared as written.
///
/// False for some harmless paths too (`/.well-known`, `/a%20b`). For them a [`WidestReading`] finds
/// the same room, only slower.
pub fn is_plain(path: &str) -> bool {
    let mut previous = 0;
    let is_plain = path.bytes().all(|byte| {
        let before = previous;
        previous = byte;
        match byte {
            b'%' | b'\\' | b';' | 0..=b' ' | 0x7f.. => false,
            b'/' => !matches!(before, b'/' | b'.' | b':'),
            b'(' | b'.' => before != b'/',
            _ => true,
        }
    });
    is_plain && path.starts_with('/') && previous != b'.'
}

/// The segments of a path in its widest reading.
///
/// The widest reading decodes until nothing is encoded, including `%u002f` and letters in more
/// bytes than they need. It leaves out what is no encoding and no UTF-8. Every slash and backslash
/// is a separator, also an encoded one. It drops empty and `.` segments. It ends a segment before a
/// parameter (`;`) and an encoded query or fragment. It drops blanks at the ends of a segment and
/// dots at its end.
///
/// The path of a room has none of these (`RoutePath`; blanks and dots at an end are dropped there
/// too). So any narrower reading that begins with the segments of a room begins with them in the
/// widest reading too: one lookup is enough, unless the path is ambiguous.
#[derive(Debug, PartialEq, Eq)]
pub struct WidestReading {
    /// The decoded path, with other separators and endings still in it.
    decoded: String,
    /// Whether the reading is unclear. That is so if a parameter has separators in it, since a
    /// server that drops the parameter may drop segments with it. It is so if a control character
    /// or an end of a line is in the path, and not only at its end. It is so if the path is encoded
    /// more often than is decoded here.
    unclear: bool,
}

impl WidestReading {
    /// Makes the widest reading of `path`.
    pub fn of(path: &str) -> Self {
        let mut decoded = String::with_capacity(path.len());
        let mut unclear = false;
        for written in path.split('/') {
            let mut segment = written.as_bytes().to_vec();
            let is_settled = (0..DECODINGS).any(|_| {
                let next = decode(&segment);
                let is_settled = next == segment;
                segment = next;
                is_settled
            });
            let segment = String::from_utf8_lossy(&segment);
            let segment: String = segment.chars().filter(|one| is_kept(*one)).collect();
            let mut from_end = segment.chars().skip_while(|one| !is_end(*one));
            unclear |= !is_settled || from_end.any(is_separator);
            decoded.push('/');
            decoded.push_str(&segment);
        }
        let before_end = decoded.trim_end_matches(|one| is_blank(one) || is_separator(one));
        unclear |= before_end.contains(is_break);
        Self { decoded, unclear }
    }

    /// Whether narrower readings can lead to entirely different places.
    pub fn is_ambiguous(&self) -> bool {
        self.unclear || self.begins_with_host() || self.segments().any(is_way_or_session)
    }

    /// Whether some servers take the first name for a host, as in `//host/path` and
    /// `/http://host/path`. A server in front may have dropped what is before the second separator:
    /// a dot, blanks, a parameter.
    fn begins_with_host(&self) -> bool {
        let mut names = self.written_names();
        match names.next() {
            Some("") => names.any(|name| !name.is_empty()),
            Some(first) => is_scheme(first),
            None => false,
        }
    }

    /// Returns what some servers may take for a whole path: the first `names_max` names of what
    /// follows an empty name, also without its first name, which may be a host. A server that cuts
    /// `/x/` off a path and resolves the rest serves `/checkout` for `/x//checkout`, and not for
    /// `/x/checkout`.
    pub fn rests(&self, names_max: usize) -> Vec<String> {
        let names: Vec<_> = self.written_names().collect();
        let begins = names.windows(2).enumerate().filter_map(|(place, pair)| match *pair {
            ["", name] if !name.is_empty() => Some(place.saturating_add(1)),
            _ => None,
        });
        let from = |place: usize| {
            let rest = names.get(place..).unwrap_or_default();
            let kept = rest.iter().filter(|name| !name.is_empty()).take(names_max);
            kept.fold(String::new(), |path, name| path + "/" + name)
        };
        begins.flat_map(|place| [from(place), from(place.saturating_add(1))]).collect()
    }

    /// Whether a letter is decomposed, that is, written in parts.
    pub fn is_in_parts(&self) -> bool {
        self.decoded.contains(is_part)
    }

    /// Whether a name has characters in it that servers read in several ways.
    pub fn is_broken(&self) -> bool {
        self.is_in_parts() || self.decoded.contains(is_break)
    }

    /// Returns the segments as one path, each with a slash before it.
    pub fn joined(&self) -> String {
        let mut path = String::with_capacity(self.decoded.len());
        for segment in self.segments() {
            path.push('/');
            path.push_str(segment);
        }
        path
    }

    /// Returns which routes some reading can lead to.
    ///
    /// A segment with control characters is read without them, up to each, and from one to the
    /// next. Some file systems compose decomposed letters. A segment with such a letter may be each
    /// name that has its ASCII letters in their order, and other letters as well.
    pub fn reach(&self) -> Reach {
        let mut places = BTreeMap::<String, Vec<usize>>::new();
        let mut in_parts = Vec::new();
        for (place, segment) in self.segments().enumerate() {
            if segment.contains(is_part) {
                in_parts.push((place, folded(segment).into_owned()));
            }
            let mut so_far = String::new();
            for piece in segment.split(is_break) {
                so_far.push_str(piece);
                for name in [piece, &so_far] {
                    let name = folded(without_ends(name)).into_owned();
                    let places = places.entry(name).or_default();
                    if places.last() != Some(&place) {
                        places.push(place);
                    }
                }
            }
        }
        Reach { places, in_parts }
    }

    /// Iterates over all names but `.`, empty ones among them.
    fn written_names(&self) -> impl Iterator<Item = &str> {
        // What is before the first separator is no name.
        let written = self.decoded.get(1..).unwrap_or_default();
        names(written).filter(|name| *name != ".").skip(1)
    }

    /// Iterates over the segments, `..` among them.
    fn segments(&self) -> impl Iterator<Item = &str> {
        names(&self.decoded).filter(|segment| !matches!(*segment, "" | "."))
    }
}

/// Iterates over the names between separators, empty ones and dots among them.
fn names(decoded: &str) -> impl Iterator<Item = &str> {
    decoded.split(is_separator).filter_map(|part| part.split(is_end).next()).map(without_ends)
}

/// The routes that some reading of a path can lead to.
#[derive(Debug)]
pub struct Reach {
    /// The positions of each segment in the path, by its folded name.
    places: BTreeMap<String, Vec<usize>>,
    /// The positions of segments with a decomposed letter, and these segments.
    in_parts: Vec<(usize, String)>,
}

impl Reach {
    /// Whether some reading can lead to the route with this key, or below it.
    ///
    /// A chain of servers may decode, drop parameters and follow `..` in any order. What is left is
    /// some of the segments in their order. So a route can be reached only if its segments occur in
    /// their order.
    pub fn includes(&self, key: &str) -> bool {
        let mut next = 0;
        key.split('/').skip(1).all(|wanted| {
            let places = self.places.get(wanted).map_or(&[][..], Vec::as_slice);
            let by_name = places.get(places.partition_point(|place| *place < next)).copied();
            let is_same = |(place, segment): &&(usize, String)| {
                *place >= next && may_be_put_together(segment, wanted)
            };
            let in_parts = self.in_parts.iter().find(is_same).map(|(place, _)| *place);
            let found = by_name.into_iter().chain(in_parts).min();
            next = found.map_or(next, |place| place.saturating_add(1));
            found.is_some()
        })
    }
}

/// Returns the key by which a route's path is found in any letter case.
pub fn folded_key(canonical: &str) -> String {
    folded(&exact_key(canonical)).into_owned()
}

/// Returns the key by which a route's path is found only in its own letter case.
pub fn exact_key(canonical: &str) -> String {
    let mut key = String::with_capacity(canonical.len());
    for segment in canonical.split('/').skip(1) {
        key.push('/');
        let is_named = |one: &char| is_kept(*one) && !is_break(*one);
        let kept: String = segment.chars().filter(is_named).collect();
        key.push_str(without_ends(&kept));
    }
    key
}

/// Whether some servers take the segment out of the path, alone or with the one before it.
fn is_way_or_session(segment: &str) -> bool {
    climbs(segment) || is_session(segment)
}

/// Drops the blanks at the ends of a name and the dots at its end, as some servers and file systems
/// do. A name of nothing else keeps its dots.
fn without_ends(name: &str) -> &str {
    let name = name.trim_matches(is_blank);
    match name.trim_end_matches(|one| one == '.' || is_blank(one)) {
        "" => name,
        bare => bare,
    }
}

/// Whether some server goes up for a segment that is neither empty nor `.`. That is one of nothing
/// but dots, with blanks between them or several dots in one character.
fn climbs(segment: &str) -> bool {
    let is_dot = |one| matches!(one, '.' | '。' | '\u{2024}'..='\u{2026}');
    segment.chars().all(|one| is_dot(one) || is_blank(one))
}

/// Whether the character is a part of a letter that can also be composed: `é` as `e` and an accent,
/// and the like in Arabic, Devanagari, Korean and Japanese.
fn is_part(character: char) -> bool {
    matches!(
        character,
        '\u{300}'..='\u{36f}' | '\u{653}'..='\u{655}' | '\u{93c}'
            | '\u{1100}'..='\u{11ff}' | '\u{3099}' | '\u{309a}'
    )
}

/// Whether a name with decomposed letters may be this one, which is not ASCII.
fn may_be_put_together(in_parts: &str, name: &str) -> bool {
    let mut letters = in_parts.chars();
    let is_next = |one: char| !one.is_ascii() || letters.any(|letter| letter == one);
    !name.is_ascii() && name.chars().all(is_next)
}

/// Whether a lenient decoder keeps the character: not a `%` that encodes nothing, and not a
/// replacement for bytes that are no UTF-8.
fn is_kept(character: char) -> bool {
    !matches!(character, '%' | char::REPLACEMENT_CHARACTER)
}

/// Decodes once: `%2f`, the `%u002f` of some servers, and ASCII in more bytes of UTF-8 than it
/// needs.
fn decode(encoded: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let Some((first, others)) = rest.split_first() {
        if let Some((character, others)) = wide_escape(rest) {
            let mut bytes = [0; 4];
            decoded.extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
            rest = others;
        } else {
            decoded.push(*first);
            rest = others;
        }
    }
    let bytes: Vec<u8> = percent_decode(&decoded).collect();
    shortest(&bytes)
}

/// Reads `%u` and four digits, and returns what follows them.
fn wide_escape(text: &[u8]) -> Option<(char, &[u8])> {
    let (digits, others) = match text {
        [b'%', b'u' | b'U', rest @ ..] => rest.split_at_checked(4)?,
        _ => return None,
    };
    let number = str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    Some((char::from_u32(u32::from_str_radix(number, 16).ok()?)?, others))
}

/// Writes ASCII that takes several bytes as one byte. These are overlong forms, which strict
/// decoders refuse, and the wide letters U+FF01 to U+FF5E, which some servers take for plain ones.
fn shortest(bytes: &[u8]) -> Vec<u8> {
    let mut short = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, others)) = rest.split_first() {
        let (code, others) = match *rest {
            [0xc0..=0xc1, b, ref others @ ..] => (low(*first) << 6 | low(b), others),
            [0xe0, b, c, ref others @ ..] | [0xf0, 0x80, b, c, ref others @ ..] => {
                (low(b) << 6 | low(c), others)
            }
            [0xef, b @ 0xbc..=0xbd, c, ref others @ ..] => {
                ((low(b) << 6 | low(c)).wrapping_sub(0xf00).wrapping_add(0x20), others)
            }
            _ => (u32::MAX, others),
        };
        if let Some(byte) = u8::try_from(code).ok().filter(u8::is_ascii) {
            short.push(byte);
            rest = others;
        } else {
            short.push(*first);
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    short
}

/// The six bits of a byte of UTF-8 that belong to its character.
fn low(byte: u8) -> u32 {
    u32::from(byte & 0x3f)
}

#[cfg(test)]
mod tests {
    use super::{WidestReading, folded_key, is_plain};

    #[test]
    fn only_paths_with_one_reading_are_plain() {
        let check = |path: &str, want: bool| assert_eq!(is_plain(path), want, "{path}");
        check("/", true);
        check("/shop/a.css", true);
        check("/shop/", true);
        check("/käse", false);
        check("/shop.", false);
        check("/shop./a", false);
        check("/SHOP", true);
        check("", false);
        check("shop", false);
        check("//", false);
        check("/a//b", false);
        check("/.", false);
        check("/a/../b", false);
        check("/.well-known", false);
        check("/a%62", false);
        check("/a\\b", false);
        check("/a;b", false);
        check("/a\0b", false);
        check("/a\u{7f}", false);
        check("/\tb", false);
        check("/(S(a))/b", false);
        check("/http:/a.net/b", false);
        check("/a(b)/a:b", true);
    }

    #[test]
    fn the_widest_reading_takes_every_separator_and_ending() {
        let check = |path: &str, want: &str| {
            let joined = WidestReading::of(path).joined();
            assert_eq!(joined, want, "{path}");
        };
        check("/", "");
        check("//shop///a/", "/shop/a");
        check("/./shop/.", "/shop");
        check("/%73hop", "/shop");
        check("/%2573hop", "/shop");
        check("/%252573hop", "/shop");
        check("/shop./a%20/b.%20.", "/shop/a/b");
        check("/.../a. .", "/.../a");
        check("/%u0073hop%u002fa", "/shop/a");
        check("/shop%c0%afa%c1%9cb", "/shop/a/b");
        check("/shop%e0%80%afa%f0%80%80%af", "/shop/a");
        check("/%EF%BD%93hop%EF%BC%8Fa", "/shop/a");
        check("/k%C3%A4se%E2%82%AC", "/käse€");
        check("/shop%2fa%5Cb\\c", "/shop/a/b/c");
        check("/shop%252fa", "/shop/a");
        check("/shop;id=1/a;b/;c", "/shop/a");
        check("/shop%3Bid", "/shop");
        check("/shop%3fa", "/shop");
        check("/shop%00", "/shop");
        check("/%20shop%0d%0a/", "/shop");
        check("/%E3%80%80shop/%C2%A0/a%EF%BB%BF", "/shop/a");
        check("/10%C2%A0km", "/10\u{a0}km");
        check("/%ffs%hop%", "/shop");
        check("/sh%C2%85op%20", "/sh\u{85}op");
        check("/a/..;x/%2e%2e/b", "/a/../../b");
    }

    #[test]
    fn paths_that_climb_or_hide_separators_in_parameters_are_ambiguous() {
        let check = |path: &str, want: bool| {
            assert_eq!(WidestReading::of(path).is_ambiguous(), want, "{path}");
        };
        check("/a/..", true);
        check("/a/.%252e/b", true);
        check("/a\\..", true);
        check("/a;%2f..", true);
        check("/a/..;x", true);
        check("/a;x%2fb", true);
        check("/a%3Bx%255cb", true);
        check("/a/..b/c...", false);
        check("/a/.../b", true);
        check("/a/.%20./b", true);
        check("/a/%E2%80%A5/b", true);
        check("/a/..%c2%a0/b", true);
        check("/a/%20../b", true);
        check("/a/.%00./b", true);
        check("/%0aa", true);
        check("/a%E2%80%A8b", true);
        check("/a%0a%09/", false);
        check("/a;x=1/b;y", false);
        check("/a%2fb;x", false);
        check("/a%3f/b", false);
        check("/a/.. /b", true);
        check("/a/%c0%ae%c0%ae/b", true);
        check("/%252525252525252525252525252541", true);
    }

    #[test]
    fn paths_whose_first_name_may_be_a_host_or_a_session_are_ambiguous() {
        for start in [
            "//", "///", "/\\", "\\\\", "/%2f", "/%255c", "/.//", "/;a/", "/%20/", "/%ff/", "/%3f/",
        ] {
            for path in ["x/shop", "x", "x;a/shop", "[::1]/shop", "user@x:80/shop"] {
                let path = format!("{start}{path}");
                assert!(WidestReading::of(&path).is_ambiguous(), "{path}");
            }
        }
        for path in ["/http://x/shop", "/http:/x/shop", "/(S(a))/shop", "/a/%28F(b)A(c)%29/b"] {
            assert!(WidestReading::of(path).is_ambiguous(), "{path}");
        }
        for path in
            ["/", "//", "/./", "/./x/shop", "\\x/shop", "/x//shop", "/x//", "/(shop)/a", "/a:b"]
        {
            assert!(!WidestReading::of(path).is_ambiguous(), "{path}");
        }
    }

    #[test]
    fn what_follows_an_empty_name_may_be_a_whole_path() {
        let check = |path: &str, want: &[&str]| {
            assert_eq!(WidestReading::of(path).rests(2), want, "{path}");
        };
        check("/", &[]);
        check("/x/shop", &[]);
        check("/x/./shop", &[]);
        check("/x//", &[]);
        check("/x//shop/a/b", &["/shop/a", "/a/b"]);
        check("/x/%2fshop", &["/shop", ""]);
        check("/x/.//;a/shop/", &["/shop", ""]);
        check("/x//y///shop", &["/y/shop", "/shop", "/shop", ""]);
        check("/x/http://y/shop", &["/y/shop", "/shop"]);
    }

    #[test]
    fn only_paths_whose_segments_occur_in_order_are_in_reach() {
        let check = |path: &str, canonical: &str, want: bool| {
            let key = folded_key(canonical);
            assert_eq!(WidestReading::of(path).reach().includes(&key), want, "{path} {canonical}");
        };
        check("/x/%2e%2e/shop", "/shop", true);
        check("/x/%2e%2e/shop", "", true);
        check("/x/%2e%2e/shopping", "/shop", false);
        check("/a/x/../b", "/a/b", true);
        check("/b/x/../a", "/a/b", false);
        check("/a/..", "/a/a", false);
        check("/A/../Shop.", "/shop", true);
        check("/x/../K%C3%84SE/%CE%91%D0%AF%D0%8F", "/käse/αяџ", true);
        check("/x/../%C3%97", "/%C3%B7", false);
        for path in ["/x/.%00./shop", "/%0ashop", "/sh%00op", "/shop%0a.css", "/x%0a/shop"] {
            check(path, "/shop", true);
        }
        check("/sh%01op%00.css", "/shop", true);
        check("/a%0d%0ashop", "/shop", true);
        check("/shop%0aa", "/shopping", false);
        check("/x/../%C5%81%C3%B3D%C5%B9", "/łódź", true);
        for path in ["/ka%CC%88se", "/x/KA%CC%88SE/a", "/ka\u{308}se", "/%EA%B0%80/ka%CC%88se"] {
            check(path, "/käse", true);
        }
        check("/shop/ka%CC%88se", "/shop/käse", true);
        check("/ka%CC%88se", "/shop/käse", false);
        check("/ka%CC%88se/shop", "/shop/käse", false);
        check("/ka%CC%88se", "/kase", false);
        check("/cafe%CC%81", "/käse", false);
        check("/%E1%84%80%E1%85%A1", "/가", true);
    }
}
