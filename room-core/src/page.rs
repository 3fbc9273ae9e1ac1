//! The page that a waiting visitor sees: the built-in one or an owner's template, and its
//! variables. The HTTP answer around it is in `page/response.rs`.

pub mod arrival;
mod code_picture;
pub mod contact;
mod draw;
mod english;
pub mod event_stream;
pub mod invitation;
mod json;
mod localized;
pub mod parts;
pub mod place;
pub mod response;
pub mod template;
mod variables;
pub mod waiting;
pub mod widget;
mod words;

use std::fmt::Write;

use base64ct::Base64;
use base64ct::Encoding;
use sha2::Digest;
use sha2::Sha256;

use crate::base::id::RoomId;
pub use crate::page::waiting::Waiting;
pub use variables::Variables;
pub use words::{Words, told_step};

use crate::page::invitation::Invitation;
use crate::page::template::{RenderError, Template, TemplateError};
use crate::page::widget::{ORIGIN, SCRIPT, Widget};
use crate::room::turnstile::TurnstileMode;

/// The source of the built-in page: Mustache, with `[[key]]` in place of each translated text.
pub const BUILT_IN_SOURCE: &str = include_str!("../../templates/queue.html");

/// The most bytes that character references may add to the built-in page. Latin scripts stay below
/// it. To others they would add a third, and pages are limited to 20 KB.
const REFERENCE_BYTES_MAX: usize = 2_000;

/// A queue page, ready to be rendered for any visitor. Compiling it is slow, so keep it.
pub struct Page {
    template: Template,
    /// The content security policies of the page: without a challenge, and with one. `None` for an
    /// owner's page.
    policies: Option<[String; 2]>,
}

impl Page {
    /// Compiles an owner's page from the Mustache source in `custom_page_html`, or returns all its
    /// errors at once.
    ///
    /// An owner's page may load whatever its owner wants, so it carries no content security policy.
    pub fn compile(source: &str) -> Result<Self, Vec<TemplateError>> {
        let template = Template::compile(source, Variables::find, Variables::nearest)?;
        Ok(Self { template, policies: None })
    }

    /// Compiles the built-in page in one language. Its content security policy lets only its own
    /// style and script run.
    ///
    /// Errors: the key of a text that the language lacks, or what is wrong with the template. Tests
    /// prove that the page of every language compiles.
    pub fn built_in(words: &Words) -> Result<Self, String> {
        let source = words.fill(BUILT_IN_SOURCE)?;
        // A tenth of the page are the spaces before its lines.
        let source: String = source.lines().flat_map(|line| [line.trim_start(), "\n"]).collect();
        let invalid = |errors: Vec<TemplateError>| {
            errors.first().map(ToString::to_string).unwrap_or_default()
        };
        let (more, find) = (REFERENCE_BYTES_MAX, Variables::find);
        let template = Template::compile_in_ascii(&source, more, find, Variables::nearest);
        let mut page = Self { template: template.map_err(invalid)?, policies: None };
        let sample = page.render(&Variables::in_language(&Waiting::default(), words));
        let policies = |html: String| {
            [None, Some(SCRIPT)].map(|challenge| content_security_policy(&html, challenge))
        };
        page.policies = sample.ok().map(policies);
        Ok(page)
    }

    /// Lists the names in the source that are no variables, as warnings for the owner.
    pub fn warnings(&self) -> &[TemplateError] {
        self.template.warnings()
    }

    /// Returns the value of the `Content-Security-Policy` header; `None` for an owner's page. The
    /// origin of challenges is allowed only for a page with a challenge.
    pub fn content_security_policy(&self, has_challenge: bool) -> Option<&str> {
        let [without, with] = self.policies.as_ref()?;
        Some(if has_challenge { with } else { without })
    }

    /// Whether the page shows the challenge to a visitor who has to pass it.
    pub fn has_challenge(&self) -> bool {
        let widget = Widget {
            site_key: "",
            mode: TurnstileMode::VisibleManaged,
            room: RoomId::from_bytes([0; 16]),
            is_gate: true,
        };
        let variables = Variables::of(&Waiting::default());
        let variables = variables.with_challenge(Some(widget), &Words::default());
        // It must stand there as markup: escaped, it would be shown as text and challenge nobody.
        self.render(&variables).is_ok_and(|html| html.contains(&widget.html(&Words::default())))
    }

    /// Whether the page has the form with which a visitor confirms the turn.
    pub fn has_entrance(&self) -> bool {
        self.has_form(&Waiting { turn_left_s: Some(1), ..Waiting::default() })
    }

    /// Whether the page asks a visitor for an invitation who gets in with one alone.
    pub fn asks_for_invitation(&self) -> bool {
        let invitation = Invitation { asked: true, needed: true, ..Invitation::default() };
        self.has_form(&Waiting { invitation, ..Waiting::default() })
    }

    fn has_form(&self, waiting: &Waiting) -> bool {
        self.render(&Variables::of(waiting)).is_ok_and(|html| html.contains("waiting-room-place"))
    }

    /// Writes the variables as the JSON that apps get instead of a page.
    pub fn json(variables: &Variables) -> String {
        json::json(variables)
    }

    /// Renders the page for one visitor.
    pub fn render(&self, variables: &Variables) -> Result<String, RenderError> {
        self.template.render(|variable| variables.numbered(variable))
    }
}

/// Writes the policy that allows only the inline style and script blocks of `html` and pictures in
/// `data:`. With the script of a `challenge`, that script and what it loads are allowed too.
///
/// Embedding in a frame stays allowed, because covered sites may be embedded.
fn content_security_policy(html: &str, challenge: Option<&str>) -> String {
    let (script, frame) = challenge.map_or_else(Default::default, |script| {
        (format!(" {} {ORIGIN}", hash(script)), format!("frame-src {ORIGIN}; "))
    });
    format!(
        "default-src 'none'; style-src{}; script-src{}{script}; {frame}img-src data:; \
         connect-src 'self'; base-uri 'none'; \
         form-action 'self'",
        hashes(html, "<style>", "</style>"),
        hashes(html, "<script>", "</script>"),
    )
}

/// Writes the hash of every block between `opening` and `closing`, each with a space before it.
fn hashes(html: &str, opening: &str, closing: &str) -> String {
    let mut sources = String::new();
    for block in html.split(opening).skip(1) {
        let content = block.split(closing).next().unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = write!(sources, " {}", hash(content));
    }
    sources
}

/// Writes the hash of one block as a source expression of a policy: `'sha256-<base64>'`.
fn hash(content: &str) -> String {
    format!("'sha256-{}'", Base64::encode_string(&Sha256::digest(content)))
}

#[cfg(test)]
mod tests;
