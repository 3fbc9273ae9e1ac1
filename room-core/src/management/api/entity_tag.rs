//! Entity tags (RFC 9110). With them clients say which version of a document they mean to change,
//! so that somebody else's change in between is not lost.

use sha2::{Digest, Sha256};

use super::reply::Failure;
use super::target::Target;

/// The number of bytes of the hash in a tag: enough to tell documents of one path apart.
const BYTES: usize = 12;

impl Target {
    /// Whether an answer to `GET` has a tag, and a change can name the version it is for.
    pub fn has_tag(self) -> bool {
        matches!(
            self,
            Self::Room(..) | Self::Event(..) | Self::Rules(..) | Self::Settings(_) | Self::File
        )
    }
}

/// Returns the tag of an answer to `GET`, in its quotes.
pub fn entity_tag(body: &str) -> String {
    let digest = Sha256::digest(body);
    let short = digest.get(..BYTES).unwrap_or_default();
    format!("\"{}\"", base16ct::lower::encode_string(short))
}

/// Allows a change if the header `If-Match` names the present version. `present` is the answer that
/// `GET` would give now; `None` if there is none.
///
/// A weak tag counts as the strong one, although the RFC says otherwise: a proxy that compresses
/// answers makes every tag weak, and a tag is a hash of the document, so it names no other version.
///
/// Errors: 412.
pub fn check_if_match(if_match: &str, present: Option<&str>) -> Result<(), Failure> {
    let tag = present.map(entity_tag);
    let names =
        |part: &str| part == "*" || Some(part.strip_prefix("W/").unwrap_or(part)) == tag.as_deref();
    if tag.is_some() && if_match.split(',').map(str::trim).any(names) {
        return Ok(());
    }
    let message = "It is not the version that If-Match names: somebody has changed it since. Read \
                   it again; the answer has its version as ETag.";
    Err(Failure::new(412, 1_412, message))
}

#[cfg(test)]
mod tests {
    use super::{check_if_match, entity_tag};

    #[test]
    fn a_change_is_made_for_the_present_version_alone() {
        let tag = entity_tag("one");
        assert!(tag.len() == 26 && tag.starts_with('"') && tag != entity_tag("two"), "{tag}");
        let check = |if_match: &str, present: Option<&str>, want: bool| {
            let refused = check_if_match(if_match, present).err();
            assert_eq!(refused.map(|one| one.status), (!want).then_some(412), "{if_match}");
        };
        check(&tag, Some("one"), true);
        check(&format!("\"other\", {tag}"), Some("one"), true);
        check("*", Some("one"), true);
        check(&tag, Some("two"), false);
        check(&format!("W/{tag}"), Some("one"), true);
        check(&format!("\"other\", W/{tag}"), Some("one"), true);
        check(&format!("W/{tag}"), Some("two"), false);
        check("W/*", Some("one"), false);
        check(&tag.replace('"', ""), Some("one"), false);
        check("*", None, false);
        check(&tag, None, false);
    }
}
