//! Writes a visitor's receipt of a draw in hexadecimal, so that anybody can verify the draw.

use base16ct::lower::encode_string;

use crate::order::shuffle::Receipt;

/// The texts of one receipt; empty where the visitor takes part in no draw, and `key` and `rank`
/// also before the draw.
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
            commitment: encode_string(&commitment),
            lot: encode_string(&lot.0),
            key: drawn.map(|drawn| encode_string(&drawn.key)).unwrap_or_default(),
            rank: drawn.map(|drawn| encode_string(&drawn.rank.to_be_bytes())).unwrap_or_default(),
        }
    }

    /// Returns the text of the variable `name`; `None` if that is no variable of a draw.
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

#[cfg(test)]
mod tests {
    use super::DrawTexts;
    use crate::order::shuffle::{Drawn, Lot, Receipt};

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
