//! Whose page it is: what the owner wants to be seen on the built-in page, in every state.

/// What the built-in page shows of the site that it stands before; empty where nothing is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branding {
    /// The name of the site or the sale; without one, pages show the host.
    pub name: String,
    /// A picture as a `data:` address: pages load nothing.
    pub logo: String,
    /// The colour of the page's parts that are no text, like `#0f766e`.
    pub color: String,
    /// A text for everybody who waits.
    pub text: String,
    /// News for everybody who waits, shown where they are seen first.
    pub message: String,
    /// An `https:` address where visitors find help.
    pub help_url: String,
}
