//! The query parameters `page` and `per_page` of a list. A page past the end is empty.

use super::reply::{Failure, ReplyError};

/// Most entries per page, as at Cloudflare.
const PER_PAGE_MAX: usize = 1_000;
const DEFAULT_PER_PAGE: usize = 25;

/// Which part of a list is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// The page, counted from 1.
    pub page: usize,
    /// The most entries of a page, from 1 to 1,000.
    pub per_page: usize,
}

impl Paging {
    /// Reads the query of a URL; other parameters are ignored.
    ///
    /// Errors: every one of the two parameters that is out of range.
    pub fn parse(query: &str) -> Result<Self, Failure> {
        Self::parse_by(query, 5, "a multiple of 5 from 5 to 1000")
    }

    /// Reads a query as [`Self::parse`] does, with any number of entries from 1 to 1,000.
    pub fn parse_any(query: &str) -> Result<Self, Failure> {
        Self::parse_by(query, 1, "a number from 1 to 1000")
    }

    /// `per_page` must be a multiple of `step`; `rule` says so.
    fn parse_by(query: &str, step: usize, rule: &str) -> Result<Self, Failure> {
        let mut paging = Self { page: 1, per_page: DEFAULT_PER_PAGE };
        let mut errors = Vec::new();
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let number = value.parse().ok();
            let (field, valid, rule) = match name {
                "page" => (&mut paging.page, number.filter(|page| *page >= 1), "1 or more"),
                "per_page" => {
                    let allowed = |number: &usize| {
                        (step..=PER_PAGE_MAX).contains(number) && number.is_multiple_of(step)
                    };
                    (&mut paging.per_page, number.filter(allowed), rule)
                }
                _ => continue,
            };
            match valid {
                Some(number) => *field = number,
                None => errors.push(ReplyError {
                    code: 1_103,
                    message: format!("The parameter {name} must be {rule}."),
                    pointer: Some(format!("/{name}")),
                }),
            }
        }
        if errors.is_empty() { Ok(paging) } else { Err(Failure::of(400, errors)) }
    }

    /// Returns the entries of this page; none past the end of the list.
    pub fn slice<T>(self, all: &[T]) -> &[T] {
        let start = (self.page - 1).saturating_mul(self.per_page).min(all.len());
        let end = start.saturating_add(self.per_page).min(all.len());
        all.get(start..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Paging;

    #[test]
    fn pages_keep_to_their_limits() {
        let check = |query: &str, want: Option<(usize, usize)>| {
            let paging = Paging::parse(query).ok().map(|paging| (paging.page, paging.per_page));
            assert_eq!(paging, want, "{query}");
        };
        check("", Some((1, 25)));
        check("name=x&page=2", Some((2, 25)));
        check("per_page=5", Some((1, 5)));
        check("per_page=1000&page=3", Some((3, 1_000)));
        for query in ["per_page=7", "per_page=0", "per_page=1005", "page=0", "page=-1", "page="] {
            check(query, None);
        }
        assert_eq!(Paging::parse("page=0&per_page=7").unwrap_err().errors.len(), 2);
        assert_eq!(Paging::parse_any("per_page=1").map(|paging| paging.per_page), Ok(1));
        assert!(Paging::parse_any("per_page=0").is_err());
    }
}
