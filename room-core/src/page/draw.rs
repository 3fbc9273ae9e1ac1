//! A visitor's part in a draw as texts, in hexadecimal: what others verify it with. Draws nothing.

use std::fmt::Write;

use crate::shuffle::Receipt;

/// Empty where there is nothing to tell, or not yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DrawTexts {
    commitment: String,
    lot: String,
    key: String,
    rank: String,
}

impl DrawTexts {
    pub(super) fn of(receipt: Option<Receipt>) -> Self {
        let Some(Receipt { commitment, lot, drawn }) = receipt else { return Self::default() };
        Self {
            commitment: hexadecimal(&commitment),
            lot: hexadecimal(&lot.0),
            key: drawn.map(|drawn| hexadecimal(&drawn.key)).unwrap_or_default(),
            rank: drawn.map(|drawn| hexadecimal(&drawn.rank.to_be_bytes())).unwrap_or_default(),
        }
    }

    /// The text of the variable called `name`, if that is one of a draw.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match name {
            "drawCommitment" => Some(&self.commitment),
            "drawKey" => Some(&self.key),
            "drawLot" => Some(&self.lot),
            "drawRank" => Some(&self.rank),
            _ => None,
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::DrawTexts;
    use crate::shuffle::{Drawn, Lot, Receipt};

    #[test]
    fn everything_is_told_in_hexadecimal_and_the_key_when_it_is_drawn() {
        let receipt = Receipt { commitment: [0xab; 32], lot: Lot([7; 16]), drawn: None };
        let check = |texts: &DrawTexts, name: &str, want: &str| {
            assert_eq!(texts.text(name), Some(want), "{name}");
        };
        let before = DrawTexts::of(Some(receipt));
        check(&before, "drawCommitment", &"ab".repeat(32));
        check(&before, "drawLot", &"07".repeat(16));
        check(&before, "drawKey", "");
        check(&before, "drawRank", "");
        let drawn = Some(Drawn { key: [0xc0; 32], rank: 0xf });
        let after = DrawTexts::of(Some(Receipt { drawn, ..receipt }));
        check(&after, "drawKey", &"c0".repeat(32));
        check(&after, "drawRank", "000000000000000f");
        assert_eq!(after.text("waitTime"), None);
        assert_eq!(DrawTexts::of(None), DrawTexts::default());
    }
}
