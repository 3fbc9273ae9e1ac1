//! The widget that a page shows. Knows nothing of tokens or tickets.

use super::TurnstileMode;
use crate::id::RoomId;
use crate::page::Words;

/// The one place that a page with a widget loads anything from.
pub const ORIGIN: &str = "https://challenges.cloudflare.com";

/// What the widget calls. A page comes again with the token once, or with an empty one when there
/// will be none, and never without cookies: it would come for ever. Where the widget is kept from
/// loading, the page says so. Its hash stands in the policy of the built-in page.
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

/// A widget for one page.
#[derive(Clone, Copy, Debug)]
pub struct Widget<'a> {
    /// The public key of the owner's widget: letters, digits, `-` and `_`.
    pub site_key: &'a str,
    /// How it looks.
    pub mode: TurnstileMode,
    /// The room: a token won in one is worth nothing in another.
    pub room: RoomId,
    /// True where the visitor has no place before the challenge is passed.
    pub is_gate: bool,
}

impl Widget<'_> {
    /// True for what can be a site key.
    pub fn is_site_key(text: &str) -> bool {
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !text.is_empty() && text.bytes().all(is_safe)
    }

    /// The markup, for the variable `turnstile`. The words are those of the page around it.
    pub fn html(&self, words: &Words) -> String {
        let Self { site_key, mode, room, is_gate } = self;
        let appearance = match mode {
            TurnstileMode::Off | TurnstileMode::Invisible => "interaction-only",
            TurnstileMode::VisibleNonInteractive | TurnstileMode::VisibleManaged => "always",
        };
        let no_token = ["error", "expired", "timeout"]
            .map(|why| format!(" data-{why}-callback=\"cfWaitingRoomNoToken\""))
            .concat();
        // Where the line is joined anyhow, nobody need do anything about a missing script.
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
    use super::{TurnstileMode, Widget};
    use crate::page::Words;

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
