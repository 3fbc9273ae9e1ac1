//! All the ways in which the servers behind a room may read the path of a request.

use percent_encoding::percent_decode;

/// How often a chain of servers may percent-decode a path: a proxy once, and the origin once.
const DECODINGS: usize = 2;

/// Whether every server reads `path` in the same way, so that it can be compared as it stands.
///
/// False for some harmless paths too (`/.well-known`, `/a%20b`): for them a [`WidestReading`] finds
/// the same room, only slower.
pub fn is_plain(path: &str) -> bool {
    let mut previous = 0;
    path.starts_with('/')
        && path.bytes().all(|byte| {
            let after_slash = previous == b'/';
            previous = byte;
            match byte {
                b'%' | b'\\' | b';' | 0 => false,
                b'/' | b'.' => !after_slash,
                _ => true,
            }
        })
}

/// The segments of a path in its widest reading.
///
/// The widest reading decodes twice, takes every slash and backslash for a separator, also encoded
/// ones, drops empty and `.` segments, and ends a segment before a parameter (`;`), an encoded
/// query or fragment and a zero byte. The path of a room has none of these (`RoutePath`), so any
/// narrower reading that begins with the segments of a room begins with them in the widest reading
/// too: one look is enough, unless the path is ambiguous.
#[derive(Debug, PartialEq, Eq)]
pub struct WidestReading {
    /// The decoded path, with other separators and endings still in it.
    decoded: Vec<u8>,
    /// True when a parameter has separators in it: a server that drops the parameter may drop
    /// segments with it.
    parameter_separates: bool,
}

impl WidestReading {
    /// Makes the widest reading of `path`.
    pub fn of(path: &str) -> Self {
        let mut decoded = Vec::with_capacity(path.len());
        let mut parameter_separates = false;
        for written in path.split('/') {
            let decode = |text: Vec<u8>, _round| percent_decode(&text).collect();
            let segment = (0..DECODINGS).fold(written.as_bytes().to_vec(), decode);
            let mut from_end = segment.iter().skip_while(|byte| !is_end(**byte));
            parameter_separates |= from_end.any(|byte| is_separator(*byte));
            decoded.push(b'/');
            decoded.extend(segment);
        }
        Self { decoded, parameter_separates }
    }

    /// Whether narrower readings can lead to quite different places.
    pub fn is_ambiguous(&self) -> bool {
        self.parameter_separates || self.segments().any(|segment| segment == b"..")
    }

    /// Returns the segments as one path, each with a slash before it.
    pub fn joined(&self) -> Vec<u8> {
        let mut path = Vec::with_capacity(self.decoded.len().saturating_add(1));
        for segment in self.segments() {
            path.push(b'/');
            path.extend_from_slice(segment);
        }
        path
    }

    /// Whether some reading can lead to the canonical path of a route, or below it.
    ///
    /// In whatever order a chain of servers decodes, drops parameters and follows `..`, what is
    /// left is some of these segments in their order. So a route can be reached only if its
    /// segments occur here in their order.
    pub fn may_reach(&self, canonical: &str) -> bool {
        let mut segments = self.segments();
        canonical
            .split('/')
            .skip(1)
            .all(|wanted| segments.any(|segment| segment == wanted.as_bytes()))
    }

    /// Iterates over the segments, `..` among them.
    fn segments(&self) -> impl Iterator<Item = &[u8]> {
        self.decoded
            .split(|byte| is_separator(*byte))
            .filter_map(|part| part.split(|byte| is_end(*byte)).next())
            .filter(|segment| !matches!(*segment, b"" | b"."))
    }
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

/// Whether some server takes this byte for the end of a segment's name.
fn is_end(byte: u8) -> bool {
    matches!(byte, b';' | b'?' | b'#' | 0)
}

#[cfg(test)]
mod tests {
    use super::{WidestReading, is_plain};

    #[test]
    fn only_paths_with_one_reading_are_plain() {
        let check = |path: &str, want: bool| assert_eq!(is_plain(path), want, "{path}");
        check("/", true);
        check("/shop/a.css", true);
        check("/shop/", true);
        check("/käse", true);
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
    }

    #[test]
    fn the_widest_reading_takes_every_separator_and_ending() {
        let check = |path: &str, want: &str| {
            let joined = WidestReading::of(path).joined();
            assert_eq!(String::from_utf8_lossy(&joined), want, "{path}");
        };
        check("/", "");
        check("//shop///a/", "/shop/a");
        check("/./shop/.", "/shop");
        check("/%73hop", "/shop");
        check("/%2573hop", "/shop");
        check("/%252573hop", "/%73hop");
        check("/shop%2fa%5Cb\\c", "/shop/a/b/c");
        check("/shop%252fa", "/shop/a");
        check("/shop;id=1/a;b/;c", "/shop/a");
        check("/shop%3Bid", "/shop");
        check("/shop%3fa", "/shop");
        check("/shop%00a", "/shop");
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
        check("/a/..b/...", false);
        check("/a;x=1/b;y", false);
        check("/a%2fb;x", false);
        check("/a%3f/b", false);
    }

    #[test]
    fn only_paths_whose_segments_occur_in_order_are_in_reach() {
        let check = |path: &str, canonical: &str, want: bool| {
            assert_eq!(WidestReading::of(path).may_reach(canonical), want, "{path} {canonical}");
        };
        check("/x/%2e%2e/shop", "/shop", true);
        check("/x/%2e%2e/shop", "", true);
        check("/x/%2e%2e/shopping", "/shop", false);
        check("/a/x/../b", "/a/b", true);
        check("/b/x/../a", "/a/b", false);
        check("/a/..", "/a/a", false);
    }
}
