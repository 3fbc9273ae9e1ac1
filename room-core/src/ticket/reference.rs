//! The short number by which visitors and owners refer to one ticket: ten characters that are hard
//! to confuse, and that reveal nothing.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::place_code::{spelled, typed};
use crate::base::id::VisitorId;

const LENGTH: usize = 10;
/// The bits that the characters spell.
const LAST_BITS: u64 = (1 << 50) - 1;
/// Hashed before the visitor's number, so that no other hash of it is the same.
const PURPOSE: &[u8] = b"waiting room reference";

/// A name of 50 bits. It displays as two groups of five characters, like `7K3M9-QXB2R`.
///
/// It follows from the visitor of the ticket alone, from joining to the end of the session. With a
/// list of a room's visitors one can so find the visitor that a reference names. It opens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference(u64);

impl Reference {
    /// Returns the reference of this visitor. Among a million visitors one shares it with another
    /// in one case of 10^9.
    pub fn of(visitor: VisitorId) -> Self {
        let mut hash = Sha256::new();
        hash.update(PURPOSE);
        hash.update(visitor.0.to_be_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        Self(u64::from_be_bytes(*digest.first_chunk().unwrap_or(&[0; 8])) & LAST_BITS)
    }

    /// Reads a reference as people type it; `None` if it is none. Letter case and what stands
    /// between the groups do not matter, and letters count as the digits that look like them.
    pub fn parse(text: &str) -> Option<Self> {
        typed::<LENGTH>(text.bytes()).map(Self)
    }

    /// Returns the reference as a number below 2^50.
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let characters: [u8; LENGTH] = spelled(self.0);
        let text = str::from_utf8(&characters).unwrap_or_default();
        let (first, second) = text.split_at_checked(LENGTH / 2).unwrap_or_default();
        write!(formatter, "{first}-{second}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Reference;
    use crate::base::id::VisitorId;

    /// Whoever has noted one must find it again in every later version.
    #[test]
    fn a_reference_is_as_pinned() {
        // (printf 'waiting room reference'; printf '\0\0\0\0\0\0\0\7') | sha256sum
        assert_eq!(Reference::of(VisitorId(7)).to_string(), "AVB2V-14BBV");
    }

    #[test]
    fn what_is_read_aloud_is_found_again() {
        let of = |text: &str| Reference::parse(text).map(|found| found.to_string());
        for typed in ["AVB2V-14BBV", "avb2v14bbv", " avb2v i4bbv ", "AVB2V%20L4BBV"] {
            let want = (!typed.contains('%')).then(|| "AVB2V-14BBV".to_owned());
            assert_eq!(of(typed), want, "{typed}");
        }
        for typed in ["", "AVB2V-14BB", "AVB2V-14BBVA", "AVB2V-14BBU"] {
            assert_eq!(of(typed), None, "{typed}");
        }
        assert_eq!(Reference::parse("AVB2V-14BBV"), Some(Reference::of(VisitorId(7))));
    }

    #[test]
    fn each_visitor_has_an_own_one_that_is_no_code_for_a_place() {
        let all: BTreeSet<_> =
            (0..10_000).map(|id| Reference::of(VisitorId(id)).to_string()).collect();
        assert_eq!(all.len(), 10_000);
        assert!(all.iter().all(|one| one.len() == 11 && one.as_bytes().get(5) == Some(&b'-')));
    }
}
