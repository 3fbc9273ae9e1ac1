//! The Turnstile widget on a page: its markup and its script.

use super::words::Words;
use crate::base::id::RoomId;
use crate::room::turnstile::TurnstileMode;

/// The only origin from which a page with a widget loads anything.
pub const ORIGIN: &str = "https://challenges.cloudflare.com";

/// The script of the page that the widget calls with its result.
///
/// It loads the page again once, with the token, or with an empty token after a failure. Without
/// cookies it does not, since the page would be loaded again for ever. If the widget cannot be
/// loaded, the script shows the text of the page that says so. The policy of the built-in page
/// holds the hash of this script.
pub const SCRIPT: &str = "\
function cfWaitingRoomToken(t){\
if(cfWaitingRoomToken.sent||!navigator.cookieEnabled)return;\
cfWaitingRoomToken.sent=1;\
const a=location.href.split('#')[0];\
const q=a.includes('?')?'&':'?';\
location.replace(a+q+'cf_wr_turnstile='+encodeURIComponent(t)+location.hash)\
}\
function cfWaitingRoomNoToken(){cfWaitingRoomToken('')}\
addEventListener('error',e=>{\
const n=document.querySelector('.cf-turnstile+noscript');\
if(n&&e.target.src)n.outerHTML=n.textContent\
},true)";

/// The widget of one page.
#[derive(Clone, Copy, Debug)]
pub struct Widget<'a> {
    /// The public site key of the owner's widget: letters, digits, `-`, `.` and `_`.
    pub site_key: &'a str,
    /// The kind of widget, which says whether it is visible.
    pub mode: TurnstileMode,
    /// The room to which the token is bound. In another room it is worth nothing.
    pub room: RoomId,
    /// Whether the visitor gets a place only by passing the challenge.
    pub is_gate: bool,
}

impl Widget<'_> {
    /// Whether `text` has the form of a site key, so that it can stand in an attribute unescaped.
    pub fn is_site_key(text: &str) -> bool {
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !text.is_empty() && text.bytes().all(is_safe)
    }

    /// Writes the markup, for the variable `turnstile`, in the words of the page around it.
    pub fn html(&self, words: &Words) -> String {
        let Self { site_key, mode, room, is_gate } = self;
        let appearance = match mode {
            TurnstileMode::Off | TurnstileMode::Invisible => "interaction-only",
            TurnstileMode::VisibleNonInteractive | TurnstileMode::VisibleManaged => "always",
        };
        let no_token = ["error", "expired", "timeout"]
            .map(|why| format!(" data-{why}-callback=\"cfWaitingRoomNoToken\""))
            .concat();
        // A visitor who has a place without the challenge need not do anything about it.
        let unavailable = if *is_gate {
            format!("<noscript><p>{}</p></noscript>", words.no_challenge())
        } else {
            String::new()
        };
        format!(
            "<script>{SCRIPT}</script>\
             <div class=\"cf-turnstile\" data-sitekey=\"{site_key}\" data-action=\"{room}\" \
             data-appearance=\"{appearance}\" data-response-field=\"false\" \
             data-callback=\"cfWaitingRoomToken\"{no_token}></div>{unavailable}\
             <script src=\"{ORIGIN}/turnstile/v0/api.js\" async defer></script>"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{TurnstileMode, Widget, Words};

    fn widget(mode: TurnstileMode, is_gate: bool) -> String {
        let room = "0123456789abcdef0123456789abcdef".parse().unwrap();
        Widget { site_key: "0x4AAA", mode, room, is_gate }.html(&Words::default())
    }

    #[test]
    fn each_mode_has_its_widget() {
        let check = |mode: TurnstileMode, appearance: &str| {
            let html = widget(mode, true);
            assert!(html.contains("data-sitekey=\"0x4AAA\""), "{html}");
            assert!(html.contains("data-action=\"0123456789abcdef0123456789abcdef\""), "{html}");
            assert!(html.contains(&format!("data-appearance=\"{appearance}\"")), "{html}");
            for callback in ["error", "expired", "timeout"] {
                let wanted = format!("data-{callback}-callback=\"cfWaitingRoomNoToken\"");
                assert!(html.contains(&wanted), "{html}");
            }
        };
        check(TurnstileMode::Invisible, "interaction-only");
        check(TurnstileMode::VisibleNonInteractive, "always");
        check(TurnstileMode::VisibleManaged, "always");
    }

    #[test]
    fn who_needs_the_challenge_is_told_what_it_needs() {
        assert!(widget(TurnstileMode::Invisible, true).contains("<noscript><p>"));
        assert!(!widget(TurnstileMode::Invisible, false).contains("noscript><p>"));
    }

    #[test]
    fn a_site_key_cannot_end_its_attribute() {
        let check = |text: &str, want: bool| assert_eq!(Widget::is_site_key(text), want, "{text}");
        check("1x00000000000000000000AA", true);
        check("0x4AAAAAAA-_.z", true);
        check("", false);
        check("a\"b", false);
        check("a b", false);
        check("<", false);
    }
}
