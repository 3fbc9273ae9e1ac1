//! The short number by which visitors and owners refer to one ticket: ten characters that are hard
//! to confuse, and that reveal nothing.

use std::fmt;

use sha2::{Digest, Sha256};

use super::place_code::spelled;
use crate::base::id::VisitorId;

const LENGTH: usize = 10;
/// Hashed before the visitor's number, so that no other hash of it is the same.
const PURPOSE: &[u8] = b"waiting room reference";

/// A name of 50 bits. It displays as two groups of five characters, like `7K3M9-QXB2R`.
///
/// It follows from the visitor of the ticket alone, from joining to the end of the session. With a
/// list of a room's visitors one can so find the visitor that a reference names. It opens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference([u8; LENGTH]);

impl Reference {
    /// Returns the reference of this visitor. Among a million visitors one shares it with another
    /// in one case of 10^9.
    pub fn of(visitor: VisitorId) -> Self {
        let mut hash = Sha256::new();
        hash.update(PURPOSE);
        hash.update(visitor.0.to_be_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        Self(spelled(u64::from_be_bytes(*digest.first_chunk().unwrap_or(&[0; 8]))))
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = str::from_utf8(&self.0).unwrap_or_default();
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
    fn each_visitor_has_an_own_one_that_is_no_code_for_a_place() {
        let all: BTreeSet<_> =
            (0..10_000).map(|id| Reference::of(VisitorId(id)).to_string()).collect();
        assert_eq!(all.len(), 10_000);
        assert!(all.iter().all(|one| one.len() == 11 && one.as_bytes().get(5) == Some(&b'-')));
    }
}
