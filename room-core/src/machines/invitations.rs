//! The uses of invitations: which visitors have joined a group with which code.
//!
//! The room's global aggregator keeps them in a table beside its machine. [`answer`] decides by
//! what is stored, and nothing happens in between. So a code with n uses is used by n visitors,
//! from however many data centers at once, and a restart changes nothing. A visitor who sends a
//! code again, since an answer got lost, uses it once.

use crate::base::id::VisitorId;
use crate::base::time::Timestamp;
use crate::machines::moves::MoveReply;

/// The most uses of one code.
pub const USES_MAX: u32 = 1_000_000;

/// A visitor uses a code, whose signature an isolate has checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redemption {
    /// Names the code within the room, without blanks.
    pub name: String,
    /// How many visitors may use it.
    pub uses: u32,
    /// When the code ends.
    pub ends_at: Timestamp,
    /// The visitor.
    pub visitor: VisitorId,
}

impl Redemption {
    /// Writes the request as words between spaces, for [`Self::read`].
    pub fn to_text(&self) -> String {
        let Self { name, uses, ends_at, visitor } = self;
        format!("{} {uses} {} {name}", visitor.0, ends_at.0)
    }

    /// Reads a request; `None` if it is not one of this version.
    pub fn read<'t>(mut words: impl Iterator<Item = &'t str>) -> Option<Self> {
        let mut number = || words.next()?.parse::<u64>().ok();
        let visitor = VisitorId(number()?);
        let uses = u32::try_from(number()?).ok()?;
        let ends_at = Timestamp(number()?);
        Some(Self { name: words.next()?.to_owned(), uses, ends_at, visitor })
    }
}

/// Answers a visitor who uses a code at `now`. `used` is how many visitors have used it, and
/// `has_used` whether this one is among them. The use is to be stored exactly if the reply is
/// [`MoveReply::Open`] and the visitor is not.
pub fn answer(now: Timestamp, request: &Redemption, used: u32, has_used: bool) -> MoveReply {
    if now >= request.ends_at {
        MoveReply::Over
    } else if has_used || used < request.uses {
        MoveReply::Open
    } else {
        MoveReply::Used
    }
}

#[cfg(test)]
mod tests {
    use super::{Redemption, answer};
    use crate::base::id::VisitorId;
    use crate::base::time::Timestamp;
    use crate::machines::moves::{MoveReply, MoveRequest};

    fn request(uses: u32) -> Redemption {
        let (name, ends_at) = ("members/a-1".to_owned(), Timestamp(1_000));
        Redemption { name, uses, ends_at, visitor: VisitorId(u64::MAX) }
    }

    #[test]
    fn a_code_is_used_as_often_as_it_says_and_once_by_each_visitor() {
        let check = |now: u64, uses: u32, used: u32, has_used: bool, want: MoveReply| {
            let reply = answer(Timestamp(now), &request(uses), used, has_used);
            assert_eq!(reply, want, "{now} {uses} {used} {has_used}");
        };
        check(0, 1, 0, false, MoveReply::Open);
        check(0, 1, 1, false, MoveReply::Used);
        check(0, 1, 1, true, MoveReply::Open);
        check(999, 3, 2, false, MoveReply::Open);
        check(999, 3, 3, false, MoveReply::Used);
        check(1_000, 3, 0, false, MoveReply::Over);
        check(1_000, 3, 1, true, MoveReply::Over);
        // The owner has made the same code with fewer uses.
        check(0, 1, 3, true, MoveReply::Open);
    }

    #[test]
    fn a_request_reads_back_as_it_was_written() {
        let request = MoveRequest::Join(request(7));
        let text = request.to_text();
        assert_eq!(text, "join 18446744073709551615 7 1000 members/a-1");
        assert_eq!(MoveRequest::read(&text), Some(request));
        for text in ["join", "join 1 2 3", "join 1 4294967296 3 a", "join a 2 3 b"] {
            assert_eq!(MoveRequest::read(text), None, "{text}");
        }
    }
}
