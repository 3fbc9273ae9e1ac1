//! The leaves of the log: a line of text for each admission, and one for each change of the limits.
//!
//! ```text
//! admission <commitment> <joined> <admitted> <class> <unheard>
//! rules <since> <visitors inside> <new per minute> <session> <method> <full | early>
//! ```
//!
//! All times are seconds since the Unix epoch. The commitment is 32 bytes in base64: the hash of
//! the visitor's reference and of a salt that only the holder of the ticket gets.

use std::fmt;
use std::str::{FromStr, SplitWhitespace};

use base64ct::{Base64, Encoding};
use room_core::base::id::VisitorId;
use room_core::machines::journal::why;
use room_core::ticket::reference::Reference;
use sha2::{Digest, Sha256};

/// Hashed before the secret of a log, so that no other hash of it is the same.
const SALT: &[u8] = b"waiting room log: salt";
/// Hashed before a salt, for the same reason.
const COMMITMENT: &[u8] = b"waiting room log: admission";
/// The length of a salt in bytes: nobody guesses one.
pub const SALT_BYTES: usize = 16;

/// How a visitor entered: the number in reports, and the word of the log.
const CLASSES: [(u8, &str); 7] = [
    (why::LINE, "line"),
    (why::DRAW, "draw"),
    (why::LOTTERY, "lottery"),
    (why::OPEN, "open"),
    (why::EVERYBODY, "everybody"),
    (why::SILENCE, "silence"),
    (why::INVITED, "priority"),
];
/// What the session does that a room's limit counts by, in the words of the log.
const ENDS: [(&str, bool); 2] = [("full", false), ("early", true)];
/// The methods of a room, by their numbers in reports.
const METHODS: [&str; 4] = ["fifo", "random", "passthrough", "reject"];

/// One leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// A visitor was admitted.
    Admission(Admission),
    /// These limits are in force.
    Rules(Rules),
}

/// An admission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The commitment to the visitor's reference, in base64.
    pub commitment: String,
    /// When the visitor joined, in seconds since the Unix epoch.
    pub joined_s: u64,
    /// When the visitor was admitted, in seconds since the Unix epoch, as the rate counts it.
    pub admitted_s: u64,
    /// How the visitor entered.
    pub class: String,
    /// For how many seconds nobody had heard of the visitor: since the last check-in.
    pub unheard_s: u64,
}

/// The limits in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Since when, in seconds since the Unix epoch: the first admission under them.
    pub since_s: u64,
    /// The visitors who may be inside at the same time.
    pub total: u64,
    /// The visitors who may be admitted in any 60 s.
    pub per_minute: u64,
    /// The seconds that an admitted visitor counts, at least.
    pub session_s: u64,
    /// Who enters next, as in the API.
    pub method: String,
    /// Whether sessions may end before they are over, so that the log alone does not show how many
    /// are inside.
    pub ends_early: bool,
}

/// A text that is no leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoLeaf;

impl fmt::Display for NoLeaf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("it is no entry of a waiting room's log")
    }
}

/// Returns the salt of a visitor, which follows from the `secret` of the log.
pub fn salt(secret: &[u8], visitor: VisitorId) -> [u8; SALT_BYTES] {
    let mut hash = Sha256::new();
    hash.update(SALT);
    hash.update(secret);
    hash.update(visitor.0.to_be_bytes());
    let digest: [u8; 32] = hash.finalize().into();
    digest.first_chunk().copied().unwrap_or_default()
}

/// Returns the commitment to a reference, as its holder reads it.
pub fn commitment(salt: &[u8], reference: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(COMMITMENT);
    hash.update(salt);
    hash.update(reference.as_bytes());
    let digest: [u8; 32] = hash.finalize().into();
    Base64::encode_string(&digest)
}

/// Returns the leaf of an admission as an aggregator kept it: the visitor in hexadecimal, when it
/// joined, when it was admitted, how, and for how long it was unheard, with commas between them.
pub fn of_record(secret: &[u8], record: &str) -> Result<Admission, NoLeaf> {
    let mut fields = record.split(',');
    let visitor = u64::from_str_radix(fields.next().unwrap_or_default(), 16).map_err(|_| NoLeaf)?;
    let visitor = VisitorId(visitor);
    let mut next = || fields.next().and_then(|field| field.parse::<u64>().ok()).ok_or(NoLeaf);
    let (joined_s, admitted_s, class, unheard_s) = (next()?, next()?, next()?, next()?);
    let named = CLASSES.iter().find(|(number, _)| u64::from(*number) == class);
    Ok(Admission {
        commitment: commitment(&salt(secret, visitor), &Reference::of(visitor).to_string()),
        joined_s,
        admitted_s,
        class: named.map_or_else(|| format!("class-{class}"), |(_, name)| (*name).to_owned()),
        unheard_s,
    })
}

/// Returns the leaf of the limits as an aggregator kept them: numbers with commas between them.
pub fn of_rules(since_s: u64, record: &str) -> Result<Rules, NoLeaf> {
    let mut fields = record.split(',').map(|field| field.parse::<u64>().map_err(|_| NoLeaf));
    let mut next = || fields.next().unwrap_or(Err(NoLeaf));
    let (total, per_minute, session_s, method, early) =
        (next()?, next()?, next()?, next()?, next()?);
    let method = METHODS.get(usize::try_from(method).map_err(|_| NoLeaf)?).ok_or(NoLeaf)?;
    let method = (*method).to_owned();
    Ok(Rules { since_s, total, per_minute, session_s, method, ends_early: early != 0 })
}

impl fmt::Display for Leaf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Admission(Admission { commitment, joined_s, admitted_s, class, unheard_s }) => {
                write!(
                    formatter,
                    "admission {commitment} {joined_s} {admitted_s} {class} {unheard_s}"
                )
            }
            Self::Rules(Rules { since_s, total, per_minute, session_s, method, ends_early }) => {
                let ends = if *ends_early { "early" } else { "full" };
                write!(
                    formatter,
                    "rules {since_s} {total} {per_minute} {session_s} {method} {ends}"
                )
            }
        }
    }
}

impl FromStr for Leaf {
    type Err = NoLeaf;

    fn from_str(text: &str) -> Result<Self, NoLeaf> {
        let mut words = text.split_whitespace();
        let leaf = match words.next() {
            Some("admission") => Self::Admission(Admission {
                commitment: word(&mut words)?,
                joined_s: number(&mut words)?,
                admitted_s: number(&mut words)?,
                class: word(&mut words)?,
                unheard_s: number(&mut words)?,
            }),
            Some("rules") => Self::Rules(Rules {
                since_s: number(&mut words)?,
                total: number(&mut words)?,
                per_minute: number(&mut words)?,
                session_s: number(&mut words)?,
                method: word(&mut words)?,
                ends_early: {
                    let ends = word(&mut words)?;
                    ENDS.iter().find(|(name, _)| *name == ends).ok_or(NoLeaf)?.1
                },
            }),
            _ => return Err(NoLeaf),
        };
        // One spelling for one leaf: otherwise two hashes would say the same.
        if leaf.to_string() == text { Ok(leaf) } else { Err(NoLeaf) }
    }
}

fn word(words: &mut SplitWhitespace<'_>) -> Result<String, NoLeaf> {
    words.next().map(str::to_owned).ok_or(NoLeaf)
}

fn number(words: &mut SplitWhitespace<'_>) -> Result<u64, NoLeaf> {
    words.next().and_then(|word| word.parse().ok()).ok_or(NoLeaf)
}

#[cfg(test)]
mod tests {
    use room_core::base::id::VisitorId;
    use room_core::ticket::reference::Reference;

    use super::{Leaf, commitment, of_record, of_rules, salt};

    const SECRET: [u8; 32] = [7; 32];

    /// Receipts that were given out must name the same leaf in every later version.
    #[test]
    fn a_leaf_is_as_pinned_and_reads_back() {
        let admission = Leaf::Admission(of_record(&SECRET, "7,100,160,0,20").unwrap());
        let text = admission.to_string();
        assert_eq!(text, "admission lzboDSFeKJvsh7NGOBQ5mcPo3qIAnxnN4oTjPWBekMM= 100 160 line 20");
        assert_eq!(text.parse(), Ok(admission));
        let rules = Leaf::Rules(of_rules(160, "300,60,300,1,1").unwrap());
        assert_eq!(rules.to_string(), "rules 160 300 60 300 random early");
        assert_eq!(rules.to_string().parse(), Ok(rules));
    }

    #[test]
    fn a_later_class_has_its_number() {
        assert_eq!(of_record(&SECRET, "7,1,2,77,0").unwrap().class, "class-77");
        assert_eq!(of_record(&SECRET, "7,1,2,9,0").unwrap().class, "priority");
    }

    #[test]
    fn only_one_spelling_is_a_leaf() {
        for text in ["", "admission", "admission a 1 2 line", "admission a 01 2 line 0"] {
            assert!(text.parse::<Leaf>().is_err(), "{text}");
        }
        for text in ["rules 1 2 3 4 fifo never", "rules 1 2 3 4 fifo full ", "else 1"] {
            assert!(text.parse::<Leaf>().is_err(), "{text}");
        }
        assert!("rules 1 2 3 4 fifo full".parse::<Leaf>().is_ok());
        for record in ["", "x,1,2,3,4", "7,1,2", "7,1,2,3,-1"] {
            assert!(of_record(&SECRET, record).is_err(), "{record}");
        }
    }

    #[test]
    fn nobody_without_the_salt_can_tell_whose_commitment_it_is() {
        let (one, two) = (VisitorId(7), VisitorId(8));
        let reference = Reference::of(one).to_string();
        let own = commitment(&salt(&SECRET, one), &reference);
        assert_eq!(own, of_record(&SECRET, "7,1,2,0,0").unwrap().commitment);
        assert_ne!(own, commitment(&salt(&SECRET, two), &reference));
        assert_ne!(own, commitment(&salt(&[8; 32], one), &reference));
        assert_ne!(own, commitment(&[], &reference));
    }
}
