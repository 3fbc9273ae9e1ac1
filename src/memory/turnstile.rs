//! What an isolate remembers of Turnstile: its keys, and the tokens that were used.

use room_core::base::prefix_budget::PrefixBudget;
use room_core::base::sorted::SortedMap;
use room_core::room::turnstile::SeenTokens;

const VERIFY_URL: &str = "https://challenges.cloudflare.com/turnstile/v0/siteverify";

/// The Turnstile keys of this deployment, and the tokens that were used in this isolate.
pub struct Turnstile {
    /// The public key of the widget, for the page.
    pub site_key: String,
    /// The secret key, for siteverify.
    pub secret: String,
    /// The address of siteverify.
    pub verify_url: String,
    /// The tokens that were used.
    pub seen: SeenTokens,
    /// How many tokens are being checked or have failed: first by address, then by network.
    pub failures: [PrefixBudget; 2],
}

impl Turnstile {
    /// Reads the variables `TURNSTILE_SITE_KEY`, `TURNSTILE_SECRET` and `TURNSTILE_VERIFY_URL`.
    /// `None` unless both keys are set.
    pub fn new(vars: &SortedMap<String, String>) -> Option<Self> {
        let var = |name: &str| vars.get(name).map_or("", |text| text.trim());
        let (site_key, secret) = (var("TURNSTILE_SITE_KEY"), var("TURNSTILE_SECRET"));
        if site_key.is_empty() || secret.is_empty() {
            return None;
        }
        let verify_url = Some(var("TURNSTILE_VERIFY_URL")).filter(|url| !url.is_empty());
        Some(Self {
            site_key: site_key.to_owned(),
            secret: secret.to_owned(),
            verify_url: verify_url.unwrap_or(VERIFY_URL).to_owned(),
            seen: SeenTokens::default(),
            failures: Default::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Turnstile, VERIFY_URL};

    #[test]
    fn both_keys_are_needed() {
        let check = |vars: &[(&str, &str)], want: Option<&str>| {
            let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let turnstile = Turnstile::new(&vars.iter().map(owned).collect());
            assert_eq!(turnstile.as_ref().map(|one| &*one.verify_url), want, "{vars:?}");
        };
        check(&[], None);
        check(&[("TURNSTILE_SITE_KEY", "a")], None);
        check(&[("TURNSTILE_SECRET", "a")], None);
        let both = [("TURNSTILE_SITE_KEY", "a"), ("TURNSTILE_SECRET", "b")];
        check(&both, Some(VERIFY_URL));
        check(&[both[0], both[1], ("TURNSTILE_VERIFY_URL", "http://x/")], Some("http://x/"));
    }
}
