//! The zones of a deployment, from the variable `ZONES`: their ids and domains.

use crate::base::host::Host;
use crate::base::id::ZoneId;
use crate::base::sorted::SortedMap;

/// The domains of each zone, first the one that names it, then those of its custom hostnames. If
/// there are no zones, every zone id is accepted and no host is checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Zones(SortedMap<ZoneId, Vec<Host>>);

impl Zones {
    /// Reads `<zone id>=<domain>`, comma-separated; an id that stands again has one more domain.
    /// Errors: what is wrong, for the operator.
    pub fn parse(text: &str) -> Result<Self, String> {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let zone = |entry: &str| -> Result<_, String> {
            let wrong = |why: String| format!("{entry:?} {why}");
            let (id, domain) =
                entry.split_once('=').ok_or_else(|| wrong("must be <zone id>=<domain>".into()))?;
            let id = id.trim().parse().map_err(|error| wrong(format!("has an id that {error}")))?;
            let domain = domain.trim().parse();
            Ok((id, domain.map_err(|error| wrong(format!("has a domain that {error}")))?))
        };
        let mut zones = Self::default();
        for zone in entries.map(zone) {
            let (id, domain): (_, Host) = zone?;
            zones.0.get_or_default(id).push(domain);
        }
        Ok(zones)
    }

    /// Whether rooms may be in this zone: it is configured, or no zone is.
    pub fn has(&self, zone: ZoneId) -> bool {
        self.0.is_empty() || self.0.contains_key(&zone)
    }

    /// Returns the domains of the zone if `host` is neither one of them nor below one. `None` if
    /// the host belongs to the zone, or if the zone's domains are unknown.
    pub fn foreign_to(&self, zone: ZoneId, host: &Host) -> Option<&[Host]> {
        let domains = self.0.get(&zone)?;
        let is_foreign = !domains.iter().any(|domain| is_at_or_below(host.as_str(), domain));
        is_foreign.then_some(domains)
    }

    /// Returns the configured zones with the domains that name them, in the order of their ids.
    pub fn all(&self) -> impl Iterator<Item = (ZoneId, &Host)> {
        self.0.iter().filter_map(|(id, domains)| Some((*id, domains.first()?)))
    }

    /// Returns the domain that names the zone with the smallest id.
    pub fn first_domain(&self) -> Option<&Host> {
        self.all().next().map(|(_, domain)| domain)
    }
}

fn is_at_or_below(host: &str, domain: &Host) -> bool {
    let above = host.strip_suffix(domain.as_str());
    above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::{Host, Zones};

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
    fn a_zone_with_custom_hostnames_has_their_domains_and_keeps_its_name() {
        let text = format!("{ID}=shop.example,{ID}=tickets.test");
        let (zones, zone) = (Zones::parse(&text).unwrap(), ID.parse().unwrap());
        for host in ["www.shop.example", "tickets.test", "www.tickets.test"] {
            assert_eq!(zones.foreign_to(zone, &host.parse().unwrap()), None, "{host}");
        }
        assert!(zones.foreign_to(zone, &"other.test".parse().unwrap()).is_some());
        let named: Vec<_> = zones.all().map(|(id, name)| (id, name.as_str())).collect();
        assert_eq!(named, [(zone, "shop.example")]);
        assert_eq!(zones.first_domain().map(Host::as_str), Some("shop.example"));
    }

    #[test]
    fn without_zones_every_id_is_one() {
        let other = ID.replace('0', "1").parse().unwrap();
        assert!(Zones::default().has(other));
        assert!(!Zones::parse(&format!("{ID}=shop.example")).unwrap().has(other));
    }
}
