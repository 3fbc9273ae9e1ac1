//! The query that selects entries of the audit log: by whom, when, how and of what.

use percent_encoding::percent_decode_str;

use super::history::{check_names, refused};
use super::reply::Failure;
use super::target::Method;
use crate::base::time::Timestamp;

/// The parameters besides those of pages. An empty query has one without a name.
const PARAMETERS: [&str; 8] =
    ["actor", "method", "target", "since", "before", "page", "per_page", ""];

/// Which entries are selected. A part that is `None` accepts all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    actor: Option<String>,
    method: Option<Method>,
    target: Option<String>,
    since: Option<Timestamp>,
    before: Option<Timestamp>,
}

impl AuditFilter {
    /// Reads the query of a URL: `actor`, `method` (`PATCH`), `target` (the beginning of a path of
    /// the API, or an id in it), `since` and `before` (ISO 8601).
    ///
    /// Errors: an unknown parameter, or an invalid value.
    pub fn parse(query: &str) -> Result<Self, Failure> {
        let rule = "is none of actor, method, target, since and before";
        check_names(query, &PARAMETERS, rule)?;
        let mut filter = Self::default();
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            let moment = || {
                let moment = value.parse::<Timestamp>();
                moment.map_err(|problem| refused(name, &problem.to_string()))
            };
            match name {
                "actor" => filter.actor = Some(value),
                "target" => filter.target = Some(value),
                "since" => filter.since = Some(moment()?),
                "before" => filter.before = Some(moment()?),
                "method" => filter.method = Some(method(&value)?),
                _ => {}
            }
        }
        Ok(filter)
    }

    /// Whether all entries pass.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the filter accepts an entry with this moment (ISO 8601), actor, method and target.
    pub fn passes(&self, at: &str, actor: &str, method: Method, target: &str) -> bool {
        let at = at.parse::<Timestamp>().unwrap_or_default();
        let is_of = |wanted: &String| {
            target.starts_with(wanted.as_str()) || target.split('/').any(|part| part == wanted)
        };
        self.actor.as_deref().is_none_or(|wanted| wanted == actor)
            && self.method.is_none_or(|wanted| wanted == method)
            && self.target.as_ref().is_none_or(is_of)
            && self.since.is_none_or(|since| at >= since)
            && self.before.is_none_or(|before| at < before)
    }
}

fn method(name: &str) -> Result<Method, Failure> {
    let found = Method::parse(name).filter(|method| !method.reads());
    found.ok_or_else(|| refused("method", "must be POST, PUT, PATCH or DELETE"))
}

#[cfg(test)]
mod tests {
    use super::AuditFilter;
    use crate::management::api::Method;

    #[test]
    fn entries_are_found_by_whom_when_how_and_of_what() {
        let check = |query: &str, want: bool| {
            let filter = AuditFilter::parse(query).expect("a filter");
            let at = "2026-11-26T10:00:00Z";
            let target = "zones/z/waiting_rooms/r/events/e";
            assert_eq!(filter.passes(at, "me@x.example", Method::Patch, target), want, "{query}");
        };
        check("", true);
        check("page=2&per_page=5", true);
        check("actor=me%40x.example", true);
        check("actor=me", false);
        check("method=PATCH", true);
        check("method=POST", false);
        check("target=zones/z/waiting_rooms/r", true);
        check("target=zones%2Fz%2Fwaiting_rooms%2Fr", true);
        check("target=r", true);
        check("target=waiting", false);
        check("since=2026-11-26T10:00:00Z", true);
        check("since=2026-11-26T10%3A00%3A01Z", false);
        check("before=2026-11-26T10:00:00Z", false);
        check("before=2026-11-26T10:00:01Z&method=PATCH&target=e", true);
        for query in ["acto=me", "method=GET", "method=patch", "since=today", "&before="] {
            assert_eq!(AuditFilter::parse(query).unwrap_err().status, 400, "{query}");
        }
        assert!(AuditFilter::parse("page=1").expect("a filter").is_empty());
    }
}
