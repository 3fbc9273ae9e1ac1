//! A visitor's receipt: the proof that one leaf is in the log, as a text by c2sp.org/tlog-proof.
//!
//! Its `extra` is JSON: what only the holder knows (reference and salt), and the leaf itself.

use base64ct::{Base64, Encoding};
use serde::{Deserialize, Serialize};
use tlog_tiles::tlog::Hash;

/// The first line.
const HEAD: &str = "c2sp.org/tlog-proof@v1";

/// What a receipt says besides the proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extra {
    /// The visitor's reference.
    pub reference: String,
    /// The salt of the commitment, in base64.
    pub salt: String,
    /// The leaf, as it is in the log.
    pub leaf: String,
}

/// A receipt.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// What only the holder knows.
    pub extra: Extra,
    /// The position of the leaf in the log, from 0.
    pub index: u64,
    /// The hashes from the leaf's sibling up.
    pub hashes: Vec<Hash>,
    /// The signed checkpoint.
    pub checkpoint: String,
}

impl Receipt {
    /// Writes the receipt.
    pub fn to_text(&self) -> String {
        let extra = serde_json::to_string(&self.extra).unwrap_or_default();
        let extra = Base64::encode_string(extra.as_bytes());
        let hashes = lines(&self.hashes);
        format!("{HEAD}\nextra {extra}\nindex {}\n{hashes}\n{}", self.index, self.checkpoint)
    }

    /// Reads a receipt; `None` if it is none.
    pub fn read(text: &str) -> Option<Self> {
        let (head, checkpoint) = text.split_once("\n\n")?;
        let mut lines = head.lines();
        if lines.next()? != HEAD {
            return None;
        }
        let extra = Base64::decode_vec(lines.next()?.strip_prefix("extra ")?).ok()?;
        let extra = serde_json::from_slice(&extra).ok()?;
        let index = lines.next()?.strip_prefix("index ")?.parse().ok()?;
        let hashes =
            lines.map(|line| Hash::parse_hash(line).ok()).collect::<Option<Vec<Hash>>>()?;
        Some(Self { extra, index, hashes, checkpoint: checkpoint.to_owned() })
    }
}

/// Writes hashes, one in each line.
pub fn lines(hashes: &[Hash]) -> String {
    let mut text = String::new();
    for hash in hashes {
        text.push_str(&hash.to_string());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use tlog_tiles::tlog::Hash;

    use super::{Extra, Receipt};

    #[test]
    fn a_receipt_reads_back() {
        let [reference, salt, leaf] = ["AVB2V-14BBV", "AAAA", "a leaf"].map(str::to_owned);
        let receipt = Receipt {
            extra: Extra { reference, salt, leaf },
            index: 7,
            hashes: vec![Hash([1; 32]), Hash([2; 32])],
            checkpoint: "shop.example\n8\nAAAA\n\n— shop.example AAAA\n".to_owned(),
        };
        let text = receipt.to_text();
        assert_eq!(Receipt::read(&text), Some(receipt));
        assert_eq!(text.lines().nth(2), Some("index 7"));
        for broken in ["", "c2sp.org/tlog-proof@v1\n\nx", &text.replace("extra ", "more ")] {
            assert_eq!(Receipt::read(broken), None, "{broken}");
        }
    }
}
