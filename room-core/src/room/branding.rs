//! Whose page it is: what the owner wants to be seen on the built-in page, in every state.

use serde::{Deserialize, Serialize};

/// What the built-in page shows of the site that it stands before; empty where nothing is wanted.
///
/// An event has an `Option` for each: where it is `None`, the room's own counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Branding<Text = String> {
    /// The name of the site or the sale; without one, pages show the host.
    pub name: Text,
    /// What the active event is called; a room itself has none.
    pub event_name: Text,
    /// A picture as a `data:` address: pages load nothing.
    pub logo: Text,
    /// The colour of the page's parts that are no text, like `#0f766e`.
    pub color: Text,
    /// A text for everybody who waits.
    pub text: Text,
    /// News for everybody who waits, shown where they are seen first.
    pub message: Text,
    /// An `https:` address where visitors find help.
    pub help_url: Text,
}

impl Branding<Option<String>> {
    /// Returns what pages show where `other` counts for all that is not set here.
    #[must_use]
    pub fn or(self, other: Branding) -> Branding {
        Branding {
            name: self.name.unwrap_or(other.name),
            event_name: self.event_name.unwrap_or(other.event_name),
            logo: self.logo.unwrap_or(other.logo),
            color: self.color.unwrap_or(other.color),
            text: self.text.unwrap_or(other.text),
            message: self.message.unwrap_or(other.message),
            help_url: self.help_url.unwrap_or(other.help_url),
        }
    }
}
