//! Writes a visitor's receipt of a draw in hexadecimal, so that anybody can verify the draw.

use base16ct::lower::encode_string;

use crate::order::shuffle::Receipt;

/// The texts of one receipt. Empty for a visitor who takes part in no draw; `key` and `rank` are
/// also empty before the draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DrawTexts {
    pub(super) commitment: String,
    pub(super) lot: String,
    pub(super) key: String,
    pub(super) rank: String,
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
}

#[cfg(test)]
mod tests {
    use super::DrawTexts;
    use crate::order::shuffle::{Drawn, Lot, Receipt};

    #[test]
    fn everything_is_told_in_hexadecimal_and_the_key_when_it_is_drawn() {
        let receipt = Receipt { commitment: [0xab; 32], lot: Lot([7; 16]), drawn: None };
        let before = DrawTexts::of(Some(receipt));
        assert_eq!(before.commitment, "ab".repeat(32));
        assert_eq!(before.lot, "07".repeat(16));
        assert_eq!(before.key, "");
        assert_eq!(before.rank, "");
        let drawn = Some(Drawn { key: [0xc0; 32], rank: 0xf });
        let after = DrawTexts::of(Some(Receipt { drawn, ..receipt }));
        assert_eq!(after.key, "c0".repeat(32));
        assert_eq!(after.rank, "000000000000000f");
        assert_eq!(DrawTexts::of(None), DrawTexts::default());
    }
}
