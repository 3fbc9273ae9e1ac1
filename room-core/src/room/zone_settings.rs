//! The settings that all rooms of a zone have in common.

/// The settings that all rooms of a zone have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZoneSettings {
    /// True when verified crawlers of search engines skip all rooms of the zone.
    pub search_engine_crawler_bypass: bool,
    /// Whether the zone redirects every plain HTTP request to HTTPS. The owner has to say it, since
    /// a Worker cannot see it; with `None` it goes by the scheme of each request.
    pub always_use_https: Option<bool>,
}

impl ZoneSettings {
    /// Whether a visitor who asked for the absolute `url` reaches this zone by HTTPS only.
    pub fn uses_https_alone(self, url: &str) -> bool {
        self.always_use_https.unwrap_or_else(|| url.starts_with("https:"))
    }
}
