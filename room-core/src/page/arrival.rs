//! How a waiting visitor's browser comes again: by the `Refresh` header, or by the script of the
//! built-in page, which stays and checks in by itself.

/// The header of a check-in that the script of the built-in page sends; its value is [`HIDDEN`]
/// where the page is.
pub const CHECK_IN_HEADER: &str = "waiting-room-check-in";
/// The value of the header of check-ins from a page in another tab, or on a device that is locked.
pub const HIDDEN: &str = "hidden";
/// The header by which browsers tell what a request is for: `navigate` for a page.
pub const MODE_HEADER: &str = "sec-fetch-mode";
/// The header by which browsers tell who began a request: `same-origin` for a page of the site.
pub const SITE_HEADER: &str = "sec-fetch-site";

/// How the visitor's next check-in comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival<'a> {
    /// True for the built-in page in a browser that is new enough for its script: the page stays,
    /// and only without script is it loaded again.
    pub stays: bool,
    /// True if the script asks, which has style and script already.
    pub checks_in: bool,
    /// True for a form that a page of the site has sent by `POST`: the browser keeps what was
    /// filled in as long as the queue page stays, which may offer to send it again. Of another
    /// site's form that would hide from the site where it came from.
    pub can_resend: bool,
    /// The address to which the visitor comes again, where that is another one than was asked for.
    pub back: Option<&'a str>,
    /// The address by which the visitor confirms the turn, where that is awaited.
    pub enter: Option<&'a str>,
}

impl Arrival<'_> {
    /// Returns the value of the `Refresh` header.
    pub fn refresh(&self, interval_s: u32) -> String {
        match self.back {
            Some(address) => format!("{interval_s}; url={address}"),
            None => interval_s.to_string(),
        }
    }
}

/// Returns the page that a form was sent from, by the `Referer` of the request that submitted it;
/// `None` unless it is of the same origin. The address is the whole one: a path like `//elsewhere`
/// would lead away from the site.
pub fn form_address<'r>(referrer: &'r str, url: &str) -> Option<&'r str> {
    if referrer.is_empty() {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let path = referrer.strip_prefix(scheme)?.strip_prefix("://")?.strip_prefix(host)?;
    let is_plain = referrer.bytes().all(|byte| matches!(byte, b'!'..=b'~'));
    let is_short = referrer.len() <= ADDRESS_BYTES_MAX;
    (path.starts_with('/') && is_plain && is_short && !host.contains('@')).then_some(referrer)
}

/// The longest address that a page comes back to, in bytes.
const ADDRESS_BYTES_MAX: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::{Arrival, form_address};

    #[test]
    fn a_form_is_found_again_on_the_same_origin_alone() {
        let check = |referrer: &str, want: bool| {
            let found = form_address(referrer, "https://shop.example/order");
            assert_eq!(found, want.then_some(referrer), "{referrer}");
        };
        check("https://shop.example/form", true);
        check("https://shop.example/form?seat=7", true);
        check("https://shop.example/", true);
        // A whole address: the browser does not take it for another host.
        check("https://shop.example//elsewhere.example/", true);
        check("", false);
        check("/form", false);
        check("//shop.example/form", false);
        check("https://shop.example", false);
        check("http://shop.example/form", false);
        check("https://shop.example:8443/form", false);
        check("https://shop.example.elsewhere.example/form", false);
        check("https://shop.example@elsewhere.example/form", false);
        check("https://elsewhere.example/https://shop.example/", false);
        check("https://shop.example/a b", false);
        check("https://shop.example/a\nset-cookie: b", false);
        check(&format!("https://shop.example/{}", "a".repeat(1_024)), false);
    }

    #[test]
    fn the_header_names_the_address_where_it_is_another() {
        let arrival = Arrival { back: Some("https://shop.example/form"), ..Arrival::default() };
        assert_eq!(arrival.refresh(20), "20; url=https://shop.example/form");
        assert_eq!(Arrival::default().refresh(20), "20");
    }
}
