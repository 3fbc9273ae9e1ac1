//! The zones of a deployment, from the variable `ZONES`: their ids and domains.

use crate::base::host::Host;
use crate::base::id::ZoneId;
use crate::base::sorted::SortedMap;

/// The domain of each zone. If there are none, every zone id is accepted and no host is checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Zones(SortedMap<ZoneId, Host>);

impl Zones {
    /// Reads `<zone id>=<domain>`, comma-separated. Errors: what is wrong, for the operator.
    pub fn parse(text: &str) -> Result<Self, String> {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let zone = |entry: &str| {
            let wrong = |why: String| format!("{entry:?} {why}");
            let (id, domain) =
                entry.split_once('=').ok_or_else(|| wrong("must be <zone id>=<domain>".into()))?;
            let id = id.trim().parse().map_err(|error| wrong(format!("has an id that {error}")))?;
            let domain = domain.trim().parse();
            Ok((id, domain.map_err(|error| wrong(format!("has a domain that {error}")))?))
        };
        entries.map(zone).collect::<Result<_, String>>().map(Self)
    }

    /// Whether rooms may be in this zone: it is configured, or no zone is.
    pub fn has(&self, zone: ZoneId) -> bool {
        self.0.is_empty() || self.0.contains_key(&zone)
    }

    /// Returns the domain of the zone if `host` is neither this domain nor below it. `None` if the
    /// host belongs to the zone, or if the zone's domain is unknown.
    pub fn foreign_to(&self, zone: ZoneId, host: &Host) -> Option<&Host> {
        self.0.get(&zone).filter(|domain| !is_at_or_below(host.as_str(), domain))
    }

    /// Whether a host (in any letter case) is the domain of a zone, or below one.
    pub fn include(&self, host: &str) -> bool {
        self.0.values().any(|domain| is_at_or_below(&host.to_ascii_lowercase(), domain))
    }

    /// Returns the configured zones with their domains, in the order of their ids.
    pub fn all(&self) -> impl Iterator<Item = (ZoneId, &Host)> {
        self.0.iter().map(|(id, domain)| (*id, domain))
    }

    /// Returns the domain of the zone with the smallest id.
    pub fn first_domain(&self) -> Option<&Host> {
        self.0.values().next()
    }
}

fn is_at_or_below(host: &str, domain: &Host) -> bool {
    let above = host.strip_suffix(domain.as_str());
    above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::Zones;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn zones_are_ids_with_domains() {
        let check = |text: &str, want: bool| assert_eq!(Zones::parse(text).is_ok(), want, "{text}");
        check("", true);
        check(&format!("{ID}=shop.example"), true);
        check(&format!(" {ID} = shop.example , {}=b.example,", ID.replace('0', "1")), true);
        check(ID, false);
        check("abc=shop.example", false);
        check(&format!("{ID}=https://shop.example"), false);
    }

    #[test]
    fn a_host_belongs_to_a_zone_at_or_below_its_domain() {
        let check = |host: &str, foreign: bool| {
            let zones = Zones::parse(&format!("{ID}=shop.example")).unwrap();
            let seen = zones.foreign_to(ID.parse().unwrap(), &host.parse().unwrap());
            assert_eq!(seen.is_some(), foreign, "{host}");
            assert_eq!(zones.include(host), !foreign, "{host}");
        };
        check("shop.example", false);
        check("SHOP.example", false);
        check("www.shop.example", false);
        check("a.b.shop.example", false);
        check("myshop.example", true);
        check("example", true);
        check("shop.example.evil", true);
    }

    #[test]
    fn without_zones_every_id_is_one() {
        let other = ID.replace('0', "1").parse().unwrap();
        assert!(Zones::default().has(other));
        assert!(!Zones::parse(&format!("{ID}=shop.example")).unwrap().has(other));
    }
}
