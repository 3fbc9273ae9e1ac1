//! Checks the text variables and secrets of a deployment as a whole, and reports every mistake at
//! once.

use crate::base::host::Host;
use crate::base::sorted::SortedMap;
use crate::base::url::split_url;
use crate::keys::key_ring::KeyRing;
use crate::management::registry::Bounds;
use crate::page::widget::Widget;
use crate::room::zones::Zones;

/// The values of the variables, without those that need no check (tokens).
pub struct Variables {
    /// The keys of `TICKET_KEYS`.
    pub keys: KeyRing,
    /// The zones of `ZONES`, with their hosts.
    pub zones: Zones,
    /// The bounds by `MAX_ROOMS_PER_ZONE`, `MAX_EVENTS_PER_ROOM`, `MAX_RULES_PER_ROOM` and
    /// `WEBHOOKS_ANYWHERE`.
    pub bounds: Bounds,
    /// Where objects are placed.
    pub placement: Placement,
    /// The hosts of `OPEN_HOSTS`, which pass without a room while all others without one are
    /// refused. `None` without `ORIGIN_URL`: then no host is refused, since only the owner's lead
    /// here. With it every host would reach the origin: the Worker's own, those of previews, and
    /// any that a client makes up.
    pub open_hosts: Option<Vec<Host>>,
    /// Notes for the operator: variables that are wrong but stop no visit, and what counts instead.
    pub notes: Vec<String>,
}

/// Where on Earth Cloudflare places the objects of a deployment. It counts for objects that were
/// never called before; others stay where they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The region of the registry and of the global aggregators. Without it they are placed near
    /// the first visitor. Cloudflare treats it as a wish. Objects of a data center are always near
    /// it.
    pub location_hint: Option<String>,
    /// The jurisdiction that no object leaves. Under another jurisdiction every object is a new
    /// one, which knows nothing of this one's rooms.
    pub jurisdiction: Option<String>,
}

/// The regions that Cloudflare accepts as hints:
/// <https://developers.cloudflare.com/durable-objects/reference/data-location/>.
const LOCATION_HINTS: [&str; 9] =
    ["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"];
/// The jurisdictions of the same page.
const JURISDICTIONS: [&str; 4] = ["eu", "us", "fedramp", "fedramp-high"];

impl Variables {
    /// Reads the variables, given as texts by name.
    ///
    /// Errors: a line for the operator for each mistake that keeps every visit from being served.
    /// No line and no note repeats a secret, since anybody may read them on an admin host.
    pub fn parse(texts: &SortedMap<String, String>) -> Result<Self, Vec<String>> {
        let text = |name: &str| texts.get(name).map_or("", |text| text.trim());
        let is_wrong_address = |name: &str| !text(name).is_empty() && !is_address(text(name));
        let mut problems = Vec::new();
        let mut problem = |name: &str, why: &str| problems.push(format!("{name}: {why}"));

        let keys = KeyRing::parse(text("TICKET_KEYS"))
            .map_err(|error| problem("TICKET_KEYS", &error.to_string()));
        let zones = Zones::parse(text("ZONES")).map_err(|error| problem("ZONES", &error));
        let open_hosts = hosts(text("OPEN_HOSTS")).map_err(|why| problem("OPEN_HOSTS", &why));
        let mut bound = |name: &str, default: usize| match text(name) {
            "" => default,
            given => given.parse().unwrap_or_else(|_| {
                problem(name, "must be a whole number");
                default
            }),
        };
        let default = Bounds::default();
        let bounds = Bounds {
            rooms_per_zone: bound("MAX_ROOMS_PER_ZONE", default.rooms_per_zone),
            events_per_room: bound("MAX_EVENTS_PER_ROOM", default.events_per_room),
            rules_per_room: bound("MAX_RULES_PER_ROOM", default.rules_per_room),
            webhooks_anywhere: text("WEBHOOKS_ANYWHERE") == "yes",
        };
        if is_wrong_address("ORIGIN_URL") {
            problem("ORIGIN_URL", AN_ADDRESS);
        }
        let jurisdiction = text("JURISDICTION");
        if !jurisdiction.is_empty() && !JURISDICTIONS.contains(&jurisdiction) {
            // Cloudflare refuses every call then. Not to keep to it instead might break a law.
            problem("JURISDICTION", &format!("must be one of {}", JURISDICTIONS.join(", ")));
        }
        let site_key = text("TURNSTILE_SITE_KEY");
        let is_used = !site_key.is_empty() && !text("TURNSTILE_SECRET").is_empty();
        if is_used && !Widget::is_site_key(site_key) {
            problem("TURNSTILE_SITE_KEY", "must be letters, digits, -, . and _");
        }

        let mut notes = Vec::new();
        if !matches!(text("ON_FAILURE"), "" | "hold" | "pass") {
            notes.push("ON_FAILURE: must be hold or pass; hold counts".to_owned());
        }
        let hint = Some(text("LOCATION_HINT")).filter(|hint| !hint.is_empty());
        let location_hint = hint.filter(|hint| LOCATION_HINTS.contains(hint));
        if hint != location_hint {
            let known = LOCATION_HINTS.join(", ");
            notes.push(format!("LOCATION_HINT: must be one of {known}; no hint is given"));
        }
        let placement = Placement {
            location_hint: location_hint.map(str::to_owned),
            jurisdiction: Some(jurisdiction.to_owned()).filter(|name| !name.is_empty()),
        };
        if is_wrong_address("TURNSTILE_VERIFY_URL") {
            notes.push(format!("TURNSTILE_VERIFY_URL: {AN_ADDRESS}; no token can be checked"));
        }
        let lock = text("ORIGIN_LOCK_SECRET");
        if (1..LOCK_SECRET_MIN).contains(&lock.len()) {
            notes.push(format!("ORIGIN_LOCK_SECRET: must have {LOCK_SECRET_MIN} characters"));
        }
        match (keys, zones, open_hosts) {
            (Ok(keys), Ok(zones), Ok(open_hosts)) if problems.is_empty() => {
                let open_hosts = Some(open_hosts).filter(|_| !text("ORIGIN_URL").is_empty());
                Ok(Self { keys, zones, bounds, placement, open_hosts, notes })
            }
            _ => Err(problems),
        }
    }
}

/// The fewest characters of the origin lock's secret: 16 bytes in hexadecimal.
const LOCK_SECRET_MIN: usize = 32;

/// Reads hosts that are separated by commas.
fn hosts(text: &str) -> Result<Vec<Host>, String> {
    let named = text.split(',').map(str::trim).filter(|host| !host.is_empty());
    named.map(|host| host.parse().map_err(|error| format!("{host:?} {error}"))).collect()
}

const AN_ADDRESS: &str = "must be an address that begins with http:// or https://";

fn is_address(text: &str) -> bool {
    let is_http = |scheme: &str| matches!(&*scheme.to_ascii_lowercase(), "http" | "https");
    split_url(text).is_some_and(|url| is_http(url.scheme))
}

#[cfg(test)]
mod tests {
    use super::Variables;
    use crate::base::sorted::SortedMap;

    const KEY: &str = "3f1c5ad2e07b84969d2e41f80a6bc7135e9804d7b21fa36c58ed907142cb6fa8";

    fn parse(given: &[(&str, &str)]) -> Result<Variables, Vec<String>> {
        let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        let with_key = [("TICKET_KEYS", KEY)];
        let texts: SortedMap<String, String> = with_key.iter().chain(given).map(owned).collect();
        Variables::parse(&texts)
    }

    #[test]
    fn each_wrong_variable_is_named() {
        let check = |name: &str, text: &str, fits: bool| {
            let problems = parse(&[("TURNSTILE_SECRET", "x"), (name, text)]).err();
            let named = problems.is_some_and(|problems| {
                problems.len() == 1 && problems[0].starts_with(&format!("{name}: "))
            });
            assert_eq!(named, !fits, "{name}={text:?}");
        };
        check("TICKET_KEYS", "", false);
        check("TICKET_KEYS", "abc", false);
        check("ZONES", "", true);
        check("ZONES", "abc=shop.example", false);
        check("MAX_ROOMS_PER_ZONE", "3", true);
        check("MAX_ROOMS_PER_ZONE", "-1", false);
        check("MAX_EVENTS_PER_ROOM", "many", false);
        check("MAX_RULES_PER_ROOM", "1.5", false);
        check("ORIGIN_URL", "http://127.0.0.1:3000", true);
        check("ORIGIN_URL", "HTTPS://Shop.example", true);
        check("ORIGIN_URL", "127.0.0.1:3000", false);
        check("ORIGIN_URL", "ftp://shop.example", false);
        check("OPEN_HOSTS", "img.shop.example, API.shop.example", true);
        check("OPEN_HOSTS", "img.shop.example/x", false);
        check("TURNSTILE_SITE_KEY", "1x00000000000000000000AA", true);
        check("TURNSTILE_SITE_KEY", "<script>", false);
        check("JURISDICTION", "eu", true);
        check("JURISDICTION", "EU", false);
        check("JURISDICTION", "mars", false);
        check("SOMETHING_ELSE", "anything", true);
    }

    #[test]
    fn all_are_named_at_once_and_no_secret_is_repeated() {
        let given = [("TICKET_KEYS", "hush"), ("ORIGIN_URL", "hush"), ("MAX_RULES_PER_ROOM", "")];
        let problems = parse(&given).err().unwrap_or_default();
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(!problems.concat().contains("hush"), "{problems:?}");
    }

    #[test]
    fn what_holds_up_no_visit_is_a_note() {
        let check = |name: &str, text: &str, want: usize| {
            let variables = parse(&[(name, text)]).unwrap_or_else(|why| panic!("{why:?}"));
            assert_eq!(variables.notes.len(), want, "{name}={text:?}");
        };
        check("ON_FAILURE", "hold", 0);
        check("ON_FAILURE", "pass", 0);
        check("ON_FAILURE", "", 0);
        check("ON_FAILURE", "Pass", 1);
        check("LOCATION_HINT", "weur", 0);
        check("LOCATION_HINT", "Europe", 1);
        check("TURNSTILE_VERIFY_URL", "https://challenges.example/siteverify", 0);
        check("TURNSTILE_VERIFY_URL", "siteverify", 1);
    }

    #[test]
    fn objects_are_placed_where_the_variables_say() {
        let check = |given: &[(&str, &str)], hint: Option<&str>, jurisdiction: Option<&str>| {
            let placement = parse(given).unwrap_or_else(|why| panic!("{why:?}")).placement;
            let got = (placement.location_hint.as_deref(), placement.jurisdiction.as_deref());
            assert_eq!(got, (hint, jurisdiction), "{given:?}");
        };
        check(&[], None, None);
        check(&[("LOCATION_HINT", " "), ("JURISDICTION", "")], None, None);
        check(&[("LOCATION_HINT", "sam"), ("JURISDICTION", " eu ")], Some("sam"), Some("eu"));
        check(&[("LOCATION_HINT", "nowhere")], None, None);
    }

    #[test]
    fn bounds_are_taken_over() {
        let given = [("MAX_ROOMS_PER_ZONE", " 3 "), ("MAX_RULES_PER_ROOM", "")];
        let bounds = parse(&given).unwrap_or_else(|why| panic!("{why:?}")).bounds;
        assert_eq!((bounds.rooms_per_zone, bounds.rules_per_room), (3, 100));
    }
}
