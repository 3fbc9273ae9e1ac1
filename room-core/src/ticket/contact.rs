//! What a visitor has typed to get a message before the turn. It is kept only in a sealed cookie of
//! the visitor's own browser, beside the ticket.

use crate::base::id::VisitorId;
use crate::base::time::Timestamp;

/// An address or number, for the place of one visitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    /// The visitor whose place it is for. With another ticket it counts as none.
    pub visitor: VisitorId,
    /// The address or number.
    pub text: String,
    /// How often it was handed to the room's object, which sends one message.
    pub handed: u8,
    /// When it was last handed to the room's object.
    pub handed_at: Timestamp,
}

/// The form that is written. A cookie of another form counts as none.
const FORM: u8 = 1;

impl Contact {
    /// Makes a contact that was not handed over yet.
    pub fn new(visitor: VisitorId, text: String) -> Self {
        Self { visitor, text, handed: 0, handed_at: Timestamp::default() }
    }

    /// Returns it as handed over once more, at `now`.
    #[must_use]
    pub fn handed(self, now: Timestamp) -> Self {
        Self { handed: self.handed.saturating_add(1), handed_at: now, ..self }
    }

    /// Writes it: the form, `handed`, `handed_at` and `visitor` (big-endian), and the text.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let Self { visitor, text, handed, handed_at } = self;
        let numbers = [handed_at.0.to_be_bytes(), visitor.0.to_be_bytes()];
        [&[FORM, *handed][..], numbers.as_flattened(), text.as_bytes()].concat()
    }

    /// Reads what [`Self::to_bytes`] has written; `None` for anything else.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let ([form, handed], rest) = bytes.split_first_chunk()?;
        let (handed_at, rest) = rest.split_first_chunk()?;
        let (visitor, text) = rest.split_first_chunk()?;
        let text = str::from_utf8(text).ok().filter(|text| !text.is_empty())?;
        (*form == FORM).then(|| Self {
            visitor: VisitorId(u64::from_be_bytes(*visitor)),
            text: text.to_owned(),
            handed: *handed,
            handed_at: Timestamp(u64::from_be_bytes(*handed_at)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Contact, FORM};
    use crate::base::id::VisitorId;
    use crate::base::time::Timestamp;

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        let contact = Contact::new(VisitorId(7), "jörg@bücher.example".to_owned());
        let handed = contact.clone().handed(Timestamp(9));
        assert_eq!((handed.handed, handed.handed_at), (1, Timestamp(9)));
        for one in [&contact, &handed] {
            assert_eq!(Contact::from_bytes(&one.to_bytes()).as_ref(), Some(one));
        }
        let bytes = handed.to_bytes();
        for length in 0..=18 {
            assert_eq!(Contact::from_bytes(&bytes[..length]), None, "{length}");
        }
        let other = [&[FORM + 1], &bytes[1..]].concat();
        assert_eq!(Contact::from_bytes(&other), None);
        assert_eq!(Contact::from_bytes(&[&bytes[..], &[0xff]].concat()), None);
    }
}
