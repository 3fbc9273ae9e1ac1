//! The settings that all rooms of a zone share.

/// The settings that all rooms of a zone share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZoneSettings {
    /// Whether verified crawlers of search engines skip all rooms of the zone.
    pub search_engine_crawler_bypass: bool,
    /// Whether the zone redirects every plain HTTP request to HTTPS. The owner has to say so, since
    /// a Worker cannot see it. With `None` the scheme of each request decides.
    pub always_use_https: Option<bool>,
}

impl ZoneSettings {
    /// Whether a visitor who asked for the absolute `url` reaches this zone by HTTPS only.
    pub fn uses_https_alone(self, url: &str) -> bool {
        self.always_use_https.unwrap_or_else(|| url.starts_with("https:"))
    }
}
