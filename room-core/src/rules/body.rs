//! The part of a request's body that rules can read: its beginning, and the kind of file that its
//! first bytes announce.

/// The most bytes of a body that rules can read: Cloudflare's limit for its largest plan.
pub const BODY_BYTES_MAX: usize = 128 * 1_024;
/// The number of bytes by which a text is told from a file of unknown kind.
pub(super) const SNIFFED_BYTES: usize = 512;

/// What is known of the body of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Body<'r> {
    /// The body, or a beginning of it that is longer than [`BODY_BYTES_MAX`].
    Read(&'r [u8]),
    /// It did not come in time, or was cut off.
    Unreadable,
    /// Nobody has tried to read it.
    #[default]
    Unread,
}

impl<'r> Body<'r> {
    /// Returns the bytes that rules see.
    pub(super) fn bytes(self) -> &'r [u8] {
        match self {
            Self::Read(bytes) => bytes.get(..BODY_BYTES_MAX).unwrap_or(bytes),
            Self::Unreadable | Self::Unread => &[],
        }
    }

    /// Whether there is more of it than rules see.
    pub(super) fn is_truncated(self) -> bool {
        matches!(self, Self::Read(bytes) if bytes.len() > BODY_BYTES_MAX)
    }
}

/// Returns the media type that the first bytes announce. `None` for an empty body, or one of
/// unknown kind.
pub(super) fn media_type(body: &[u8]) -> Option<&'static str> {
    let begins_with = |(at, bytes, _): &&(usize, &[u8], &str)| {
        body.get(*at..).is_some_and(|rest| rest.starts_with(bytes))
    };
    let known = SIGNATURES.iter().find(begins_with).map(|(_, _, name)| *name);
    known.or_else(|| text_type(body))
}

fn text_type(body: &[u8]) -> Option<&'static str> {
    let text = body.trim_ascii_start();
    let opens_with =
        |tag: &[u8]| text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    let is_control = |byte: &u8| *byte < b' ' && !byte.is_ascii_whitespace();
    match text.first()? {
        b'{' | b'[' => Some("application/json"),
        b'<' if opens_with(b"<?xml") => Some("text/xml"),
        b'<' if opens_with(b"<!doctype html") || opens_with(b"<html") => Some("text/html"),
        _ if text.iter().take(SNIFFED_BYTES).any(is_control) => None,
        _ => Some("text/plain"),
    }
}

/// The first bytes of files of a type, and how many other bytes precede them. The first entry that
/// fits counts.
const SIGNATURES: [(usize, &[u8], &str); 17] = [
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftypavif", "image/avif"),
    (0, b"II*\0", "image/tiff"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"OggS", "audio/ogg"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AVI ", "video/avi"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b\x08", "application/gzip"),
    (0, b"MZ\x90\0", "application/x-msdownload"),
];

#[cfg(test)]
mod tests {
    use super::{BODY_BYTES_MAX, Body, media_type};

    #[test]
    fn a_long_body_is_cut_and_says_so() {
        let check = |length: usize, want: (usize, bool)| {
            let body = vec![b'x'; length];
            let body = Body::Read(&body);
            assert_eq!((body.bytes().len(), body.is_truncated()), want);
        };
        check(0, (0, false));
        check(BODY_BYTES_MAX, (BODY_BYTES_MAX, false));
        check(BODY_BYTES_MAX + 1, (BODY_BYTES_MAX, true));
    }

    #[test]
    fn the_first_bytes_tell_the_type() {
        let check = |body: &[u8], want: Option<&str>| assert_eq!(media_type(body), want);
        check(b"", None);
        check(b" \r\n", None);
        check(b"\x89PNG\r\n\x1a\n\0\0", Some("image/png"));
        check(b"\xff\xd8\xff\xe0", Some("image/jpeg"));
        check(b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp"));
        check(b"\0\0\0\x20ftypisom", Some("video/mp4"));
        check(b"\0\0\0\x20ftypavif", Some("image/avif"));
        check(b"%PDF-1.7", Some("application/pdf"));
        check(b"PK\x03\x04", Some("application/zip"));
        check(b" {\"a\": 1}", Some("application/json"));
        check(b"[1]", Some("application/json"));
        check(b"<?xml version=\"1.0\"?>", Some("text/xml"));
        check(b"\n<!DOCTYPE html><p>", Some("text/html"));
        check(b"a=1&b=%20", Some("text/plain"));
        check("Grüße".as_bytes(), Some("text/plain"));
        check(b"a\0b", None);
    }
}
