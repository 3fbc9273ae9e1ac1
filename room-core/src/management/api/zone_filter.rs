//! The query that selects zones: by name and status, as Cloudflare's clients ask.

use percent_encoding::percent_decode_str;

/// Which zones are selected, and in which order.
#[derive(Clone, Debug, Default)]
pub struct ZoneFilter {
    /// Whether a zone's name is as wanted: the operator, and what it is compared with.
    name: Option<(Operator, String)>,
    /// Whether all zones have the wanted status and type, which are the same for all.
    others: Vec<bool>,
    matches_any: bool,
    is_descending: bool,
}

/// How a name is compared. Names of zones are in lower case.
#[derive(Clone, Copy, Debug)]
enum Operator {
    Equal,
    NotEqual,
    StartsWith,
    EndsWith,
    Contains,
}

/// The operators as they stand before the name, like `contains:shop`.
const OPERATORS: [(&str, Operator); 5] = [
    ("equal", Operator::Equal),
    ("not_equal", Operator::NotEqual),
    ("starts_with", Operator::StartsWith),
    ("ends_with", Operator::EndsWith),
    ("contains", Operator::Contains),
];

impl ZoneFilter {
    /// Reads the query of a URL: `name`, `status`, `type`, `match` (`any` or `all`) and
    /// `direction`. The others are ignored: whichever account is named, it is the one there is, and
    /// all other fields by which zones could be ordered are the same.
    pub fn parse(query: &str) -> Self {
        let mut filter = Self::default();
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let value = percent_decode_str(value).decode_utf8_lossy().to_ascii_lowercase();
            match name {
                "name" => filter.name = Some(comparison(&value)),
                "status" => filter.others.push(value == "active"),
                "type" => filter.others.push(value.split(',').any(|kind| kind == "full")),
                "match" => filter.matches_any = value == "any",
                "direction" => filter.is_descending = value == "desc",
                _ => {}
            }
        }
        filter
    }

    /// Whether a zone of this name is selected.
    pub fn passes(&self, name: &str) -> bool {
        let by_name = self.name.as_ref().map(|(operator, wanted)| match operator {
            Operator::Equal => name == wanted,
            Operator::NotEqual => name != wanted,
            Operator::StartsWith => name.starts_with(wanted.as_str()),
            Operator::EndsWith => name.ends_with(wanted.as_str()),
            Operator::Contains => name.contains(wanted.as_str()),
        });
        let mut all = by_name.into_iter().chain(self.others.iter().copied()).peekable();
        let asks_nothing = all.peek().is_none();
        asks_nothing || if self.matches_any { all.any(|one| one) } else { all.all(|one| one) }
    }

    /// Whether the last name comes first.
    pub fn is_descending(&self) -> bool {
        self.is_descending
    }
}

fn comparison(value: &str) -> (Operator, String) {
    let split = value.split_once(':').and_then(|(operator, name)| {
        let operator = operator.trim_end_matches("_case_sensitive");
        let known = OPERATORS.iter().find(|(known, _)| *known == operator);
        known.map(|(_, operator)| (*operator, name.to_owned()))
    });
    split.unwrap_or_else(|| (Operator::Equal, value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::ZoneFilter;

    #[test]
    fn zones_are_selected_as_clients_ask() {
        let check = |query: &str, want: bool| {
            assert_eq!(ZoneFilter::parse(query).passes("shop.example"), want, "{query}");
        };
        check("", true);
        check("page=1&per_page=50&account.id=7&order=status", true);
        check("name=shop.example", true);
        check("name=Shop.Example&status=active", true);
        check("name=shop", false);
        check("name=contains:op.ex", true);
        check("name=contains%3Aop.ex", true);
        check("name=starts_with:shop", true);
        check("name=ends_with_case_sensitive:shop", false);
        check("name=not_equal:shop.example", false);
        check("name=equal:shop.example", true);
        check("status=pending", false);
        check("type=partial,full", true);
        check("name=x&status=active", false);
        check("name=x&status=active&match=any", true);
        check("name=x&status=moved&match=any", false);
        assert!(ZoneFilter::parse("direction=desc").is_descending());
        assert!(!ZoneFilter::parse("direction=asc").is_descending());
    }
}
