//! How a waiting visitor's browser checks in again: by the `Refresh` header, or by the script of
//! the built-in page, which stays open and checks in by itself.

use crate::base::url::is_same_origin;

/// The header of a check-in by the script of the built-in page. Its value is [`HIDDEN`] if the page
/// is hidden.
pub const CHECK_IN_HEADER: &str = "waiting-room-check-in";
/// The header's value for a page in a background tab, or on a locked device.
pub const HIDDEN: &str = "hidden";
/// The header that says what a browser's request is for: `navigate` for a page.
pub const MODE_HEADER: &str = "sec-fetch-mode";
/// The header that says who began a browser's request: `same-origin` for a page of the site.
pub const SITE_HEADER: &str = "sec-fetch-site";

/// How the visitor's next check-in comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival<'a> {
    /// Whether the page stays open: the built-in page in a browser that is new enough for its
    /// script. Without script it is loaded again.
    pub stays: bool,
    /// Whether the script asks. It has style and script already.
    pub checks_in: bool,
    /// Whether the page may offer to send a form again: one that a page of the site sent by `POST`.
    /// The browser keeps its content as long as the queue page stays. For another site's form,
    /// sending again would hide its origin from the site.
    pub can_resend: bool,
    /// The address to which the visitor comes back, if it differs from the requested one.
    pub back: Option<&'a str>,
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

/// Returns the address of the page from which a form was sent, by the `Referer` of the request.
/// `None` unless it is of the same origin. The address is complete: a path like `//elsewhere` would
/// lead away from the site.
pub fn form_address<'r>(referrer: &'r str, url: &str) -> Option<&'r str> {
    let (_, rest) = referrer.split_once("://")?;
    let is_plain = referrer.bytes().all(|byte| matches!(byte, b'!'..=b'~'));
    let is_short = referrer.len() <= ADDRESS_BYTES_MAX;
    let has_path = rest.contains('/') && !rest.contains('\\');
    (has_path && is_plain && is_short && is_same_origin(referrer, url)).then_some(referrer)
}

/// The longest address of a page to come back to, in bytes.
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
